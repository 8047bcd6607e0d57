"""Studies whose variants are training runs, kept under `agents/` in the study's folder.

Each is an ordinary run: it can be evaluated and recorded, and is resumed from its last checkpoint.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rgvf.agents import AgentConfig
from rgvf.environments import RULES, find_environment, find_spec
from rgvf.loops import stacking_is_faster
from rgvf.runs import RunConfig, RunError, RunFolder, train_together
from rgvf.settings import require
from rgvf.studies.config import StudyConfig
from rgvf.studies.curves import Curves
from rgvf.studies.folder import StudyFolder
from rgvf.studies.study import Conclusion, Study, StudyListener, sentences, some_of

LEGEND = "Return over the last tenth of training"


@dataclass(frozen=True)
class RunsConfig(StudyConfig):
    """Settings of a study whose variants are runs."""

    seeds: int = 10
    """Number of independent agents for each variant."""
    frames: int = 5_000_000
    """Frames to train each agent for."""
    points: int = 100
    """Points of a learning curve."""
    checkpoints: int = 10
    """Checkpoints of a run."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda x: x >= 1, "points", "checkpoints")

    def run_config(
        self, env: str, agent: AgentConfig, first_seed: int = 0, clip_rewards: float = 0.0, seeds: int | None = None
    ) -> RunConfig:
        """An agent in an environment, for as long as the study says."""
        return RunConfig(
            env=env,
            agent=agent,
            frames=self.frames,
            seed=first_seed,
            seeds=self.seeds if seeds is None else seeds,
            clip_rewards=clip_rewards,
            log_every=max(1, self.frames // self.points),
            checkpoint_every=max(1, self.frames // self.checkpoints),
            keep_checkpoints=2,  # a study has hundreds of agents
        )


class RunsStudy(Study):
    """A study whose variants are runs."""

    not_planned: str = ""
    """What takes time and is not in a plan's measurement, as a sentence."""

    @abstractmethod
    def run_config(self, config: Any, variant: str) -> RunConfig:
        """The run of a variant."""

    def batch(self, variant: str) -> str:
        """The name of the batch that a variant belongs to, by default the game. Its runs share an environment."""
        return variant.partition(".")[0]

    def check_ready(self, config: Any, variants: Sequence[str]) -> None:
        """ValueError where what a suite of environments needs is not installed: one environment of each is made."""
        names = [self.run_config(config, variant).env for variant in variants]
        for env in {name.partition("/")[0]: name for name in names}.values():
            find_spec(env)

    def batches(self, variants: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        """All of a batch in one compiled program on a GPU; on a CPU one variant after another."""
        if stacking_is_faster():
            return ((name, list(each)) for name, each in itertools.groupby(variants, self.batch))
        return super().batches(variants)

    def run(
        self, config: Any, variants: Sequence[str], listener: StudyListener, folder: StudyFolder
    ) -> dict[str, Curves]:
        """Train the runs of a batch, or resume those begun."""
        runs = {variant: self.run_config(config, variant) for variant in variants}
        return train_runs(runs, listener, folder.path)

    def conclude(self, config: Any, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """Draw and check the variants in which games have ended; the others are named: they have no return, not 0."""
        unscored = {variant: np.isnan(each.final) for variant, each in curves.items()}
        scored = {variant: each for variant, each in curves.items() if not unscored[variant].any()}
        found = super().conclude(config, scored, folder)
        without = [
            variant if seeds.all() else f"{variant} (in {seeds.sum()} of {len(seeds)} seeds)"
            for variant, seeds in unscored.items()
            if seeds.any()
        ]
        if not without:
            return found
        left_out = f"Left out, because no game had ended by the last tenth of training: {some_of(without)}."
        return dataclasses.replace(found, caution=sentences(found.caution, left_out))

    def what(self, config: Any) -> str:
        """What is run, in numbers."""
        chosen = self.chosen(config)
        agents = sum(self.seeds(config, variant) for variant in chosen)
        return f"{len(chosen):,} variants, {agents:,} agents × {config.length:,} frames"

    def kind(self, config: Any, variant: str) -> str:
        """What decides how fast a run is: environment, agent, and the sizes of its networks where they are set."""
        run = self.run_config(config, variant)
        agent = run.agent
        sizes = {"kernels": agent.kernels, "dense": agent.dense, "memory": agent.memory, "hidden": agent.hidden}
        shown = (f"{name} {' '.join(map(str, np.atleast_1d(size)))}" for name, size in sizes.items() if size)
        return f"{run.env} {agent.label} ({', '.join(shown)})"

    def identity(self, config: Any, variant: str) -> dict[str, Any]:
        """The run's agent, environment and first seed."""
        run = self.run_config(config, variant)
        rules = RULES.get(run.env, 1)
        return json.loads(json.dumps({"env": run.env, "rules": rules, "agent": run.agent.to_data(), "seed": run.seed}))

    def is_result_of(self, config: Any, variant: str, identity: Any) -> bool:
        """The same, where settings that are newer than the result have their defaults."""
        run = self.run_config(config, variant)
        agent = AgentConfig.from_data(identity["agent"])
        stored = identity["env"], identity["rules"], agent, identity["seed"]
        return stored == (run.env, RULES.get(run.env, 1), run.agent, run.seed)


def train_runs(runs: Mapping[str, RunConfig], listener: StudyListener, out: Path) -> dict[str, Curves]:
    """Train runs, by the names of their variants: in one compiled program, or where games run on the host, in turn."""
    paths = {variant: out / "agents" / variant for variant in runs}
    reports = _RunReports(listener)
    by_path = {paths[variant]: run for variant, run in runs.items()}
    in_jax = all(find_environment(run.env) is not None for run in runs.values())
    for batch in [by_path] if in_jax else [{path: run} for path, run in by_path.items()]:
        if not train_together(batch, progress=reports, should_stop=lambda: reports.stopped):
            raise KeyboardInterrupt
    return {variant: read_curves(paths[variant], run) for variant, run in runs.items()}


def read_curves(path: Path, config: RunConfig) -> Curves:
    """The returns of a run, from its metrics: NaN before a seed's first game has ended.

    Raises:
        RunError: lines are missing or changed.
    """
    try:
        curves = _curves(path, config) if RunFolder(path).metrics_are_intact() else None
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        curves = None
    if curves is None:
        damaged = f"{path / 'metrics.jsonl'} has lost lines or was changed"
        raise RunError(f"{damaged}; delete {path} and run the study again")
    return curves


def _curves(path: Path, config: RunConfig) -> Curves | None:
    """The returns of a run; None where lines are missing."""
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    by_seed = [[line for line in lines if line["seed"] == seed] for seed in config.all_seeds]
    frames = [line["frames"] for line in by_seed[0]]
    distances = np.diff([0, *frames])  # equal, but for the last, which may be smaller
    gaps = not frames or (distances[:-1] != distances[0]).any() or distances[-1] > distances[0]
    if gaps or any([line["frames"] for line in mine] != frames for mine in by_seed):
        return None
    returns = np.array([[line["return"] for line in mine] for mine in by_seed], float)  # None becomes NaN
    return Curves(frames, returns.round(3), config.seed)


class _RunReports:
    """Passes the reports of runs on: the fraction that is done, and warnings."""

    def __init__(self, listener: StudyListener) -> None:
        self._listener = listener
        self.stopped = False
        """The listener wants to stop."""

    def say(self, message: str) -> None:
        """A study says what it runs itself."""

    def waiting(self, what: str) -> None:
        """A study shows a bar meanwhile."""

    def warn(self, message: str) -> None:
        """Pass a warning on."""
        self._listener.warn(message)

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        """Report the fraction."""
        try:
            self._listener.progress(min(1.0, frames / total))
        except KeyboardInterrupt:  # stop after the next checkpoint, not here between two updates
            self.stopped = True
