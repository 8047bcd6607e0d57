"""What people see while a study runs and when it has."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table

from rgvf.interrupt import GracefulStop
from rgvf.studies.study import Conclusion

MARKS = {True: "[green]holds[/]", False: "[red]does not hold[/]", None: "[yellow]not checked[/]"}


class StudyProgress:
    """A bar for each variant; where the output is not a terminal, a line when it is done.

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

    def begin(self, variant: str) -> None:
        self._bar = self._bars.add_task(variant, total=1.0, note="compiling")

    def progress(self, fraction: float) -> None:
        if self._bar is not None:
            self._bars.update(self._bar, completed=fraction, note="")
        self._stop.check()

    def finish(self, variant: str, seconds: float | None) -> None:
        note = "was there already" if seconds is None else f"{seconds:.0f} s"
        if not self._live:
            self._console.print(f"{variant}: {note}", highlight=False)
        elif seconds is None:
            self._bars.add_task(variant, total=1, completed=1, note=note)
        elif self._bar is not None:
            self._bars.update(self._bar, completed=1.0, note=note)


def print_conclusion(conclusion: Conclusion, out: Path) -> None:
    console = Console(highlight=False, soft_wrap=True)
    header, *rows = conclusion.table
    table = Table(*(header[:1]), box=None, pad_edge=False)
    for column in header[1:]:
        table.add_column(column, justify="right")
    for row in rows:
        table.add_row(*row)
    console.print()
    console.print(table)
    console.print("\nThe paper's claims, in this data:")
    for claim in conclusion.claims:
        console.print(f"  {MARKS[claim.holds]}: {claim.claim}")
    console.print("\nPictures:")
    for picture in conclusion.pictures:
        console.print(f"  {picture}")
    console.print(f"\nEverything, as data: {out}/curves.csv, {out}/claims.json, {out}/results/")
