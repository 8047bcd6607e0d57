"""Stopping at a good moment.

A signal that breaks into a compiled program would leave it running while the interpreter shuts down, and crash it. So
Ctrl-C and SIGTERM are noted, and the work stops where it asks for it; a second Ctrl-C stops at once.
"""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class GracefulStop:
    """While entered, SIGINT and SIGTERM are noted instead of raised."""

    def __init__(self) -> None:
        self.requested: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> GracefulStop:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._note) for number in _SIGNALS}
        return self

    def __exit__(self, *raised: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, number: int, frame: FrameType | None) -> None:
        if self.requested is not None:
            os._exit(128 + number)
        self.requested = signal.Signals(number)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a stop was asked for."""
        if self.requested is not None:
            raise KeyboardInterrupt
