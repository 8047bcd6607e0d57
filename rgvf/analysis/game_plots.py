"""Figures of agents over many games: improvement in each game, and performance profiles."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator
from matplotlib.transforms import Transform

from rgvf.analysis.plots import look, plain, save
from rgvf.analysis.styles import GREY, styles

_LINEAR = 0.1
"""Improvements below this, up or down, are on a linear part of the axis; larger ones on a logarithmic one."""
_LEGEND_COLUMNS = 3


def improvement_bars(path: Path, values: Mapping[str, float], title: str, x_label: str, colour: str) -> Path:
    """A bar for each game, the highest first; as percentages on an axis that is logarithmic on both sides of 0.

    Args:
        values: by game, 0.5 for 50 %; those that are not finite have no bar.
        colour: of bars above 0; those below are grey.
    """
    ordered = sorted(values.items(), key=lambda each: each[1] if np.isfinite(each[1]) else -np.inf, reverse=True)
    heights = np.array([value if np.isfinite(value) else 0.0 for _, value in ordered])
    rows = np.arange(len(heights))
    figure = Figure(figsize=(7.2, 1.5 + 0.17 * len(heights)), layout="constrained")
    axes = figure.subplots()
    axes.barh(rows, heights, height=0.75, color=np.where(heights > 0, colour, GREY).tolist(), zorder=2)
    axes.set_xscale("symlog", linthresh=_LINEAR, linscale=0.6)
    ends = min(heights.min(initial=0.0), -_LINEAR), max(heights.max(initial=0.0), _LINEAR)
    powers = 10.0 ** np.arange(-1, np.floor(np.log10(max(-ends[0], ends[1]))) + 1)
    axes.set_xticks([tick for tick in (*-powers[::-1], 0.0, *powers) if ends[0] <= tick <= ends[1]])
    axes.set_xlim(*_widened(axes.xaxis.get_transform(), *ends))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _percent(value)))
    axes.xaxis.set_minor_locator(NullLocator())
    for row, (_, value) in enumerate(ordered):
        beside = {"xytext": (3 if heights[row] >= 0 else -3, 0), "textcoords": "offset points", "va": "center"}
        side = "left" if heights[row] >= 0 else "right"
        axes.annotate(_percent(value), (float(heights[row]), row), ha=side, fontsize=6.5, **beside)
    axes.set_yticks(rows, [game for game, _ in ordered], fontsize=7.5)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", labelsize=9)
    axes.set_ylim(len(heights) - 0.4, -0.6)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel(x_label)
    plain(axes)
    axes.grid(visible=False, axis="y")
    better, worse = int((heights > 0).sum()), int((heights < 0).sum())
    handles = [Patch(color=colour, label=f"better: {better}"), Patch(color=GREY, label=f"worse: {worse}")]
    figure.legend(handles=handles, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    figure.suptitle(title, fontsize=11)
    return save(figure, [path])[0]


def profile_panels(
    path: Path,
    panels: Mapping[str, Mapping[str, np.ndarray]],
    thresholds: np.ndarray,
    title: str,
    x_label: str,
    level: tuple[str, float] | None = None,
) -> Path:
    """Performance profiles: lines that say which fraction of runs is above a score, with bands.

    Args:
        panels: by title and agent, low ends, fractions and high ends: [3, thresholds].
        thresholds: the scores: [thresholds].
        level: name and score of a dotted line, such as that of people.
    """
    figure = Figure(figsize=(max(6.4, 4.6 * len(panels)), 4.2), layout="constrained")
    grid = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    agents = dict.fromkeys(agent for found in panels.values() for agent in found)
    looks = styles({agent: agent for agent in agents})
    for axes, (name, found) in zip(grid, panels.items(), strict=True):
        for i, (agent, (low, value, high)) in enumerate(found.items()):
            every = max(1, len(thresholds) // 9)
            marks = (i * every // len(found), every)
            axes.plot(thresholds, value, markevery=marks, **look(looks[agent]))
            alpha = 0.2 if looks[agent].dash == "-" else 0.1
            axes.fill_between(thresholds, low, high, color=looks[agent].colour, alpha=alpha, linewidth=0)
        if level is not None:
            axes.axvline(level[1], color=GREY, linestyle=":", linewidth=1.4, zorder=0)
        axes.set(xlim=(thresholds.min(), thresholds.max()), ylim=(0, 1))
        axes.set_title(name, fontsize=10)
        axes.set_xlabel(x_label)
        plain(axes)
    grid[0].set_ylabel("fraction of runs above the score")
    handles = [Line2D([], [], label=agent, **look(style)) for agent, style in looks.items()]
    handles += [] if level is None else [Line2D([], [], color=GREY, linestyle=":", label=level[0])]
    figure.legend(
        handles=handles, loc="outside lower center", ncols=_LEGEND_COLUMNS, frameon=False, fontsize=9, handlelength=3.2
    )
    figure.suptitle(title, fontsize=11)
    return save(figure, [path])[0]


def _widened(scale: Transform, low: float, high: float) -> tuple[float, float]:
    """The ends of an axis that has room for labels beside its longest bars."""
    ends = scale.transform(np.array([low, high]))
    margin = 0.12 * (ends[1] - ends[0])
    left, right = scale.inverted().transform(ends + np.array([-margin, margin]))
    return float(left), float(right)


def _percent(value: float) -> str:
    if not np.isfinite(value):
        return "–"
    digits = 1 if 0 < abs(value) < 0.0995 else 0
    return f"{100 * value:+,.{digits}f} %".replace("-", "−") if value else "0 %"
