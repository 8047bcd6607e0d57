"""Tables in a terminal or a file."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

FILE_WIDTH = 160
"""Columns of a table that is printed into a file."""


def make_console() -> Console:
    """Where results are printed to."""
    console = Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = FILE_WIDTH
    return console


def print_table(console: Console, rows: Sequence[tuple[str, ...]]) -> None:
    """Print a table; its header comes first."""
    header, *rest = rows
    table = Table(box=None, pad_edge=False)
    table.add_column(header[0], min_width=min(20, max(len(row[0]) for row in rows)), overflow="fold")
    for column in header[1:]:
        table.add_column(column, justify="right", overflow="fold")
    for row in rest:
        table.add_row(*row)
    console.print(table)
