"""Figures of results, by Matplotlib without its global state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, MaxNLocator

from rgvf.analysis.statistics import line_of_best_fit, standard_error

# Okabe and Ito's colours, distinct for colour-blind readers too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00", "#7F7F7F")


Curves = Mapping[str, tuple[Sequence[float], np.ndarray]]
"""A label mapped to (frames, values [seeds, points])."""


def learning_curves(path: Path, curves: Curves, title: str, y_label: str, log: bool = False) -> Path:
    """Mean and standard error over seeds against frames."""
    figure = Figure(figsize=(8.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    _plot_curves(axes, curves, dict(zip(curves, _cycle(len(curves)), strict=True)), log)
    if log:
        axes.set_yscale("log")
    axes.set(xlabel="frames", ylabel=y_label)
    figure.suptitle(title, fontsize=11)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(path, dpi=150)
    return path


def learning_panels(
    path: Path, panels: Mapping[str, Curves], title: str, y_label: str, columns: int = 3, level: float | None = None
) -> Path:
    """Learning curves in one panel for each game; a label has the same colour in all of them.

    `level`: a dashed line across all panels.
    """
    labels = list(dict.fromkeys(label for curves in panels.values() for label in curves))
    colours = dict(zip(labels, _cycle(len(labels)), strict=True))
    columns = min(columns, len(panels))
    rows = -(-len(panels) // columns)
    beside = 3.0 if columns * rows == len(panels) else 0.0  # for the legend, where no panel is left for it
    figure = Figure(figsize=(4.2 * columns + beside, 3.1 * rows), layout="constrained")
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes, (name, curves) in zip(grid, panels.items(), strict=False):
        _plot_curves(axes, curves, colours)
        _line_across(axes, level)
        axes.set_title(name, fontsize=10)
    for axes in grid[len(panels) :]:
        axes.axis("off")
    lines = [Line2D([], [], color=colours[label], linestyle=_dash(i), label=label) for i, label in enumerate(labels)]
    if not beside:
        grid[len(panels)].legend(handles=lines, loc="center left", frameon=False, fontsize=9)
    else:
        figure.legend(handles=lines, loc="outside right center", frameon=False, fontsize=9)
    figure.supxlabel("frames", fontsize=10)
    figure.supylabel(y_label, fontsize=10)
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=150)
    return path


class Scatter(NamedTuple):
    """Points, and the position of a vertical line."""

    x: np.ndarray
    y: np.ndarray
    mark: float


def scatter_panels(
    path: Path, panels: Mapping[str, Scatter], title: str, y_label: str, level: float | None = None
) -> Path:
    """Points with their line of best fit, side by side on one scale; `level`: a dashed line across all."""
    figure = Figure(figsize=(max(8.0, 3.2 * len(panels)), 3.1), layout="constrained")  # a title needs its room
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (name, points) in zip(grid, panels.items(), strict=True):
        axes.scatter(points.x, points.y, color=COLOURS[0], s=22, zorder=3)
        axes.axvline(points.mark, color="#7F7F7F", linewidth=1)
        _line_across(axes, level)
        if len(set(points.x)) > 1:
            slope, height = line_of_best_fit(points.x, points.y)
            ends = np.array([points.x.min(), points.x.max()])
            axes.plot(ends, slope * ends + height, color=COLOURS[1], linewidth=1.6)
        axes.set_xlabel(name)
        if np.all(points.x == np.round(points.x)):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        _plain(axes)
    grid[0].set_ylabel(y_label)
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=150)
    return path


def intervals(path: Path, found: Mapping[str, tuple[float, float, float]], title: str, x_label: str) -> Path:
    """A value with the ends of its interval (low, value, high) for each label, one below the other."""
    figure = Figure(figsize=(7.2, 0.8 + 0.32 * len(found)), layout="constrained")
    axes = figure.add_subplot()
    for row, (low, value, high) in enumerate(found.values()):
        axes.plot([low, high], [row, row], color=COLOURS[0], linewidth=5, alpha=0.35, solid_capstyle="butt")
        axes.plot([value], [row], color=COLOURS[0], marker="|", markersize=12, markeredgewidth=2)
    axes.set_yticks(range(len(found)), list(found))
    axes.invert_yaxis()
    axes.set_xlabel(x_label)
    _plain(axes)
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=150)
    return path


def _line_across(axes: Axes, level: float | None) -> None:
    if level is not None:
        axes.axhline(level, color="#000000", linestyle="--", linewidth=1)


def _plain(axes: Axes) -> None:
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)


def _plot_curves(axes: Axes, curves: Curves, colours: Mapping[str, str], log: bool = False) -> None:
    order = list(colours)
    for label, (frames, values) in curves.items():
        mean, error, colour = values.mean(0), standard_error(values), colours[label]
        axes.plot(frames, mean, color=colour, label=label, linewidth=1.6, linestyle=_dash(order.index(label)))
        floor = mean.min() / 2 if log else -np.inf
        axes.fill_between(frames, np.maximum(mean - error, floor), mean + error, color=colour, alpha=0.2, linewidth=0)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    _plain(axes)


def _dash(i: int) -> Literal["-", "--"]:
    """Where colours come round again, lines are dashed."""
    return "-" if i // len(COLOURS) % 2 == 0 else "--"


def heat_maps(path: Path, maps: Mapping[str, np.ndarray], title: str, columns: int = 4) -> Path:
    """Square maps [rows, columns] side by side on one colour scale, that of the first."""
    rows = -(-len(maps) // columns)
    figure = Figure(figsize=(2.1 * columns + 0.8, 2.25 * rows + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    first = next(iter(maps.values()))
    image = None
    for axes, (label, values) in zip(grid.flat, maps.items(), strict=False):
        image = axes.imshow(values, cmap="viridis", vmin=first.min(), vmax=first.max())
        axes.set_title(label, fontsize=10)
    for axes in grid.flat:
        axes.axis("off")
    if image is not None:
        figure.colorbar(image, ax=grid, label="value", shrink=0.8, pad=0.02, extend="both")
    figure.suptitle(title, fontsize=11)
    figure.savefig(path, dpi=150)
    return path


def _cycle(n: int) -> list[str]:
    return [COLOURS[i % len(COLOURS)] for i in range(n)]
