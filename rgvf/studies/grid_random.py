"""Figure 3c of the paper: random questions about random features do as well as full trees about a chosen one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rgvf.features import Feature, Touch
from rgvf.questions import QuestionNetwork, random_network
from rgvf.studies import Claim, Curves, falls, matches
from rgvf.studies.grid import GridStudy, draw_curves
from rgvf.studies.grid_agents import GridConfig, GridVariant, Questions, random_features, touch_tree

DEPTH = 4
FEATURES = (1, 4, 16, 64)


def _random_questions(n: int) -> Questions:
    """Random questions about n random features, or about touch where n is 0."""

    def make(config: GridConfig, seed: int) -> tuple[QuestionNetwork, Feature]:
        feature = random_features(config, seed, n) if n else Touch()
        actions = config.room.actions
        repeat = len(feature.names)
        discount = config.question_discount
        network = random_network(
            feature.names, actions, discount=discount, depth=DEPTH, repeat=repeat, seed=seed, cap_repeat=True
        )
        return network, feature

    return make


VARIANTS: dict[str, GridVariant] = {
    f"tree-{DEPTH}": touch_tree(DEPTH),
    "touch": GridVariant("random questions, touch", _random_questions(0)),
    **{
        f"random-{n}": GridVariant(f"random questions, {n} random feature{'s' * (n > 1)}", _random_questions(n))
        for n in FEATURES
    },
}


def claims(config: GridConfig, curves: Mapping[str, Curves]) -> list[Claim]:
    """The paper's claims about Figure 3c."""
    finals = {name: each.final for name, each in curves.items()}
    match = 0.05 * float(np.var(config.room.values(config.discount)))
    return [
        matches(
            "Random questions about touch perform as well as the full tree of depth 4.",
            "final MSE of touch less than 5 % of the true values' variance above tree-4's",
            finals,
            ["touch"],
            "tree-4",
            match,
        ),
        falls(
            "With one random feature performance is suboptimal; more random features improve it.",
            "final MSE falls from random-1 to random-64 by more than two standard errors of the paired difference",
            finals,
            ["random-1", "random-64"],
        ),
        falls(
            "As the number of random features increases, the performance improves.",
            "final MSE falls at every step from 1 to 4 to 16 to 64 features by more than two paired standard errors",
            finals,
            [f"random-{n}" for n in FEATURES],
        ),
        matches(
            "With 64 random features, random questions match the full tree of depth 4.",
            "final MSE of random-64 less than 5 % of the true values' variance above tree-4's",
            finals,
            ["random-64"],
            "tree-4",
            match,
        ),
    ]


def draw(config: GridConfig, curves: Mapping[str, Curves], folder: Path) -> list[Path]:
    """The learning curves."""
    title = "Error of the learned values, by what trained the representation"
    return [draw_curves(folder / "curves.png", VARIANTS, curves, title)]


STUDY = GridStudy("grid-random", VARIANTS, claims, draw)
