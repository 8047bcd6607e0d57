"""`rgvf compare`: a table of runs, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro

from rgvf.cli.errors import CommandError, command_errors
from rgvf.cli.parsing import parse


@dataclass(frozen=True)
class _Options:
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of runs in one environment, or folders that hold runs. Runs that differ only by seed are one row; the
    others are compared with the first."""
    metric: str = "return"
    """What to compare: any name in metrics.jsonl, such as length or rgvf/loss."""
    evaluation: bool = False
    """Compare the scores of whole games that 'rgvf evaluate' has played, instead of the metrics of training."""


def compare(arguments: list[str]) -> None:
    """Run the command."""
    description = "Compare runs: means over seeds, standard errors and 95 % bootstrap intervals."
    options = parse(_Options, arguments, "rgvf compare", description=description)
    if not options.runs:
        raise CommandError("which runs? Name their folders, such as runs/*")
    with command_errors():
        _compare(options)


def _compare(options: _Options) -> None:
    from rgvf.analysis import read_runs
    from rgvf.analysis.tables import compare_evaluations, compare_training
    from rgvf.cli.tables import make_console, print_table

    groups = read_runs(options.runs, print)
    table = compare_evaluations(groups) if options.evaluation else compare_training(groups, options.metric)
    console = make_console()
    print_table(console, table.rows)
    console.print()
    for note in table.notes:
        console.print(note)
