"""`rgvf plot`: learning curves of any runs."""

from __future__ import annotations

from dataclasses import dataclass
from mimetypes import MimeTypes
from pathlib import Path
from typing import Annotated, Literal

import tyro

from rgvf.cli.errors import CommandError, command_errors
from rgvf.cli.parsing import parse

SUFFIXES = (".png", ".svg", ".pdf")
_KINDS = MimeTypes()  # those that Python knows by itself, the same on every machine


@dataclass(frozen=True)
class _Options:
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional]
    """Folders of runs, or folders that hold runs, such as a study's. Runs that differ only by seed are one line."""
    metric: str = "return"
    """What to draw: any name in metrics.jsonl, such as length or rgvf/loss."""
    band: Literal["error", "range"] = "error"
    """The band around a line: the standard error of the mean, or from the lowest to the highest seed."""
    out: Path = Path("curves")
    """File of the figure, .png, .svg or .pdf; without a suffix a .png and an .svg are written."""


def plot(arguments: list[str]) -> None:
    """Run the command."""
    options = parse(_Options, arguments, "rgvf plot", description="Draw the learning curves of runs.")
    if not options.runs:
        raise CommandError("which runs? Name their folders, such as runs/*")
    with command_errors():
        _plot(options)


def _plot(options: _Options) -> None:
    from rgvf.analysis import Line, learning_panels, read_runs, styles
    from rgvf.analysis.run_groups import with_metric

    paths = _files(options.out)
    groups, notes = with_metric(read_runs(options.runs, print), options.metric)
    looks = styles({group.label: group.agent for group in groups})
    panels: dict[str, list[Line]] = {}
    for group in groups:
        frames, values = group.curve(options.metric)
        panels.setdefault(group.env, []).append(Line(group.label, frames, values, looks[group.label]))
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    before = [path for path in paths if path.exists()]
    for path in learning_panels(paths, panels, options.metric, band=options.band):
        print(f"{path} (replaced)" if path in before else path)
    for note in notes:
        print(note)


def _files(out: Path) -> list[Path]:
    if out.suffix.lower() in SUFFIXES:
        return [out]
    if any(_KINDS.guess_type(out.name, strict=False)):  # other endings, as in minatar.Breakout, are part of a name
        raise ValueError(f"a figure is a .png, an .svg or a .pdf file, not {out.suffix}")
    return [out.with_name(out.name + suffix) for suffix in (".png", ".svg")]
