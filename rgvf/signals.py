"""Stopping between two updates.

A signal handler that raises inside a compiled program would crash the interpreter. So Ctrl-C, SIGTERM and SIGHUP only
set a flag, and the work stops where it checks the flag. A second signal ends the process at once.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from types import FrameType
from typing import Any

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


_stop_requested_at: float | None = None


def seconds_since_stop() -> float | None:
    """How long ago a signal requested to stop, or None. Who waits for something must not wait for ever after that."""
    return None if _stop_requested_at is None else time.monotonic() - _stop_requested_at


class GracefulStop:
    """A context in which SIGINT, SIGTERM and SIGHUP set `requested` instead of ending the process."""

    def __init__(self) -> None:
        self.requested: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> GracefulStop:
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._request) for number in _SIGNALS}
        return self

    def __exit__(self, *raised: object) -> None:
        global _stop_requested_at
        _stop_requested_at = None
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _request(self, number: int, frame: FrameType | None) -> None:
        if self.requested is not None:
            os.write(2, b"\nrgvf: stopped at once; the last checkpoint is kept.\n")
            os._exit(128 + number)
        global _stop_requested_at
        _stop_requested_at = time.monotonic()
        self.requested = signal.Signals(number)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a stop was requested."""
        if self.requested is not None:
            raise KeyboardInterrupt
