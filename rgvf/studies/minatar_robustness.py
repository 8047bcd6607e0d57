"""How much the random questions' hyperparameters matter (the paper's Figure 5), on MinAtar's Breakout.

Each of four is drawn uniformly twenty times while the others stay at their defaults. The question networks differ in
shape; padded to one, they are trained side by side.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rgvf.agents import AgentConfig, question_networks
from rgvf.analysis import Scatter, estimate, line_of_best_fit, scatter_panels, slope_interval
from rgvf.environments.sources import parse_source
from rgvf.studies.claims import Claim
from rgvf.studies.folder import StudyFolder
from rgvf.studies.minatar import STOPPED, TUNED, agent_of
from rgvf.studies.runs import LEGEND, Curves, RunsConfig, RunsStudy, write_curves
from rgvf.studies.study import Conclusion, Result
from rgvf.training.config import RunConfig
from rgvf.training.worlds import world_of_source

GAME = "Breakout"
SAMPLES = 20
BASELINE = "a2c"
_OURS = f"rgvf{STOPPED}"


class Range(NamedTuple):
    """What a hyperparameter is drawn from, and which field of the agent's configuration it is."""

    field: str
    low: float
    high: float

    def draw(self, rng: np.random.Generator) -> list[float] | list[int]:
        if isinstance(self.low, int):
            return rng.integers(self.low, int(self.high), size=SAMPLES, endpoint=True).tolist()
        return rng.uniform(self.low, self.high, SAMPLES).tolist()


RANGES: Mapping[str, Range] = {
    "discount": Range("question_discount", 0.5, 0.999),
    "depth": Range("depth", 1, 16),
    "repeat": Range("repeat", 1, 32),
    "features": Range("features", 1, 64),
}


def _drawn() -> dict[str, tuple[str, int, float]]:
    """All variants but the baseline: the hyperparameter, the number of the sample, and the value."""
    rng = np.random.default_rng(0)
    values = {name: each.draw(rng) for name, each in RANGES.items()}
    return {f"{name}.{i:02d}": (name, i, value) for name in RANGES for i, value in enumerate(values[name])}


VARIANTS = _drawn()


def _asked(variant: str) -> dict[str, Any]:
    """What is special about an agent's questions."""
    name, _, value = VARIANTS[variant]
    return {"cap_repeat": True, RANGES[name].field: value}


@functools.cache
def _room() -> tuple[int, int]:
    """Predictions and features of the largest networks."""
    world = world_of_source(parse_source(f"minatar/{GAME}"))
    networks = [question_networks(AgentConfig(**_asked(variant)), world, seed=0)["rgvf"] for variant in VARIANTS]
    return max(each.n_predictions for each in networks), max(each.n_features for each in networks)


@dataclass(frozen=True)
class RobustnessConfig(RunsConfig):
    """Settings of the study; agents learn at the rates that the study minatar-tuning found."""

    seeds: int = 3
    """Independent agents of each sample; no two samples of a hyperparameter share one."""
    points: int = 50
    """Points of a learning curve."""
    checkpoints: int = 5
    """Checkpoints of a variant on its way."""

    def runs(self, variants: Sequence[str]) -> dict[str, RunConfig]:
        """The run that each of the variants is. Their networks have the same shape, whichever of them are run."""
        return {variant: self._run(variant) for variant in variants}

    def _run(self, variant: str) -> RunConfig:
        if variant == BASELINE:
            return self.run_of(GAME, agent_of(BASELINE, TUNED[BASELINE], self.hidden))
        predictions, features = _room()
        agent = dataclasses.replace(
            agent_of(_OURS, TUNED[_OURS], self.hidden),
            **_asked(variant),
            pad_predictions=predictions,
            pad_features=features,
        )
        return self.run_of(GAME, agent, first_seed=VARIANTS[variant][1] * self.seeds)


class RobustnessStudy(RunsStudy):
    """Stop-gradient random questions with other hyperparameters, and A2C to compare with."""

    name = "minatar-robustness"
    config_type = RobustnessConfig
    variants: Sequence[str] = (*VARIANTS, BASELINE)

    def game(self, variant: str) -> str:
        return GAME

    def conclude(self, config: RobustnessConfig, results: Mapping[str, Result], folder: StudyFolder) -> Conclusion:
        curves = {variant: Curves.from_json(result) for variant, result in results.items()}
        write_curves(folder, curves)
        finals = {variant: each.final for variant, each in curves.items()}
        claims = check(finals)
        rows = (
            (name, value, seed, score)
            for variant, (name, _, value) in VARIANTS.items()
            if variant in curves
            for seed, score in zip(curves[variant].seeds, curves[variant].final.round(3), strict=True)
        )
        folder.write_csv("scores.csv", ("hyperparameter", "value", "seed", "return"), rows)
        done = sum(variant in finals for variant in VARIANTS)
        pictures = [_draw(finals, folder)] if done else []
        missing = f"Only {done} of {len(VARIANTS)} samples." if done < len(VARIANTS) else ""
        caution = " ".join(filter(None, (config.caution, missing)))
        return Conclusion(_table(finals), claims, pictures, f"{LEGEND}, means over seeds.", caution)


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
        asked = "the slope of the line of best fit is above 0 by its 95 % bootstrap interval (samples drawn anew)"
        if not whole:
            claims.append(Claim(claim, asked, None))
            continue
        low, high = slope_interval(*samples(finals, name))
        slope = line_of_best_fit(*samples(finals, name))[0]
        claims.append(Claim(claim, asked, low > 0, {"slope": slope, "95 % interval": [low, high]}))
    claim = "Each hyperparameter has a range of values that achieves high performance."
    asked = "of each hyperparameter, at least half of the samples end above A2C's mean"
    if not whole or BASELINE not in finals:
        return [*claims, Claim(claim, asked, None)]
    level = float(finals[BASELINE].mean())
    shares = {name: float((samples(finals, name)[1] > level).mean()) for name in RANGES}
    figures = {"above A2C": shares, "A2C": level}
    return [*claims, Claim(claim, asked, all(share >= 0.5 for share in shares.values()), figures)]


def _table(finals: Mapping[str, np.ndarray]) -> list[tuple[str, ...]]:
    table: list[tuple[str, ...]] = [("hyperparameter", "lowest", "median", "highest", "slope of the line of best fit")]
    for name in RANGES:
        values, scores = samples(finals, name)
        if len(values):
            slope = f"{line_of_best_fit(values, scores)[0]:+.3g}" if len(set(values)) > 1 else ""
            table.append((name, *(f"{q:.1f}" for q in np.percentile(scores, [0, 50, 100])), slope))
    if BASELINE in finals:
        table.append((BASELINE, "", "{:.1f} ± {:.1f}".format(*estimate(finals[BASELINE])), "", ""))
    return table


def _draw(finals: Mapping[str, np.ndarray], folder: StudyFolder) -> Any:
    level = float(finals[BASELINE].mean()) if BASELINE in finals else None
    default = AgentConfig()
    found = {name: samples(finals, name) for name in RANGES}
    panels = {
        name: Scatter(*each, getattr(default, RANGES[name].field)) for name, each in found.items() if len(each[0])
    }
    title = f"{GAME}: stop-gradient rgvf with other hyperparameters (dashed: A2C; upright: the default)"
    return scatter_panels(folder.path / "scatter.png", panels, title, "final return", level)


STUDY = RobustnessStudy()
