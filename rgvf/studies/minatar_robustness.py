"""How much the random questions' hyperparameters matter (the paper's Figure 5), on MinAtar's Breakout.

Each of four is sampled uniformly twenty times while the others keep their defaults.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rgvf.agents import STOPPED
from rgvf.analysis import Scatter, agent_style, line_of_best_fit, scatter_panels, show_estimate, slope_interval
from rgvf.runs import RunConfig
from rgvf.studies.base import Claim, Conclusion, Curves, StudyFolder, write_curves
from rgvf.studies.minatar import TUNED, PaperAgentsConfig, agent_config
from rgvf.studies.runs import LEGEND, RunsStudy
from rgvf.tasks import RandomQuestions

GAME = "Breakout"
SAMPLES = 20
BASELINE = "a2c"
_OURS = f"rgvf{STOPPED}"


class Range(NamedTuple):
    """The range of a hyperparameter, and its name in the settings of random questions."""

    field: str
    low: float
    high: float

    def sample(self, rng: np.random.Generator) -> list[float] | list[int]:
        """As many values as there are samples."""
        if isinstance(self.low, int):
            return rng.integers(self.low, int(self.high), size=SAMPLES, endpoint=True).tolist()
        return rng.uniform(self.low, self.high, SAMPLES).tolist()


RANGES: Mapping[str, Range] = {
    "discount": Range("discount", 0.5, 0.999),
    "depth": Range("depth", 1, 16),
    "repeat": Range("repeat", 1, 32),
    "features": Range("features", 1, 64),
}


def _sampled() -> dict[str, tuple[str, int, float]]:
    """All variants but the baseline: the hyperparameter, the number of the sample, and the value."""
    rng = np.random.default_rng(0)
    values = {name: each.sample(rng) for name, each in RANGES.items()}
    return {f"{name}.{i:02d}": (name, i, value) for name in RANGES for i, value in enumerate(values[name])}


VARIANTS = _sampled()


@dataclass(frozen=True)
class RobustnessConfig(PaperAgentsConfig):
    """Settings of the study; agents learn at the rates that the study minatar-tuning found."""

    seeds: int = 3
    """Number of independent agents for each sample; no two samples of a hyperparameter share a seed."""
    points: int = 50
    """Points of a learning curve."""
    checkpoints: int = 5
    """Checkpoints of a run."""


class RobustnessStudy(RunsStudy):
    """Stop-gradient random questions with other hyperparameters, and A2C to compare with."""

    name = "minatar-robustness"
    config_type = RobustnessConfig
    variants: Sequence[str] = (*VARIANTS, BASELINE)

    def run_config(self, config: RobustnessConfig, variant: str) -> RunConfig:
        """A sample of a hyperparameter, or the baseline."""
        env = f"minatar/{GAME}"
        if variant == BASELINE:
            return config.run_config(env, agent_config(BASELINE, TUNED[BASELINE], config.hidden))
        name, number, value = VARIANTS[variant]
        questions: dict[str, Any] = {"cap_repeat": True, RANGES[name].field: value}
        agent = agent_config(_OURS, TUNED[_OURS], config.hidden, **questions)
        return config.run_config(env, agent, first_seed=number * config.seeds)

    def batch(self, variant: str) -> str:
        """All of them: their question networks are padded to one size."""
        return GAME

    def conclude(self, config: RobustnessConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The table, the claims and the scatter plots."""
        sampled = {variant: value for variant, (_, _, value) in VARIANTS.items() if variant in curves}
        write_curves(folder, self.measure, curves, samples=sampled)
        finals = {variant: each.final for variant, each in curves.items()}
        figures = [draw(finals, folder.path)] if sampled else []
        missing = f"Only {len(sampled)} of {len(VARIANTS)} samples." if len(sampled) < len(VARIANTS) else ""
        caution = " ".join(filter(None, (config.caution, missing)))
        return Conclusion(_table(finals), check(finals), figures, f"{LEGEND}, means over seeds.", caution)


def samples(finals: Mapping[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Values of a hyperparameter and the mean final return at each."""
    found = [
        (value, finals[variant].mean())
        for variant, (n, _, value) in VARIANTS.items()
        if n == name and variant in finals
    ]
    values, scores = np.array(found, float).reshape(-1, 2).T
    return values, scores


def check(finals: Mapping[str, np.ndarray]) -> list[Claim]:
    """What the paper says about Figure 5."""
    whole = all(variant in finals for variant in VARIANTS)
    claims: list[Claim] = []
    for name in ("discount", "depth"):
        claim = f"Performance and {name} are positively correlated."
        how = "the slope of the line of best fit is above 0 by its 95 % bootstrap interval (samples resampled)"
        if not whole:
            claims.append(Claim(claim, how, None))
            continue
        low, high = slope_interval(*samples(finals, name))
        slope = line_of_best_fit(*samples(finals, name))[0]
        claims.append(Claim(claim, how, low > 0, {"slope": slope, "95 % interval": [low, high]}))
    claim = "Each hyperparameter has a range of values that achieves high performance."
    how = "of each hyperparameter, at least half of the samples end above A2C's mean"
    if not whole or BASELINE not in finals:
        return [*claims, Claim(claim, how, None)]
    level = float(finals[BASELINE].mean())
    shares = {name: float((samples(finals, name)[1] > level).mean()) for name in RANGES}
    figures = {"above A2C": shares, "A2C": level}
    return [*claims, Claim(claim, how, all(share >= 0.5 for share in shares.values()), figures)]


def _table(finals: Mapping[str, np.ndarray]) -> list[tuple[str, ...]]:
    table: list[tuple[str, ...]] = [("hyperparameter", "lowest", "median", "highest", "slope of the line of best fit")]
    for name in RANGES:
        values, scores = samples(finals, name)
        if len(values):
            slope = f"{line_of_best_fit(values, scores)[0]:+.3g}" if len(set(values)) > 1 else ""
            table.append((name, *(f"{q:.1f}" for q in np.percentile(scores, [0, 50, 100])), slope))
    if BASELINE in finals:
        table.append((BASELINE, "", show_estimate(finals[BASELINE]), "", ""))
    return table


def draw(finals: Mapping[str, np.ndarray], folder: Path) -> Path:
    """The scatter plots."""
    level = ("A2C", float(finals[BASELINE].mean())) if BASELINE in finals else None
    default = RandomQuestions()
    found = {name: samples(finals, name) for name in RANGES}
    panels = {
        name: Scatter(*each, getattr(default, RANGES[name].field)) for name, each in found.items() if len(each[0])
    }
    seeds = max(map(len, finals.values()))
    each_is = f"mean of {seeds} seeds" if seeds > 1 else "one seed"
    title = f"{GAME}: stop-gradient rgvf with other hyperparameters (each point: {each_is})"
    colour = agent_style(_OURS).colour
    path = folder / "scatter.png"
    return scatter_panels(path, panels, title, "final return", colour, "default of rgvf", level)


STUDY = RobustnessStudy()
