"""Stopping between two updates.

A signal handler that raises inside a compiled program would crash the interpreter. So Ctrl-C, SIGTERM and SIGHUP only
set a flag, and the work stops where it checks the flag. A second signal ends the process at once.

The interpreter calls a handler only between two instructions of the main thread, which may be compiling for minutes. So
a thread watches for signals, too: it acknowledges the first and obeys the second at once.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

ACKNOWLEDGED = "Stopping after what is being computed; press Ctrl-C again to stop at once."
KEPT = "the last checkpoint is kept."
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_SHOW_CURSOR = b"\x1b[?25h"  # a progress bar has hidden it

_stop_requested_at: float | None = None


def seconds_since_stop() -> float | None:
    """How long ago a signal requested to stop, or None. Who waits for something must not wait for ever after that."""
    return None if _stop_requested_at is None else time.monotonic() - _stop_requested_at


class GracefulStop:
    """A context in which SIGINT, SIGTERM and SIGHUP set `requested` instead of ending the process.

    Args:
        say: called with a sentence, from another thread, when the first signal comes.
        kept: says what is left, and how to continue, when the second signal ends the process; from any thread.
    """

    def __init__(
        self, say: Callable[[str], None] = lambda sentence: None, kept: Callable[[], str] = lambda: KEPT
    ) -> None:
        self.requested: signal.Signals | None = None
        self._say, self._kept = say, kept
        self._ending = threading.Lock()
        self._before: dict[signal.Signals, Any] = {}
        self._pipe: int | None = None
        self._pipe_before = -1
        self._was_handled = False

    def __enter__(self) -> GracefulStop:
        if threading.current_thread() is threading.main_thread():
            watched, self._pipe = os.pipe()
            os.set_blocking(self._pipe, False)
            self._pipe_before = signal.set_wakeup_fd(self._pipe, warn_on_full_buffer=False)
            self._before = {number: signal.signal(number, self._handle) for number in _SIGNALS}
            threading.Thread(target=self._watch, args=(watched,), daemon=True).start()
        return self

    def __exit__(self, *raised: object) -> None:
        global _stop_requested_at
        _stop_requested_at = None
        for number, handler in self._before.items():
            signal.signal(number, handler)
        if self._pipe is not None:
            signal.set_wakeup_fd(self._pipe_before)
            os.close(self._pipe)  # which ends the thread

    def _handle(self, number: int, frame: FrameType | None) -> None:
        """In the main thread, as soon as the interpreter is there."""
        if self._was_handled:
            self._stop_now(number)
        self._was_handled = True
        self._request(number)

    def _watch(self, pipe: int) -> None:
        """In a thread of its own: the system writes the number of each signal into the pipe."""
        was_seen = False
        with open(pipe, "rb", buffering=0) as numbers:
            while number := numbers.read(1):
                if number[0] not in _SIGNALS:
                    continue
                if was_seen:
                    self._stop_now(number[0])
                was_seen = True
                self._request(number[0])
                self._say(ACKNOWLEDGED)

    def request(self) -> None:
        """Stop as if a signal had come; a signal after it is the first, not the second."""
        self._request(signal.SIGTERM)

    def _request(self, number: int) -> None:
        global _stop_requested_at
        if self.requested is None:
            _stop_requested_at = time.monotonic()
            self.requested = signal.Signals(number)

    def _stop_now(self, number: int) -> None:
        if not self._ending.acquire(blocking=False):
            return  # the other thread, or this one further down, is ending the process already
        try:
            kept = self._kept()
        except Exception:  # whatever fails then, the process ends
            kept = KEPT
        os.write(2, _SHOW_CURSOR * os.isatty(2) + f"\nrgvf: stopped at once; {kept}\n".encode(errors="replace"))
        os._exit(128 + number)

    def check(self) -> None:
        """Raise KeyboardInterrupt if a stop was requested."""
        if self.requested is not None:
            raise KeyboardInterrupt
