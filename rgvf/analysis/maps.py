"""Figures of values in a room, and of scores against settings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from rgvf.analysis.plots import plain, save
from rgvf.analysis.statistics import line_of_best_fit
from rgvf.analysis.styles import BLACK, GREY


class Scatter(NamedTuple):
    """Points, and the position of a vertical line."""

    x: np.ndarray
    y: np.ndarray
    mark: float


def scatter_panels(
    path: Path,
    panels: Mapping[str, Scatter],
    title: str,
    y_label: str,
    colour: str,
    mark: str,
    level: tuple[str, float] | None,
) -> Path:
    """Points with their line of best fit, side by side on one scale.

    Args:
        mark: what the vertical dotted line of each panel is.
        level: name and height of a black line across all panels.
    """
    figure = Figure(figsize=(max(8.0, 3.2 * len(panels)), 3.6), layout="constrained")  # a title needs its room
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (name, points) in zip(grid, panels.items(), strict=True):
        axes.scatter(points.x, points.y, color=colour, s=22, zorder=3)
        axes.axvline(points.mark, color=GREY, linestyle=":", linewidth=1.4)
        if level is not None:
            axes.axhline(level[1], color=BLACK, linewidth=1.4)
        if len(set(points.x)) > 1:
            slope, height = line_of_best_fit(points.x, points.y)
            ends = np.array([points.x.min(), points.x.max()])
            axes.plot(ends, slope * ends + height, color=colour, linewidth=1.4, alpha=0.6)
        axes.set_xlabel(name)
        if np.all(points.x == np.round(points.x)):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        plain(axes)
    grid[0].set_ylabel(y_label)
    legend = [Line2D([], [], color=colour, alpha=0.6, label="line of best fit")]
    legend += [] if level is None else [Line2D([], [], color=BLACK, label=level[0])]
    legend.append(Line2D([], [], color=GREY, linestyle=":", label=mark))
    figure.legend(handles=legend, loc="outside lower center", ncols=len(legend), frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=11)
    return save(figure, [path])[0]


def heat_maps(path: Path, maps: Mapping[str, np.ndarray], title: str, goal: tuple[int, int], columns: int = 4) -> Path:
    """Square maps [rows, columns] side by side on one colour scale, that of the first; the goal's cell has a frame.

    The first map is the truth; the titles of the others say their mean squared error.
    """
    rows = -(-len(maps) // columns)
    figure = Figure(figsize=(2.1 * columns + 0.8, 2.45 * rows + 0.5), layout="constrained")
    grid = figure.subplots(rows, columns, squeeze=False)
    truth = next(iter(maps.values()))
    image = None
    for axes, (label, values) in zip(grid.flat, maps.items(), strict=False):
        image = axes.imshow(values, cmap="viridis", vmin=truth.min(), vmax=truth.max())
        row, column = goal
        for width, colour in ((3.4, "black"), (1.4, "white")):  # seen on every colour of the map
            square = np.array([[-1, -1, 1, 1, -1], [-1, 1, 1, -1, -1]]) * 0.43
            axes.plot(column + square[0], row + square[1], color=colour, linewidth=width, solid_joinstyle="miter")
        error = "" if values is truth else f"\nMSE {np.mean((values - truth) ** 2):.3f}"
        axes.set_title(f"{label}{error}", fontsize=9.5)
    for axes in grid.flat:
        axes.axis("off")
    if image is not None:
        figure.colorbar(image, ax=grid, label="value", shrink=0.8, pad=0.02, extend="both")
    figure.suptitle(title, fontsize=11)
    return save(figure, [path])[0]
