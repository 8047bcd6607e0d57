"""Pictures of results. Matplotlib without its global state, so that it draws anywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter

from rgvf.analysis.statistics import standard_error

# Okabe and Ito's colours, told apart by colour-blind eyes too.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00", "#7F7F7F")


def learning_curves(
    path: Path, curves: Mapping[str, tuple[Sequence[float], np.ndarray]], title: str, y_label: str, log: bool = False
) -> Path:
    """Mean and standard error over seeds against frames; `curves` maps a label to (frames, values [seeds, points])."""
    figure = Figure(figsize=(8.4, 4.2), layout="constrained")
    axes = figure.add_subplot()
    for (label, (frames, values)), colour in zip(curves.items(), _cycle(len(curves)), strict=True):
        mean, error = values.mean(0), standard_error(values)
        axes.plot(frames, mean, color=colour, label=label, linewidth=1.6)
        floor = mean.min() / 2 if log else -np.inf
        axes.fill_between(frames, np.maximum(mean - error, floor), mean + error, color=colour, alpha=0.2, linewidth=0)
    if log:
        axes.set_yscale("log")
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set(xlabel="frames", ylabel=y_label)
    figure.suptitle(title, fontsize=11)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(path, dpi=150)
    return path


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
