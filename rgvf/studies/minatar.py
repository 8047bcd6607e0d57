"""The paper's questions, asked of the five MinAtar games: many seeds in minutes, on one GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rgvf.agents import AgentConfig
from rgvf.agents.config import require
from rgvf.analysis import (
    estimate,
    interquartile_mean,
    interquartile_means_drawn_anew,
    interval,
    intervals,
    learning_panels,
)
from rgvf.environments.games import MINATAR_GAMES
from rgvf.studies.claims import Claim
from rgvf.studies.folder import StudyFolder
from rgvf.studies.runs import LEGEND, Curves, RunsConfig, RunsStudy, write_curves
from rgvf.studies.study import Conclusion, Result
from rgvf.training.config import RunConfig

STOPPED = "-stop-gradient"
_BOTH = ("rgvf", "mhvp", "pixel-control", "curl")
_ABLATIONS = ("rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum")
UNIT = "a2c"
"""The agent whose mean in a game the others are measured by."""
AGENTS = (
    UNIT,
    *(f"{task}{mode}" for task in _BOTH for mode in (STOPPED, "")),
    *(f"{task}{STOPPED}" for task in _ABLATIONS),
)


class Tuning(NamedTuple):
    """What is searched for each agent on one game, and then fixed for all."""

    learning_rate: float
    feature_scale: float = 8.0


TUNED: Mapping[str, Tuning] = {
    "a2c": Tuning(4e-3),
    "rgvf-stop-gradient": Tuning(8e-3),
    "rgvf": Tuning(8e-3),
    "mhvp-stop-gradient": Tuning(4e-3),
    "mhvp": Tuning(4e-3),
    "pixel-control-stop-gradient": Tuning(8e-3),
    "pixel-control": Tuning(8e-3),
    "curl-stop-gradient": Tuning(8e-3),
    "curl": Tuning(8e-3),
    "rgvf-no-actions-stop-gradient": Tuning(4e-3),
    "rgvf-shallow-stop-gradient": Tuning(8e-3),
    "rgvf-discounted-sum-stop-gradient": Tuning(2e-3),
}
"""The best that `rgvf study minatar-tuning` found on Breakout: docs/results/minatar.md."""


@dataclass(frozen=True)
class MinAtarConfig(RunsConfig):
    """Settings of the study; what is not here is as the paper has it for Atari."""

    learning_rate: float | None = None
    """Of all agents and tasks; by default each agent's own, found by the study minatar-tuning."""
    feature_scale: float | None = None
    """Length of the random vectors that features are made of; by default each agent's own, found in the same way."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "positive", lambda x: x is None or x > 0, "learning_rate", "feature_scale")

    def runs(self, variants: Sequence[str]) -> dict[str, RunConfig]:
        return {variant: self._run(*variant.split(".")) for variant in variants}

    def _run(self, game: str, agent: str) -> RunConfig:
        tuned = TUNED[agent]
        tuning = Tuning(self.learning_rate or tuned.learning_rate, self.feature_scale or tuned.feature_scale)
        return self.run_of(game, agent_of(agent, tuning, self.hidden))


def agent_of(name: str, tuning: Tuning, hidden: int) -> AgentConfig:
    """The agent of this name in `AGENTS`."""
    task, stopped = name.removesuffix(STOPPED), name.endswith(STOPPED)
    return AgentConfig(name=task, stop_gradient=stopped, hidden=hidden, **tuning._asdict())


class MinAtarStudy(RunsStudy):
    """A2C, the random questions, their rivals and their ablations, on five games."""

    name = "minatar"
    config_type = MinAtarConfig
    variants: Sequence[str] = tuple(f"{game}.{agent}" for game in MINATAR_GAMES for agent in AGENTS)

    def game(self, variant: str) -> str:
        return variant.partition(".")[0]

    def conclude(self, config: MinAtarConfig, results: Mapping[str, Result], folder: StudyFolder) -> Conclusion:
        curves = {variant: Curves.from_json(result) for variant, result in results.items()}
        found = aggregate(final_returns(curves))
        write_curves(folder, curves)
        games = whole_games(curves)
        missing = f"Only of {', '.join(games)}." if 0 < len(games) < len(MINATAR_GAMES) else ""
        caution = " ".join(filter(None, (config.caution, missing)))
        legend = f"{LEGEND}, mean ± standard error over seeds; the last column is over games and seeds."
        return Conclusion(_table(curves, found), check(found), _draw(curves, found, folder.path), legend, caution)


def _agents(curves: Mapping[str, Curves]) -> list[str]:
    return [agent for agent in AGENTS if any(variant.endswith(f".{agent}") for variant in curves)]


def whole_games(curves: Mapping[str, Curves]) -> list[str]:
    """Games that all agents were trained in which were trained at all."""
    return [game for game in MINATAR_GAMES if all(f"{game}.{agent}" in curves for agent in _agents(curves))]


def final_returns(curves: Mapping[str, Curves]) -> dict[str, np.ndarray]:
    """By agent, [games, seeds]; only of games that have all agents, and in which A2C scored at all."""
    agents = _agents(curves)
    if UNIT not in agents:
        return {}
    games = [game for game in whole_games(curves) if curves[f"{game}.{UNIT}"].final.mean() > 0]
    if not games:
        return {}
    return {agent: np.stack([curves[f"{game}.{agent}"].final for game in games]) for agent in agents}


class Aggregate(NamedTuple):
    """An agent's interquartile mean over games and seeds, in units of A2C's mean in each game."""

    mean: float
    drawn: np.ndarray
    """The same, of seeds that were drawn anew: [resamples]."""
    seeds: int


def aggregate(scores: Mapping[str, np.ndarray]) -> dict[str, Aggregate]:
    """Of each agent, from its returns [games, seeds]."""
    if not scores:
        return {}
    unit = scores[UNIT].mean(1, keepdims=True)
    drawn = interquartile_means_drawn_anew(scores, UNIT)
    return {
        agent: Aggregate(interquartile_mean(each / unit), drawn[agent], each.shape[1]) for agent, each in scores.items()
    }


def check(found: Mapping[str, Aggregate]) -> list[Claim]:
    """The paper's claims, on the interquartile mean over games and seeds."""

    def beats(claim: str, better: str, worse: str) -> Claim:
        asked = (
            f"interquartile mean of {better} above that of {worse}, in units of A2C's mean in each game: the 95 % "
            "bootstrap interval of the difference (seeds drawn anew within each game, A2C's too) lies above 0"
        )
        if better not in found or worse not in found or found[better].seeds < 2:
            return Claim(claim, asked, None)
        low, high = interval(found[better].drawn - found[worse].drawn)
        figures: dict[str, Any] = {name: found[name].mean for name in (better, worse)}
        return Claim(claim, asked, low > 0, {**figures, "difference, 95 % interval": [low, high]})

    ours = f"rgvf{STOPPED}"
    return [
        beats("Stop-gradient random GVFs outperform end-to-end A2C.", ours, "a2c"),
        beats("Depth matters: deep questions outperform shallow ones.", ours, f"rgvf-shallow{STOPPED}"),
        beats("Action-conditioning matters.", ours, f"rgvf-no-actions{STOPPED}"),
        beats("Random deep questions outperform discounted sums.", ours, f"rgvf-discounted-sum{STOPPED}"),
        beats("Stop-gradient random GVFs outperform multi-horizon values.", ours, f"mhvp{STOPPED}"),
        beats("Stop-gradient random GVFs outperform pixel control.", ours, f"pixel-control{STOPPED}"),
        beats("Stop-gradient random GVFs outperform CURL.", ours, f"curl{STOPPED}"),
        beats("End to end, random GVFs outperform A2C.", "rgvf", "a2c"),
        beats("End to end, random GVFs outperform multi-horizon values.", "rgvf", "mhvp"),
    ]


def _table(curves: Mapping[str, Curves], aggregates: Mapping[str, Aggregate]) -> list[tuple[str, ...]]:
    games = [game for game in MINATAR_GAMES if any(variant.startswith(f"{game}.") for variant in curves)]
    table = [("agent", *games, f"interquartile mean / {UNIT}")]
    for agent in AGENTS:
        found = [curves.get(f"{game}.{agent}") for game in games]
        if not any(found):
            continue
        cells = ["" if each is None else "{:.1f} ± {:.1f}".format(*estimate(each.final)) for each in found]
        whole = f"{aggregates[agent].mean:.2f}" if agent in aggregates else ""
        table.append((agent, *cells, whole))
    return table


def _draw(curves: Mapping[str, Curves], aggregates: Mapping[str, Aggregate], folder: Path) -> list[Path]:
    panels: dict[str, dict[str, tuple[Sequence[float], np.ndarray]]] = {}
    for variant, each in curves.items():
        game, _, agent = variant.partition(".")
        panels.setdefault(game, {})[agent] = (each.frames, each.returns)
    title = "MinAtar: return of the last 100 games, mean ± standard error over seeds"
    pictures = [learning_panels(folder / "curves.png", panels, title, "return")]
    if aggregates:
        found: dict[str, tuple[float, float, float]] = {}
        for agent, each in aggregates.items():
            low, high = interval(each.drawn)
            found[agent] = low, each.mean, high
        title = "MinAtar: interquartile mean over games and seeds, 95 % bootstrap interval"
        pictures.append(intervals(folder / "aggregate.png", found, title, "final return / A2C's mean in the game"))
    return pictures


STUDY = MinAtarStudy()
