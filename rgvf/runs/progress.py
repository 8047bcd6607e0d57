"""Progress of a training run: listeners, and what a terminal shows."""

from __future__ import annotations

import io
import time
from typing import Any, Protocol, runtime_checkable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

BAR_WIDTH = 24
MIN_BAR_WIDTH = 10
FEW_GAMES = 10
"""Where a seed has played fewer, the number is shown beside their mean return."""
_FIRST, _LAST = ("relative_error", "entropy", "weight"), ("value_loss", "policy_loss")
"""What comes first and last of the losses and their kin. What is last is left out where a line is too long."""


@runtime_checkable
class RunListener(Protocol):
    """Gets reports about a run."""

    def say(self, message: str) -> None:
        """Something about the run before it starts, or that it will stop; the latter from another thread."""
        ...

    def waiting(self, what: str) -> None:
        """Something begins that takes a while."""
        ...

    def warn(self, message: str) -> None:
        """Something is wrong, but the run continues."""
        ...

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        """After some updates: frames of each seed (of several runs their mean), frames/s over all seeds (0: not known
        yet), the newest metrics of each seed."""
        ...


class RunProgress:
    """A bar about a training run; where the output is not a terminal, a line from time to time and at the end.

    Where nobody reads the output any more, the run continues without it.
    """

    def __init__(self, console: Console | None = None, every: float = 30.0) -> None:
        self._console = console or Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=8)
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

    def say(self, message: str) -> None:
        """Print it."""
        self._print(message)

    def waiting(self, what: str) -> None:
        """Show what is being waited for."""
        if self._console.is_terminal:
            self._live.update(Spinner("dots", f"{what} …"), refresh=True)
        else:
            self._print(f"{what} …")

    def warn(self, message: str) -> None:
        """Print a warning."""
        self._print(f"rgvf: {message}")

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        """Show the newest metrics."""
        now = time.monotonic()
        if self._console.is_terminal:
            if now - self._last > 0.2 or frames >= total:
                self._last = now
                bar = _bar(frames, total, speed, lines, self._console.width)
                self._live.update(bar, refresh=frames >= total)
        elif lines:
            self._unprinted = "  ".join([*_status(frames, total, speed, lines), *_losses(lines)])
            if now - self._last > self._every:
                self._last = now
                self._print(self._unprinted)
                self._unprinted = ""

    def _print(self, text: str) -> None:
        try:
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)
        except (OSError, SystemExit):  # the reader has closed the pipe; rich would end the process
            self._console = Console(file=io.StringIO())


def _bar(frames: int, total: int, speed: float, lines: list[dict[str, Any]], width: int) -> RenderableType:
    """A bar with the most important numbers, and the losses below it; as much as fits into so many columns."""
    status = _fitting(_status(frames, total, speed, lines), width - MIN_BAR_WIDTH - 2)
    losses = _fitting(_losses(lines), width)
    row = Table.grid(padding=(0, 2))
    row.add_row(
        ProgressBar(total=total, completed=min(frames, total), width=min(BAR_WIDTH, max(1, width - len(status) - 2))),
        Text(status, no_wrap=True, overflow="ellipsis"),
    )
    return Group(row, Text(losses, style="dim", no_wrap=True, overflow="ellipsis"))


def _fitting(parts: list[str], width: int) -> str:
    """The parts in one line, without the last ones where it is too long."""
    while len(parts) > 1 and len("  ".join(parts)) > width:
        parts = parts[:-1]
    return "  ".join(parts)


def _status(frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> list[str]:
    """Frames, time left, return and speed; means over seeds."""
    parts = [f"{_short(min(frames, total))}/{_short(total)} frames"]
    if speed:
        left = max(0.0, (total - frames) * max(1, len(lines)) / speed)
        parts.append(f"{_clock(left)} left")
    returns = [line["return"] for line in lines if line["return"] is not None]
    if returns:
        games = sum(line.get("games", FEW_GAMES * len(lines)) for line in lines)
        few = f" ({games} game{'s' * (games != 1)})" if games < FEW_GAMES * len(lines) else ""
        parts.append(f"return {sum(returns) / len(returns):.1f}{few}")
    elif lines:
        parts.append("no episode over yet")
    return [*parts, f"{_short(int(speed))} frames/s"] if speed else parts


def _losses(lines: list[dict[str, Any]]) -> list[str]:
    """The losses and their kin; means over seeds."""
    parts = []
    for name in sorted(dict.fromkeys(name for line in lines for name in line), key=_place):
        found = [line[name] for line in lines if line.get(name) is not None]
        if "/" in name and not name.endswith("gradient_norm") and found:
            mean = sum(found) / len(found)
            parts.append(f"{name.removeprefix('a2c/').replace('_', ' ').replace('/', ' ')} {mean:.3g}")
    return parts


def _place(name: str) -> int:
    """Where a metric stands among others."""
    order = (*_FIRST, "", *_LAST)
    kind = name.rpartition("/")[2]
    return order.index(kind if kind in order else "")


def _short(frames: int) -> str:
    if frames < 1000:
        return str(frames)
    return f"{frames / 1e6:.2f}M" if frames >= 1e6 else f"{frames / 1e3:.3g}k"


def _clock(seconds: float) -> str:
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours}:{minutes:02d} h" if hours else f"{minutes}:{int(seconds) % 60:02d}"
