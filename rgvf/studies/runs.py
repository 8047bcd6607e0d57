"""Studies whose variants are training runs, kept under `agents/` in the study's folder.

Each can be watched, evaluated and recorded like any other, and goes on from its last checkpoint.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rgvf.agents import AgentConfig
from rgvf.agents.config import require, settle
from rgvf.studies.folder import StudyFolder
from rgvf.studies.study import Result
from rgvf.training.config import RunConfig
from rgvf.training.packs import seeds_are_listed
from rgvf.training.run import train_together

LEGEND = "Return over the last tenth of training"


@dataclass(frozen=True)
class Curves:
    """Learning curves of a run."""

    frames: list[int]
    returns: np.ndarray
    """Mean return of the last 100 games: [seeds, points]."""
    first_seed: int = 0

    @property
    def final(self) -> np.ndarray:
        """Over the last tenth of training: [seeds]."""
        last = max(1, self.returns.shape[1] // 10)
        return self.returns[:, -last:].mean(1)

    @property
    def seeds(self) -> range:
        return range(self.first_seed, self.first_seed + len(self.returns))

    def to_json(self) -> Result:
        return {"frames": self.frames, "first_seed": self.first_seed, "returns": self.returns.round(3).tolist()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Curves:
        return cls(list(data["frames"]), np.array(data["returns"], float), data["first_seed"])

    @classmethod
    def of_run(cls, path: Path, config: RunConfig) -> Curves:
        """From the run's metrics; before a seed's first game is over its return counts as 0."""
        lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
        seeds = range(config.seed, config.seed + config.seeds)
        returns = [[line["return"] or 0.0 for line in lines if line["seed"] == seed] for seed in seeds]
        frames = [line["frames"] for line in lines if line["seed"] == config.seed]
        return cls(frames, np.array(returns), config.seed)


@dataclass(frozen=True)
class RunsConfig(ABC):
    """Settings of a study whose variants are runs."""

    seeds: int = 10
    """Independent agents of each variant."""
    frames: int = 5_000_000
    """Steps of each."""
    hidden: int = 128
    """Units of the hidden layer of each head."""
    points: int = 100
    """Points of a learning curve."""
    checkpoints: int = 10
    """Checkpoints of a variant on its way."""

    def __post_init__(self) -> None:
        settle(self)
        require(self, "at least 1", lambda x: x >= 1, "seeds", "frames", "hidden", "points", "checkpoints")

    @abstractmethod
    def runs(self, variants: Sequence[str]) -> dict[str, RunConfig]:
        """The run that each of the variants is."""

    def run_of(self, game: str, agent: AgentConfig, first_seed: int = 0) -> RunConfig:
        """An agent in a MinAtar game, as long as the study says."""
        return RunConfig(
            env=f"minatar/{game}",
            agent=agent,
            frames=self.frames,
            seed=first_seed,
            seeds=self.seeds,
            clip_rewards=0.0,
            log_every=max(1, self.frames // self.points),
            checkpoint_every=max(1, self.frames // self.checkpoints),
        )

    @property
    def caution(self) -> str:
        """What to say where less was run than the study asks for."""
        full = type(self)()
        if self.frames >= full.frames and self.seeds >= full.seeds:
            return ""
        seeds = f"{self.seeds} seed{'s' * (self.seeds > 1)}"
        return f"With {self.frames:,} frames and {seeds} instead of {full.frames:,} and {full.seeds}."


class RunsStudy:
    """A study whose variants are runs."""

    def batches(self, variants: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
        """All of a game in one compiled program where that is faster, on a GPU; on a CPU one by one."""
        if seeds_are_listed():
            yield from ((variant, (variant,)) for variant in variants)
        else:
            yield from ((game, list(each)) for game, each in itertools.groupby(variants, self.game))

    def game(self, variant: str) -> str:
        raise NotImplementedError

    def run(
        self, config: RunsConfig, variants: Sequence[str], report: Callable[[float], None], folder: StudyFolder
    ) -> dict[str, Result]:
        return run_all(config.runs(variants), report, folder)

    def is_whole(self, config: RunsConfig, variant: str, result: Result) -> bool:
        run = config.runs([variant])[variant]
        try:
            curves = Curves.from_json(result)
            same = result["agent"] == _said(run.agent) and curves.first_seed == run.seed
            shape = config.seeds, len(curves.frames)
            return same and curves.returns.shape == shape and curves.frames[-1] >= config.frames
        except (IndexError, KeyError, TypeError, ValueError):
            return False


def run_all(runs: Mapping[str, RunConfig], report: Callable[[float], None], folder: StudyFolder) -> dict[str, Result]:
    """Train runs, by the names of their variants, in one compiled program."""
    paths = {variant: folder.path / "agents" / variant for variant in runs}
    done = [0.0] * len(runs)
    stopped = threading.Event()

    def note(i: int, fraction: float) -> None:
        done[i] = fraction
        try:
            report(sum(done) / len(done))
        except KeyboardInterrupt:  # not here, between two updates, but after a checkpoint
            stopped.set()

    listeners = [_Share(partial(note, i)) for i in range(len(runs))]
    if not train_together({paths[variant]: run for variant, run in runs.items()}, listeners, stopped.is_set):
        raise KeyboardInterrupt
    return {variant: result_of(run, Curves.of_run(paths[variant], run)) for variant, run in runs.items()}


def result_of(run: RunConfig, curves: Curves) -> Result:
    """What a run gave, and of which agent."""
    return {"agent": _said(run.agent), **curves.to_json()}


def _said(agent: AgentConfig) -> dict[str, Any]:
    """What is set otherwise than by default, as JSON has it."""
    default = dataclasses.asdict(AgentConfig())
    said = {name: value for name, value in dataclasses.asdict(agent).items() if value != default[name]}
    return json.loads(json.dumps(said))


def write_curves(folder: StudyFolder, curves: Mapping[str, Curves]) -> None:
    """All of them as `curves.csv`."""
    rows = (
        (variant, seed, frames, value)
        for variant, each in curves.items()
        for seed, values in zip(each.seeds, each.returns, strict=True)
        for frames, value in zip(each.frames, values, strict=True)
    )
    folder.write_csv("curves.csv", ("variant", "seed", "frames", "return"), rows)


class _Share:
    """Tells what a run tells of its progress."""

    def __init__(self, report: Callable[[float], None]) -> None:
        self._report = report

    def warn(self, message: str) -> None: ...

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        self._report(min(1.0, frames / total))
