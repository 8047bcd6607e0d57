"""What a terminal shows while a study runs, and when it is done."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from rgvf.cli.tables import make_console, print_table
from rgvf.signals import GracefulStop
from rgvf.studies import Conclusion, some_of

if TYPE_CHECKING:
    from rgvf.studies.plan import StudyPlan

MARKS = {
    True: "[green]holds[/]",
    False: "[red]does not hold[/]",
    None: "[yellow]not checked (this data cannot decide it)[/]",
}


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
        self._stop = GracefulStop(self._say)

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
        """A batch starts."""
        self._bar = self._bars.add_task(batch, total=1.0, note="compiling")

    def progress(self, fraction: float) -> None:
        """A fraction of the batch is done."""
        if self._bar is not None:
            self._bars.update(self._bar, completed=fraction, note="")
        self._stop.check()

    def warn(self, message: str) -> None:
        """Something is wrong, but the study continues."""
        self._say(f"rgvf: {message}")

    def _say(self, sentence: str) -> None:
        self._console.print(sentence, highlight=False, markup=False, soft_wrap=True)

    def found(self, variants: Sequence[str]) -> None:
        """The folder has results of these already."""
        self._say(f"Found results of {some_of(variants, limit=4)}")

    def finish(self, batch: str, seconds: float) -> None:
        """A batch is done."""
        if not self._live:
            self._console.print(f"{batch}: {seconds:.0f} s", highlight=False)
        elif self._bar is not None:
            self._bars.update(self._bar, completed=1.0, note=f"{seconds:.0f} s")


@contextmanager
def plain_warnings() -> Iterator[None]:
    """Warnings of rgvf become a line on standard error."""
    with warnings.catch_warnings():
        usual = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], filename: str, *rest: Any) -> None:
            if category is UserWarning and Path(filename).is_relative_to(Path(__file__).parents[1]):
                print(f"rgvf: {message}", file=sys.stderr)
            else:
                usual(message, category, filename, *rest)

        warnings.showwarning = show
        yield


@contextmanager
def bar(title: str) -> Iterator[Callable[[float], None]]:
    """A plain progress bar; call the function that it gives with the fraction done."""
    console = Console(stderr=True)
    columns = TaskProgressColumn(), BarColumn(bar_width=24), TimeElapsedColumn(), TextColumn(title)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task("", total=1)
        yield lambda fraction: progress.update(task, completed=fraction)


def print_counts(plan: StudyPlan, what: str) -> None:
    """What is left of a study."""
    console = make_console()
    console.print(f"\n{what}" if what else "")
    done = f"; {plan.done:,} are done" if plan.done else ""
    failed = f"; {plan.failed:,} have failed (--retry-failed)" if plan.failed else ""
    agents = f"{plan.agents:,} agent{'s' * (plan.agents != 1)}"
    console.print(f"To train: {agents}, {plan.frames:,} frames in all{done}{failed}.")


def print_hours(plan: StudyPlan, machines: int, not_planned: str) -> None:
    """How long it takes, and what that leaves out."""
    console = make_console()
    measured = sum(kind.rate > 0 for kind in plan.kinds)
    if not plan.kinds:
        return
    if plan.cannot:
        console.print(f"How long it takes cannot be measured here: {plan.cannot}.", markup=False)
        return
    if (plan.out_of_time or plan.interrupted) and not measured:
        when = "yet" if plan.interrupted else "in the time that a plan may take"
        console.print(f"How long it takes is unknown: nothing was measured {when}.")
        return
    console.print()
    rows = [
        (
            kind.name,
            f"{kind.agents:,}",
            f"{kind.batches:,}",
            f"{kind.rate:,.0f}" if kind.rate else "?",
            show_hours(kind.hours).partition(" (")[0] if kind.rate else "?",
        )
        for kind in plan.kinds
        if kind.rate or not measured
    ]
    print_table(console, [("agent", "to train", "batches", "frames/s of a batch", "one by one"), *rows])
    at_once = f"{plan.parallel} at once" if plan.parallel > 1 else "one at a time"
    if 0 < measured < len(plan.kinds):
        left_out = some_of([kind.name for kind in plan.kinds if not kind.rate])
        why = " in the time that a plan may take" if plan.out_of_time else ""
        counts = f"{measured} of {len(plan.kinds)} kinds were measured{why}; the others count as the mean of these"
        console.print(f"\n{counts}: {left_out}.", markup=False)
    console.print(f"\nHere ({at_once}, as measured): {show_hours(plan.hours())}")
    console.print(f"On {machines} machines like this: {show_hours(plan.hours(machines))}")
    console.print(_getting_ready(plan))
    if not_planned:
        console.print(not_planned)


def _getting_ready(plan: StudyPlan) -> str:
    """A sentence about what comes before a batch trains, which counts where there are many short ones."""
    seconds = [f"{each:,.0f}" for each in sorted(plan.ready_after)]
    took = (
        f": it took {' to '.join(dict.fromkeys([seconds[0], seconds[-1]]))} s where it was measured" if seconds else ""
    )
    return f"Not counted: the start of each batch, above all compiling{took}."


def show_hours(hours: float) -> str:
    """Hours, or where they are few, minutes or seconds, or where they are many, days or years."""
    if math.isnan(hours):
        return "unknown: the measurement failed"
    if hours < 1:
        return f"{hours * 60:,.1f} minutes" if hours * 60 >= 1 else f"{hours * 3600:.2g} seconds"
    if hours < 48:
        return f"{hours:,.1f} hours"
    days = hours / 24
    return f"{hours:,.0f} hours ({f'{days:,.1f} days' if days < 800 else f'{days / 365.25:,.1f} years'})"


def print_conclusion(conclusion: Conclusion, out: Path) -> None:
    """The table, the claims and the files of a study."""
    console = make_console()
    console.print()
    if len(conclusion.table) < 2:  # no row below the header
        console.print(f"There are no results yet. {conclusion.caution}".rstrip(), markup=False)
        return
    print_table(console, conclusion.table)
    if conclusion.legend:
        console.print(f"\n{conclusion.legend}")
    if conclusion.claims:
        console.print("\nClaims, in this data:")
    for claim in conclusion.claims:
        console.print(f"  {MARKS[claim.holds]}: {claim.claim}")
    if conclusion.caution:
        console.print(f"  ({conclusion.caution})", markup=False)
    if conclusion.figures:
        console.print("\nFigures:")
    for figure in conclusion.figures:
        console.print(f"  {figure}")
    console.print(f"\nData: {out}/*.json, {out}/results/")
