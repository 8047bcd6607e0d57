"""How much the random questions' hyperparameters matter (the paper's Figure 6): samples, claims, figures.

Each of four is sampled uniformly twenty times while the others keep their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rgvf.agents import STOPPED
from rgvf.analysis import Scatter, agent_style, line_of_best_fit, scatter_panels, show_estimate, slope_interval
from rgvf.studies.claims import Claim
from rgvf.tasks import RandomQuestions

SAMPLES = 20
BASELINE = "a2c"
OURS = f"rgvf{STOPPED}"
"""The agent whose hyperparameters are sampled."""
HEADER = ("hyperparameter", "lowest", "median", "highest", "slope of the line of best fit")
"""Of the table."""
Finals = Mapping[str, np.ndarray]
"""Final returns [seeds] by the name of a sample, and of the baseline."""


class Range(NamedTuple):
    """The range of a hyperparameter."""

    low: float
    high: float

    def sample(self, rng: np.random.Generator) -> list[float] | list[int]:
        """As many values as there are samples."""
        if isinstance(self.low, int):
            return rng.integers(self.low, int(self.high), size=SAMPLES, endpoint=True).tolist()
        return rng.uniform(self.low, self.high, SAMPLES).tolist()


class Sample(NamedTuple):
    """A value of a hyperparameter."""

    name: str
    number: int
    value: float

    @property
    def questions(self) -> dict[str, Any]:
        """The settings of the random questions."""
        return {"cap_repeat": True, self.name: self.value}


RANGES: Mapping[str, Range] = {
    "discount": Range(0.5, 0.999),
    "depth": Range(1, 16),
    "repeat": Range(1, 32),
    "features": Range(1, 64),
}
"""By their names in the settings of random questions."""


def _sampled() -> dict[str, Sample]:
    rng = np.random.default_rng(0)
    values = {name: each.sample(rng) for name, each in RANGES.items()}
    return {f"{name}.{i:02d}": Sample(name, i, value) for name in RANGES for i, value in enumerate(values[name])}


SAMPLED = _sampled()
"""All samples by name, such as depth.07; they are the same in every game."""


def samples(finals: Finals, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of a hyperparameter and the mean final return at each."""
    found = [(each.value, finals[key].mean()) for key, each in SAMPLED.items() if each.name == name and key in finals]
    values, scores = np.array(found, float).reshape(-1, 2).T
    return values, scores


def check(finals: Finals, game: str = "") -> list[Claim]:
    """What the paper says about Figure 6; a game's name comes before each claim."""
    of = f"{game}: " if game else ""
    whole = all(name in finals for name in SAMPLED)
    claims: list[Claim] = []
    for name in ("discount", "depth"):
        claim = f"{of}Performance and {name} are positively correlated."
        how = "the slope of the line of best fit is above 0 by its 95 % bootstrap interval (samples resampled)"
        if not whole:
            claims.append(Claim(claim, how, None))
            continue
        low, high = slope_interval(*samples(finals, name))
        slope = line_of_best_fit(*samples(finals, name))[0]
        claims.append(Claim(claim, how, low > 0, {"slope": slope, "95 % interval": [low, high]}))
    claim = f"{of}Each hyperparameter has a range of values that achieves high performance."
    how = "of each hyperparameter, at least half of the samples end above A2C's mean"
    if not whole or BASELINE not in finals:
        return [*claims, Claim(claim, how, None)]
    level = float(finals[BASELINE].mean())
    shares = {name: float((samples(finals, name)[1] > level).mean()) for name in RANGES}
    figures = {"above A2C": shares, "A2C": level}
    return [*claims, Claim(claim, how, all(share >= 0.5 for share in shares.values()), figures)]


def rows(finals: Finals) -> list[tuple[str, ...]]:
    """The rows of the table below `HEADER`."""
    found: list[tuple[str, ...]] = []
    for name in RANGES:
        values, scores = samples(finals, name)
        if len(values):
            slope = f"{line_of_best_fit(values, scores)[0]:+.3g}" if len(set(values)) > 1 else ""
            found.append((name, *(f"{q:,.1f}" for q in np.percentile(scores, [0, 50, 100])), slope))
    if BASELINE in finals:
        found.append((BASELINE, "", show_estimate(finals[BASELINE]), "", ""))
    return found


def draw(finals: Finals, path: Path, game: str) -> Path:
    """The scatter plots of a game; at least one sample is there."""
    level = ("A2C", float(finals[BASELINE].mean())) if BASELINE in finals else None
    default = RandomQuestions()
    found = {name: samples(finals, name) for name in RANGES}
    panels = {name: Scatter(*each, getattr(default, name)) for name, each in found.items() if len(each[0])}
    seeds = max(len(each) for name, each in finals.items() if name in SAMPLED)
    each_is = f"mean of {seeds} seeds" if seeds > 1 else "one seed"
    title = f"{game}: stop-gradient rgvf with other hyperparameters (each point: {each_is})"
    return scatter_panels(path, panels, title, "final return", agent_style(OURS).colour, "default of rgvf", level)
