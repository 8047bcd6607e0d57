"""The studies by name. A study's module is imported only when it is run."""

from __future__ import annotations

import difflib
from importlib import import_module

from rgvf.studies.study import Study

STUDIES = {
    "grid-touch": ("rgvf.studies.grid_touch", "grid world, deeper and deeper questions about walls (Figures 3b and 4)"),
    "grid-random": ("rgvf.studies.grid_random", "grid world, random questions about random features (Figure 3c)"),
    "minatar": ("rgvf.studies.minatar", "five MinAtar games, twelve agents: the paper's comparisons in small"),
    "minatar-robustness": (
        "rgvf.studies.minatar_robustness",
        "MinAtar's Breakout, other hyperparameters of the questions (Figure 5)",
    ),
    "minatar-tuning": (
        "rgvf.studies.minatar_tuning",
        "MinAtar's Breakout, the search for the learning rates of the two studies above",
    ),
}


def find_study(name: str) -> Study:
    if name not in STUDIES:
        near = difflib.get_close_matches(name, STUDIES, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(STUDIES)}."
        raise ValueError(f"there is no study {name!r}; {hint}")
    return import_module(STUDIES[name][0]).STUDY
