"""The studies by name. A new study is a module with `STUDY`, and a line here; it is imported only when it is run."""

from __future__ import annotations

from importlib import import_module

from rgvf.messages import unknown
from rgvf.studies.study import Study

STUDIES = {
    "grid-touch": ("rgvf.studies.grid_touch", "grid world, deeper and deeper questions about walls (Figures 3b and 4)"),
    "grid-random": ("rgvf.studies.grid_random", "grid world, random questions about random features (Figure 3c)"),
    "minatar": ("rgvf.studies.minatar", "five MinAtar games, twelve agents: the paper's comparisons in small"),
    "minatar-robustness": (
        "rgvf.studies.minatar_robustness",
        "MinAtar's Breakout, other hyperparameters of the questions (Figure 6)",
    ),
    "minatar-reward": (
        "rgvf.studies.minatar_reward",
        "five MinAtar games, questions about reward beside random ones: beyond the paper",
    ),
    "minatar-balance": (
        "rgvf.studies.minatar_balance",
        "MinAtar, how much the two kinds of questions should weigh, and whether an agent can learn it",
    ),
    "minatar-tuning": (
        "rgvf.studies.minatar_tuning",
        "MinAtar's Breakout, the search for the learning rates of minatar and minatar-robustness",
    ),
    "craftax": (
        "rgvf.studies.craftax",
        "Craftax-Classic, five agents with the settings of MinAtar: nothing was tuned there",
    ),
    "atari-49": ("rgvf.studies.atari_49", "49 Atari games, nine agents: the paper's comparison (Figures 7a and 7b)"),
    "atari-ablation": ("rgvf.studies.atari_ablation", "six Atari games, four kinds of random questions (Figure 5)"),
    "atari-robustness": (
        "rgvf.studies.atari_robustness",
        "three Atari games, other hyperparameters of the questions (Figure 6)",
    ),
    "dmlab-12": (
        "rgvf.studies.dmlab_12",
        "12 levels of DeepMind Lab, seven agents: the paper's comparison (Figure 7c)",
    ),
    "doom": ("rgvf.studies.doom", "two scenarios of ViZDoom or others, eight agents: beyond the paper"),
}
"""The module of each study, and a line about it. Add your own here."""


def find_study(name: str) -> Study:
    """The study of this name. ValueError with the nearest name where there is none."""
    if name not in STUDIES:
        raise ValueError(unknown("study", name, STUDIES, cutoff=0.5))
    return import_module(STUDIES[name][0]).STUDY
