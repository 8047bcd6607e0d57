"""Figures of learning curves and of agents over games, by Matplotlib without its global state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator

from rgvf.analysis.statistics import mean_band, standard_error
from rgvf.analysis.styles import GREY, Style, agent_style

# Okabe and Ito's colours, for films: what they show beside a game is no agent's line.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00", "#7F7F7F")
Band = Literal["error", "range", "interval"]
"""What the band around a line is: the standard error over seeds, the range of all seeds, or a 95 % interval."""
_BANDS = {"error": "± standard error", "range": "range", "interval": "95 % bootstrap interval"}
_MARKS = 9
"""Marks on a line, where its style has any."""
_NO_DATE: Mapping[str, Any] = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
"""Metadata by suffix: figures are without the time when they were drawn."""
_BELOW = 5
"""Entries of a legend beside each other, where it is below."""


class Size(NamedTuple):
    """How large a panel is, in inches, and what is in it, in points."""

    width: float
    height: float
    title: float = 10
    letters: int = 1000
    """As many as fit above a panel; longer titles are smaller."""
    pad: float = 6
    """Below a title."""
    ticks: float = 10
    line: float = 1.6
    marker: float = 5


ONE, FEW, MANY = Size(5.6, 4.2), Size(4.2, 3.1), Size(1.9, 1.45, 8, 22, pad=3, ticks=6.5, line=1.0, marker=2.5)
"""A single panel, a few, and dozens of them."""


@dataclass(frozen=True)
class Line:
    """One line of a figure: the mean over seeds."""

    label: str
    frames: Sequence[int]
    values: np.ndarray
    """[seeds, points]"""
    style: Style

    @property
    def mean(self) -> np.ndarray:
        """The line itself."""
        return self.values.mean(0)

    def band(self, kind: Band) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper end at each point."""
        if kind == "range":
            return self.values.min(0), self.values.max(0)
        if kind == "interval":
            low, high = mean_band(self.values)
            return low, high
        error = standard_error(self.values)
        return self.mean - error, self.mean + error


def learning_panels(
    paths: Sequence[Path],
    panels: Mapping[str, Sequence[Line]],
    y_label: str,
    title: str = "",
    *,
    columns: int = 3,
    log: bool = False,
    level: tuple[str, float] | None = None,
    band: Band = "error",
    small: bool = False,
) -> list[Path]:
    """Lines in one panel for each game; the legend says what bands are, and how many seeds there are.

    Returns the files: none where there is nothing to draw.

    Args:
        paths: of the files, .png, .svg or .pdf.
        panels: by title.
        log: a logarithmic axis for the values.
        level: name and height of a dotted line across all panels.
        small: small panels with one axis of frames and the legend below them, for dozens of games.
    """
    if not panels:
        return []
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    size = MANY if small else ONE if len(panels) == 1 else FEW
    legend, heading = _legend([line for lines in panels.values() for line in lines], band)
    if level is not None:
        legend.append(Line2D([], [], color=GREY, linestyle=":", label=level[0]))
    room = _room(legend, heading, rows * columns > len(panels), small)
    width, height = size.width * columns, max(size.height * rows, 0.5 + 0.19 * len(legend) * (not small))
    figure = Figure(figsize=(width + room[0], height + room[1]), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False, sharex=small).flat)
    for axes, (name, lines) in zip(grid, panels.items(), strict=False):
        _plot_lines(axes, lines, log, band, size)
        if level is not None:
            axes.axhline(level[1], color=GREY, linestyle=":", linewidth=1.4)
        axes.set_title(name, fontsize=size.title * min(1.0, size.letters / max(1, len(name))), pad=size.pad)
    for axes in grid[len(panels) :]:
        axes.axis("off")
    words: Any = {
        "handles": legend,
        "title": heading.replace("\n", "; ") if small else heading,
        "frameon": False,
        "fontsize": 9,
        "title_fontsize": 9,
    }
    words |= {"alignment": "left", "handlelength": 3.2}
    if small:
        figure.legend(loc="outside lower center", ncols=_BELOW, **words)
        for axes in grid[len(panels) - columns : len(panels)]:
            axes.tick_params(labelbottom=True)  # also where there is no panel below
            axes.set_xlabel("frames", fontsize=size.title, labelpad=1)
    else:
        figure.supxlabel("frames", fontsize=10)
        if room[0]:
            figure.legend(loc="outside right center", **words)
        else:
            grid[len(panels)].legend(loc="center left", **words)
    figure.supylabel(y_label, fontsize=10)
    if title:
        figure.suptitle(title, fontsize=11)
    return save(figure, paths)


def _room(legend: Sequence[Line2D], heading: str, has_empty_panel: bool, small: bool) -> tuple[float, float]:
    """Inches that the legend needs beside the panels and below them."""
    if small:
        return 0.0, 0.6 + 0.19 * -(-len(legend) // _BELOW)
    widest = max(len(text) for text in (*heading.split("\n"), *(str(each.get_label()) for each in legend)))
    return 0.0 if has_empty_panel else 0.9 + 0.068 * widest, 0.0


def save(figure: Figure, paths: Sequence[Path]) -> list[Path]:
    """Write a figure to files, .png, .svg or .pdf; the same figure gives the same bytes."""
    with matplotlib.rc_context({"svg.hashsalt": "rgvf", "svg.fonttype": "none"}):
        for path in paths:
            figure.savefig(path, dpi=150, metadata=_NO_DATE.get(path.suffix.lower()))
    return list(paths)


def plain(axes: Axes) -> None:
    """A faint grid, and no frame above and to the right."""
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _legend(lines: Sequence[Line], band: Band) -> tuple[list[Line2D], str]:
    """An entry for each label, and what the lines are. A label whose lines have several colours is grey."""
    by_label: dict[str, list[Line]] = {}
    for line in lines:
        by_label.setdefault(line.label, []).append(line)
    seeds = {label: sorted({len(line.values) for line in each}) for label, each in by_label.items()}
    counts = sorted({n for each in seeds.values() for n in each})
    entries: list[Line2D] = []
    for label, each in by_label.items():
        style, several = each[0].style, len({line.style.colour for line in each}) > 1
        shown = label if len(counts) == 1 else f"{label} ({'–'.join(map(str, seeds[label]))})"
        drawn = style._replace(colour=GREY, marker="") if several else style
        entries.append(Line2D([], [], label=shown, **look(drawn)))
    if counts == [1]:
        return entries, "one seed"
    of = f"{counts[0]} seeds" if len(counts) == 1 else "seeds (how many)"
    return entries, f"line: mean of {of}\nband: {_BANDS[band]}"


def look(style: Style, size: Size = FEW) -> dict[str, Any]:
    """Matplotlib's words for a style."""
    dash = (0, (3.2, 1.6)) if style.dash == "--" else "-"
    fill = "white" if style.dash == "--" else style.colour
    marks = {"marker": style.marker, "markersize": size.marker, "markerfacecolor": fill} if style.marker else {}
    return {"color": style.colour, "linestyle": dash, "linewidth": size.line, **marks}


def _plot_lines(axes: Axes, lines: Sequence[Line], log: bool, band: Band, size: Size) -> None:
    for i, line in enumerate(lines):
        mean, colour, frames = line.mean, line.style.colour, np.asarray(line.frames)
        every = max(1, len(frames) // _MARKS)
        axes.plot(frames, mean, markevery=(i * every // max(1, len(lines)), every), **look(line.style, size))
        if len(line.values) > 1:
            low, high = line.band(band)
            floor = mean.min() / 2 if log else -np.inf
            alpha = 0.2 if line.style.dash == "-" else 0.1
            axes.fill_between(frames, np.maximum(low, floor), high, color=colour, alpha=alpha, linewidth=0)
    if log:
        axes.set_yscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    if size is MANY:
        axes.tick_params(labelsize=size.ticks, length=2, pad=1.5)
        axes.xaxis.set_major_locator(MaxNLocator(2, steps=[1, 2, 5, 10]))
        if not log:
            axes.yaxis.set_major_locator(MaxNLocator(3))
            if max(map(abs, axes.get_ylim())) >= 1000:
                axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    plain(axes)


def intervals(
    path: Path, panels: Mapping[str, Mapping[str, tuple[float, float, float]]], title: str, x_label: str, level: float
) -> Path:
    """A value with the ends of its interval (low, value, high) for each agent, the highest first.

    Each panel has its own agents, one below the other; all share one axis, with a line at `level`. Filled points are
    agents that are trained end to end. Where the ends are NaN only the value is drawn.
    """
    sizes = [len(found) for found in panels.values()]
    figure = Figure(figsize=(7.2, 1.0 + 0.3 * sum(sizes) + 0.35 * len(panels)), layout="constrained")
    grid = figure.subplots(len(panels), 1, squeeze=False, sharex=True, height_ratios=[n + 0.6 for n in sizes])[:, 0]
    for axes, (name, found) in zip(grid, panels.items(), strict=True):
        ordered = sorted(found.items(), key=lambda each: each[1][1], reverse=True)
        for row, (agent, (low, value, high)) in enumerate(ordered):
            style = agent_style(agent)
            fill = "white" if style.dash == "--" else style.colour
            axes.plot([low, high], [row, row], color=style.colour, linewidth=2.5, solid_capstyle="butt")
            axes.plot(
                [value], [row], color=style.colour, marker=style.marker or "o", markersize=7, markerfacecolor=fill
            )
        axes.set_yticks(range(len(found)), [agent for agent, _ in ordered])
        axes.set_ylim(len(found) - 0.5, -0.5)
        axes.axvline(level, color=GREY, linestyle=":", linewidth=1.4, zorder=0)
        axes.set_title(name, fontsize=10, loc="left")
        plain(axes)
    grid[-1].set_xlim(left=min(0.0, grid[-1].get_xlim()[0]))
    grid[-1].set_xlabel(x_label)
    figure.suptitle(title, fontsize=11)
    return save(figure, [path])[0]
