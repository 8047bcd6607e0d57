"""The paper's questions, asked of the five MinAtar games: many seeds in minutes, on one GPU.

Every variant is a run like any other (`agents/` in the study's folder): it can be watched, evaluated and recorded, and
goes on from its last checkpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rgvf.agents import AgentConfig
from rgvf.agents.config import require
from rgvf.analysis import estimate, interquartile_mean, learning_panels, stratified_bootstrap
from rgvf.environments.games import MINATAR_GAMES
from rgvf.studies.claims import Claim
from rgvf.studies.folder import StudyFolder
from rgvf.studies.study import Conclusion, Result
from rgvf.training.config import RunConfig
from rgvf.training.run import resume, train

STOPPED = "-stop-gradient"
_BOTH = ("rgvf", "mhvp", "pixel-control", "curl")
_ABLATIONS = ("rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum")
AGENTS = (
    "a2c",
    *(f"{task}{mode}" for task in _BOTH for mode in (STOPPED, "")),
    *(f"{task}{STOPPED}" for task in _ABLATIONS),
)


@dataclass(frozen=True)
class MinAtarConfig:
    """Settings of the study; what is not here is as the paper has it for Atari."""

    seeds: int = 10
    """Independent agents of each variant."""
    frames: int = 5_000_000
    """Steps of each."""
    learning_rate: float = 2e-3
    """Of all agents and tasks."""
    feature_scale: float = 8.0
    """Length of the random vectors that features are made of."""
    hidden: int = 128
    """Units of the hidden layer of each head."""
    points: int = 100
    """Points of a learning curve."""
    checkpoints: int = 10
    """Checkpoints of a variant on its way."""

    def __post_init__(self) -> None:
        require(self, "at least 1", lambda x: x >= 1, "seeds", "frames", "hidden", "points", "checkpoints")
        require(self, "positive", lambda x: x > 0, "learning_rate", "feature_scale")

    def run(self, variant: str) -> RunConfig:
        """The run that a variant is."""
        game, _, agent = variant.partition(".")
        return RunConfig(
            env=f"minatar/{game}",
            agent=AgentConfig(
                name=agent.removesuffix(STOPPED),
                stop_gradient=agent.endswith(STOPPED),
                learning_rate=self.learning_rate,
                feature_scale=self.feature_scale,
                hidden=self.hidden,
            ),
            frames=self.frames,
            seeds=self.seeds,
            clip_rewards=0.0,
            log_every=max(1, self.frames // self.points),
            checkpoint_every=max(1, self.frames // self.checkpoints),
        )


@dataclass(frozen=True)
class Curves:
    """Learning curves of a variant."""

    frames: list[int]
    returns: np.ndarray
    """Mean return of the last 100 games: [seeds, points]."""

    @property
    def final(self) -> np.ndarray:
        """Over the last tenth of training: [seeds]."""
        last = max(1, self.returns.shape[1] // 10)
        return self.returns[:, -last:].mean(1)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Curves:
        return cls(list(data["frames"]), np.array(data["returns"], float))

    @classmethod
    def of_run(cls, path: Path, seeds: int) -> Curves:
        lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        returns = [[line["return"] or 0.0 for line in lines if line["seed"] == seed] for seed in range(seeds)]
        return cls([line["frames"] for line in lines if line["seed"] == 0], np.array(returns))


class MinAtarStudy:
    """A2C, the random questions, their rivals and their ablations, on five games."""

    name = "minatar"
    config_type = MinAtarConfig
    variants: Sequence[str] = tuple(f"{game}.{agent}" for game in MINATAR_GAMES for agent in AGENTS)

    def run(self, config: MinAtarConfig, variant: str, report: Callable[[float], None], folder: StudyFolder) -> Result:
        path = folder.path / "agents" / variant
        run, listener = config.run(variant), _Report(report)
        begun = (path / "config.json").exists()
        done = resume(path, run, listener, _never) if begun else train(run, path, listener, _never)
        assert done
        curves = Curves.of_run(path, config.seeds)
        return {"frames": curves.frames, "returns": curves.returns.tolist()}

    def is_whole(self, config: MinAtarConfig, result: Result) -> bool:
        try:
            curves = Curves.from_json(result)
            return curves.returns.shape == (config.seeds, len(curves.frames)) and curves.frames[-1] >= config.frames
        except (IndexError, KeyError, TypeError, ValueError):
            return False

    def conclude(self, config: MinAtarConfig, results: Mapping[str, Result], folder: StudyFolder) -> Conclusion:
        curves = {variant: Curves.from_json(result) for variant, result in results.items()}
        scores = normalised(curves)
        claims = check(scores)
        rows = (
            (variant, seed, frames, value)
            for variant, each in curves.items()
            for seed, values in enumerate(each.returns)
            for frames, value in zip(each.frames, values, strict=True)
        )
        folder.write_csv("curves.csv", ("variant", "seed", "frames", "return"), rows)
        folder.write_json("claims.json", {"study": self.name, "claims": [claim.to_json() for claim in claims]})
        return Conclusion(_table(curves, scores), claims, _draw(curves, folder.path), _caution(config))


class _Report:
    """Tells a study's progress what a run tells."""

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report

    def warn(self, message: str) -> None: ...

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        self._report(min(1.0, frames / total))


def _never() -> bool:
    return False


def normalised(curves: Mapping[str, Curves]) -> dict[str, np.ndarray]:
    """Final returns by agent, [games, seeds], in units of A2C's mean in the same game; only of games that have all."""
    agents = [agent for agent in AGENTS if any(variant.endswith(f".{agent}") for variant in curves)]
    games = [game for game in MINATAR_GAMES if all(f"{game}.{agent}" in curves for agent in agents)]
    if "a2c" not in agents or not games:
        return {}
    unit = {game: curves[f"{game}.a2c"].final.mean() for game in games}
    return {agent: np.stack([curves[f"{game}.{agent}"].final / unit[game] for game in games]) for agent in agents}


def check(scores: Mapping[str, np.ndarray]) -> list[Claim]:
    """The paper's claims, on the interquartile mean over games and seeds."""

    def beats(claim: str, better: str, worse: str) -> Claim:
        asked = (
            f"interquartile mean of {better} above that of {worse}, in units of A2C's mean in each game: the 95 % "
            "bootstrap interval of the difference (seeds drawn anew within each game) lies above 0"
        )
        if better not in scores or worse not in scores or scores[better].shape[1] < 2:
            return Claim(claim, asked, None)
        both = {name: scores[name] for name in (better, worse)}
        low, high = stratified_bootstrap(scores[better], scores[worse])
        figures: dict[str, Any] = {name: interquartile_mean(each) for name, each in both.items()}
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


def _table(curves: Mapping[str, Curves], scores: Mapping[str, np.ndarray]) -> list[tuple[str, ...]]:
    games = [game for game in MINATAR_GAMES if any(variant.startswith(f"{game}.") for variant in curves)]
    table = [("agent", *games, "interquartile mean / a2c")]
    for agent in AGENTS:
        found = [curves.get(f"{game}.{agent}") for game in games]
        if not any(found):
            continue
        cells = ["" if each is None else "{:.1f} ± {:.1f}".format(*estimate(each.final)) for each in found]
        whole = f"{interquartile_mean(scores[agent]):.2f}" if agent in scores else ""
        table.append((agent, *cells, whole))
    return table


def _draw(curves: Mapping[str, Curves], folder: Path) -> list[Path]:
    panels: dict[str, dict[str, tuple[Sequence[float], np.ndarray]]] = {}
    for variant, each in curves.items():
        game, _, agent = variant.partition(".")
        panels.setdefault(game, {})[agent] = (each.frames, each.returns)
    return [learning_panels(folder / "curves.png", panels, "MinAtar: mean return of the last 100 games", "return")]


def _caution(config: MinAtarConfig) -> str:
    full = MinAtarConfig()
    if config.frames >= full.frames and config.seeds >= full.seeds:
        return ""
    return f"With {config.frames:,} frames and {config.seeds} seeds instead of {full.frames:,} and {full.seeds}."


STUDY = MinAtarStudy()
