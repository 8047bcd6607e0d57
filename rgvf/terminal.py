"""What people see while a study or a training run goes on, and when a study is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from rgvf.interrupt import GracefulStop
from rgvf.studies.study import Conclusion, some_of

MARKS = {True: "[green]holds[/]", False: "[red]does not hold[/]", None: "[yellow]not checked[/]"}

WIDE = 160
"""Columns of a file that a table is printed into."""


class StudyProgress:
    """A bar for each batch of variants; where the output is not a terminal, a line when it is done.

    Ctrl-C stops the study between two steps of its progress.
    """

    def __init__(self, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        columns = (TextColumn("{task.description:<16}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"))
        note = TextColumn("{task.fields[note]}")
        self._bars = Progress(
            *columns, TimeRemainingColumn(compact=True), note, console=self._console, disable=not self._live
        )
        self._bar: TaskID | None = None
        self._stop = GracefulStop()

    @property
    def _live(self) -> bool:
        return self._console.is_terminal

    def __enter__(self) -> StudyProgress:
        self._stop.__enter__()
        self._bars.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._bars.stop()
        self._stop.__exit__(*raised)

    def begin(self, batch: str) -> None:
        self._bar = self._bars.add_task(batch, total=1.0, note="compiling")

    def progress(self, fraction: float) -> None:
        if self._bar is not None:
            self._bars.update(self._bar, completed=fraction, note="")
        self._stop.check()

    def found(self, variants: Sequence[str]) -> None:
        self._console.print(f"There already: {some_of(variants, most=4)}", highlight=False, soft_wrap=True)

    def finish(self, batch: str, seconds: float) -> None:
        if not self._live:
            self._console.print(f"{batch}: {seconds:.0f} s", highlight=False)
        elif self._bar is not None:
            self._bars.update(self._bar, completed=1.0, note=f"{seconds:.0f} s")


class RunProgress:
    """A live line about a training run; where the output is not a terminal, a line from time to time."""

    def __init__(self, console: Console | None = None, every: float = 30.0) -> None:
        self._console = console or Console(stderr=True)
        self._live = Live(console=self._console, auto_refresh=False, transient=False)
        self._every, self._last = every, 0.0

    def __enter__(self) -> RunProgress:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._live.stop()

    def warn(self, message: str) -> None:
        self._console.print(f"rgvf: {message}", highlight=False, soft_wrap=True)

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        now = time.monotonic()
        if self._console.is_terminal:
            if now - self._last > 0.2 or frames >= total:
                self._last = now
                self._live.update(
                    Text(_told(frames, total, speed, lines), no_wrap=True, overflow="ellipsis"), refresh=True
                )
        elif lines and now - self._last > self._every:
            self._last = now
            self._console.print(_told(frames, total, speed, lines), highlight=False, soft_wrap=True)


def _told(frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> str:
    """What matters most first: frames, time left, return, speed, then the losses; means over seeds."""
    done = f"{_short(frames)}/{_short(total)} frames"
    if not lines or not speed:
        return f"{done}  compiling and playing the first games"
    left = (total - frames) * len(lines) / speed
    returns = [line["return"] for line in lines if line["return"] is not None]
    score = f"return {sum(returns) / len(returns):.1f}" if returns else "no game over yet"
    parts = [done, f"{_clock(left)} left", score, f"{_short(int(speed))} frames/s"]
    for name in lines[0]:
        if "/" in name:
            mean = sum(line[name] for line in lines) / len(lines)
            parts.append(f"{name.removeprefix('a2c/').removesuffix('_loss').removesuffix('/loss')} {mean:.3g}")
    return "  ".join(parts)


def _short(frames: int) -> str:
    return f"{frames / 1e6:.2f}M" if frames >= 1e6 else f"{frames / 1e3:.3g}k"


def _clock(seconds: float) -> str:
    hours, minutes = divmod(int(seconds) // 60, 60)
    return f"{hours}:{minutes:02d} h" if hours else f"{minutes}:{int(seconds) % 60:02d}"


@contextmanager
def bar(title: str) -> Iterator[Callable[[float], None]]:
    """A plain progress bar; the function it gives is told the fraction done."""
    console = Console(stderr=True)
    with Progress(TextColumn(title), BarColumn(), console=console, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=1)
        yield lambda fraction: progress.update(task, completed=fraction)


def print_conclusion(conclusion: Conclusion, out: Path) -> None:
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = WIDE
    header, *rows = conclusion.table
    table = Table(box=None, pad_edge=False)
    table.add_column(header[0], min_width=min(20, max(len(row[0]) for row in conclusion.table)), overflow="fold")
    for column in header[1:]:
        table.add_column(column, justify="right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print()
    console.print(table)
    if conclusion.legend:
        console.print(f"\n{conclusion.legend}")
    if conclusion.claims:
        console.print("\nThe paper's claims, in this data:")
    for claim in conclusion.claims:
        console.print(f"  {MARKS[claim.holds]}: {claim.claim}")
    if conclusion.caution:
        console.print(f"  ({conclusion.caution})")
    if conclusion.pictures:
        console.print("\nPictures:")
    for picture in conclusion.pictures:
        console.print(f"  {picture}")
    console.print(f"\nEverything, as data: {out}/*.csv, {out}/*.json, {out}/results/")
