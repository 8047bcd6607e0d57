"""Progress of a training run: listeners, and what a terminal shows."""

from __future__ import annotations

import io
import time
from typing import Any, Protocol, runtime_checkable

from rich.console import Console
from rich.live import Live
from rich.text import Text


@runtime_checkable
class RunListener(Protocol):
    """Gets reports about a run."""

    def warn(self, message: str) -> None:
        """Something is wrong, but the run continues."""
        ...

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        """After some updates: frames of each seed, frames/s over all seeds, the newest line of metrics of each seed."""
        ...


class RunProgress:
    """A live line about a training run; where the output is not a terminal, a line from time to time and at the end.

    Where nobody reads the output any more, the run continues without it.
    """

    def __init__(self, console: Console | None = None, every: float = 30.0) -> None:
        self._console = console or Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=False)
        self._every, self._last = every, 0.0
        self._unprinted = ""

    def __enter__(self) -> RunProgress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._live.stop()
        if self._unprinted:
            self._print(self._unprinted)

    def warn(self, message: str) -> None:
        """Print a warning."""
        self._print(f"rgvf: {message}")

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        """Show the newest metrics."""
        now = time.monotonic()
        if self._console.is_terminal:
            if now - self._last > 0.2 or frames >= total:
                self._last = now
                line = Text(_status(frames, total, speed, lines), no_wrap=True, overflow="ellipsis")
                self._live.update(line, refresh=True)
        elif lines:
            self._unprinted = _status(frames, total, speed, lines)
            if now - self._last > self._every:
                self._last = now
                self._print(self._unprinted)
                self._unprinted = ""

    def _print(self, text: str) -> None:
        try:
            self._console.print(text, highlight=False, soft_wrap=True)
        except (OSError, SystemExit):  # the reader has closed the pipe; rich would end the process
            self._console = Console(file=io.StringIO())


def _status(frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> str:
    """Frames, time left, return and speed, then the losses; means over seeds."""
    done = f"{_short(frames)}/{_short(total)} frames"
    if not lines or not speed:
        return f"{done}  compiling, and playing the first games"
    left = max(0.0, (total - frames) * len(lines) / speed)
    returns = [line["return"] for line in lines if line["return"] is not None]
    score = f"return {sum(returns) / len(returns):.1f}" if returns else "no game over yet"
    parts = [done, f"{_clock(left)} left", score, f"{_short(int(speed))} frames/s"]
    for name in lines[0]:
        if "/" in name:
            mean = sum(line[name] for line in lines) / len(lines)
            parts.append(f"{name.removeprefix('a2c/').removesuffix('_loss').removesuffix('/loss')} {mean:.3g}")
    return "  ".join(parts)


def _short(frames: int) -> str:
    if frames < 1000:
        return str(frames)
    return f"{frames / 1e6:.2f}M" if frames >= 1e6 else f"{frames / 1e3:.3g}k"


def _clock(seconds: float) -> str:
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours}:{minutes:02d} h" if hours else f"{minutes}:{int(seconds) % 60:02d}"
