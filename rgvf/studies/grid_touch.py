"""Figures 3b and 4 of the paper: deeper action-conditional questions about one feature make finer states."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rgvf.analysis import heat_maps
from rgvf.features import Touch
from rgvf.questions import discounted_sum
from rgvf.studies import Claim, Curves, beats, falls, matches
from rgvf.studies.grid import GridStudy, draw_curves
from rgvf.studies.grid_agents import GridConfig, GridVariant, touch_tree

VARIANTS: dict[str, GridVariant] = {
    "end-to-end": GridVariant("end-to-end", end_to_end=True),
    "random": GridVariant("random representation"),
    "discounted-sum": GridVariant(
        "discounted sum", lambda config, seed: (discounted_sum(["touch"], config.question_discount), Touch())
    ),
    **{f"tree-{depth}": touch_tree(depth) for depth in (1, 2, 3, 4)},
}


def claims(config: GridConfig, curves: Mapping[str, Curves]) -> list[Claim]:
    """The paper's claims about Figures 3b and 4."""
    finals = {name: each.final for name, each in curves.items()}
    match = 0.05 * float(np.var(config.room.values(config.discount)))
    trees = [f"tree-{depth}" for depth in (1, 2, 3)]
    return [
        beats(
            "Even a tree of depth 1 performs much better than the random representation.",
            "final MSE of tree-1 below random's by more than two standard errors of the paired difference",
            finals,
            "tree-1",
            ["random"],
        ),
        beats(
            "Even a tree of depth 1 performs much better than the discounted sum.",
            "final MSE of tree-1 below discounted-sum's by more than two standard errors of the paired difference",
            finals,
            "tree-1",
            ["discounted-sum"],
        ),
        falls(
            "Performance increases monotonically with depth until depth 3.",
            "final MSE falls from tree-1 to tree-2 to tree-3, each time by more than two paired standard errors",
            finals,
            trees,
        ),
        matches(
            "At depth 3 the error matches end-to-end training.",
            "final MSE of tree-3 and tree-4 less than 5 % of the true values' variance above end-to-end's",
            finals,
            ["tree-3", "tree-4"],
            "end-to-end",
            match,
        ),
    ]


def draw(config: GridConfig, curves: Mapping[str, Curves], folder: Path) -> list[Path]:
    """The learning curves and the value maps."""
    shape = (config.size, config.size)
    maps = {"true values": config.room.values(config.discount).reshape(shape)}
    maps |= {
        VARIANTS[name].label: curves[name].arrays["values"][0].reshape(shape) for name in VARIANTS if name in curves
    }
    values = "Learned values (seed 0), by what trained the representation; the frame marks the goal"
    title = "Error of the learned values, by what trained the representation"
    return [
        draw_curves(folder / "curves.png", VARIANTS, curves, title),
        heat_maps(folder / "values.png", maps, values, config.goal),
    ]


STUDY = GridStudy("grid-touch", VARIANTS, claims, draw)
