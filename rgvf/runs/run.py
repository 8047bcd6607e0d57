"""The parts of a training run, put together: a loop, a folder, metrics, checkpoints."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import equinox as eqx
import jax
import numpy as np

from rgvf.agents import make_learner, make_networks
from rgvf.environments import Environment, find_environment, find_spec
from rgvf.environments.workers import WorkerError, Workers, check_processes
from rgvf.loops import DeviceLoop, HostLoop, Loop, Progress, game_order, group_count, on_host, seed_axis, start
from rgvf.runs.config import RunConfig
from rgvf.runs.folder import Networks, RunError, RunFolder, check_identity, identity
from rgvf.runs.loggers import Loggers, check_loggers
from rgvf.runs.metrics import RunningMetrics
from rgvf.runs.progress import RunListener
from rgvf.seeding import GamePurpose, game_seeds


class Run:
    """A training run between two updates."""

    def __init__(
        self, config: RunConfig, folder: RunFolder, networks: Networks, listener: RunListener, loop: Loop
    ) -> None:
        self.config, self.folder, self.networks, self.listener, self.loop = config, folder, networks, listener, loop
        self.metrics = RunningMetrics(config.all_seeds)
        self.loggers: Loggers | None = None
        self.state: Any = start(loop)
        self.log_every, self.save_every = (
            max(1, round(each / loop.frames_per_update)) for each in (config.log_every, config.checkpoint_every)
        )
        self.updates = 0
        self.speed = 0.0
        self.metrics_length = 0
        self.metrics_checksum = 0
        self.lines: list[dict[str, Any]] = []
        self.seconds = 0.0
        self._measured_from: tuple[float, int] | None = None  # time and updates after the last line
        self._clock = 0.0

    @property
    def frames(self) -> int:
        """Frames of each seed so far."""
        return self.updates * self.loop.frames_per_update

    @property
    def total_updates(self) -> int:
        """Updates of the whole run."""
        return -(-self.config.frames // self.loop.frames_per_update)

    @property
    def finished(self) -> bool:
        """Whether all updates are done."""
        return self.updates >= self.total_updates

    @property
    def next_stop(self) -> int:
        """The number of updates after which a line of metrics or a checkpoint is due."""
        return min(self.total_updates, *(-(-(self.updates + 1) // n) * n for n in (self.log_every, self.save_every)))

    def open(self) -> None:
        """Get ready to train from here."""
        self.loggers = Loggers(self.folder.path, self.config, self.frames)
        # Where something is wrong, the checksum stays that of the right lines: the file is never taken for whole again.
        self.metrics_length, wrong = self.folder.cut_metrics(self.metrics_length, self.metrics_checksum, self.frames)
        if wrong:
            self.listener.warn(wrong)
        if not self.updates:
            self.save()
        self._clock = time.monotonic()

    def receive(self, state: Any, progress: Progress) -> None:
        """Continue from what some updates gave."""
        self.state = state
        self.metrics.add(progress)
        self.updates += progress.updates
        now = time.monotonic()
        self.seconds, self._clock = self.seconds + now - self._clock, now
        if self.updates % self.log_every == 0 or self.finished:
            self._measure_speed(now)
            self._log()
        elif self._measured_from is None:
            self._measured_from = now, self.updates

    def _measure_speed(self, now: float) -> None:
        """Frames/s of all seeds since the last line. The first updates do not count: they are compiled first."""
        if self._measured_from is not None:
            before, updates = self._measured_from
            self.speed = (self.updates - updates) * self.loop.frames_per_update * self.config.seeds / (now - before)
        self._measured_from = now, self.updates

    def save_if_due(self, stopping: bool) -> None:
        """Write a checkpoint where one is due."""
        if self.updates % self.save_every == 0 or stopping or self.finished:
            self.save()

    def save(self) -> None:
        """Write a checkpoint of everything. RunError where losses or parameters are not finite."""
        facts = {
            "frames": self.frames,
            "updates": self.updates,
            "seconds": self.seconds,
            "metrics_length": self.metrics_length,
            "metrics_checksum": self.metrics_checksum,
            "metrics": self.metrics.to_json(),
            **identity(self.config, self.networks),
        }
        self._check_losses()
        arrays = self.loop.save(self.state)
        for name, array in arrays.items():
            if name.startswith(".agent") and array.dtype.kind == "f" and not np.isfinite(array).all():
                raise self._diverged(f"the parameters {name} are no longer finite")
        self.folder.save_checkpoint(self.frames, arrays, facts, self.config.keep_checkpoints)

    def _check_losses(self) -> None:
        if self.metrics.first_bad is not None:
            name, seed, value = self.metrics.first_bad
            raise self._diverged(f"{name} of seed {seed} became {value}")

    def _diverged(self, what: str) -> RunError:
        kept = self.folder.checkpoints()
        last = f"; the last good checkpoint is {kept[0]}" if kept else ""
        how = "Try a smaller learning rate, or look for observations or rewards that are not finite"
        return RunError(f"training diverged by frame {self.frames:,}: {what}. {how}{last}")

    def restore(self) -> None:
        """Continue from the newest intact checkpoint. RunError where there was one, and it is gone."""
        found, complaints = self.folder.load_checkpoint()
        if found is None and self.folder.has_metrics():
            raise RunError(f"{self.folder.path} has metrics but no checkpoint; train again in another folder")
        for complaint in complaints:
            self.listener.warn(f"{complaint}; continuing from the one before it")
        if found is not None:
            self._restore_from(*found)
        self.folder.save_config(self.config)  # which may have more frames now

    def _restore_from(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        try:
            check_identity(facts, self.config, self.networks)
            self.state = self.loop.restore(self.state, arrays)
            self.metrics.restore(facts["metrics"])
            self.updates, self.metrics_length = facts["updates"], facts["metrics_length"]
            self.metrics_checksum, self.seconds = facts["metrics_checksum"], facts["seconds"]
        except WorkerError as error:
            raise RunError(f"the games of {self.folder.path} cannot be restored: {error}") from None
        except (ValueError, KeyError) as error:
            raise self.folder.does_not_fit(error) from None

    def _log(self) -> None:
        clock = {"seconds": round(self.seconds, 3), "frames_per_second": round(self.speed, 1) or None}
        self.lines = [{"frames": self.frames, **line, **clock} for line in self.metrics.report()]
        self._check_losses()
        for line in self.lines:
            self.metrics_length, self.metrics_checksum = self.folder.write_metrics(line, self.metrics_checksum)
        assert self.loggers is not None
        self.loggers.log(self.lines)


@contextmanager
def start_run(
    config: RunConfig, folder: RunFolder, networks: Networks, listener: RunListener, environment: Environment | None
) -> Iterator[Run]:
    """A run whose games are ended in the end, also where they fail at their start."""
    try:
        with closing(make_loop(config, networks, environment)) as loop:
            run = Run(config, folder, networks, listener, loop)
            try:
                yield run
            finally:
                if run.loggers is not None:
                    run.loggers.close()
    except WorkerError as error:
        how = "continue from the last checkpoint" if folder.checkpoints() else "start again"
        raise RunError(f"{error}; to {how}: {config.command('train --resume', folder.path)}") from None


def prepare(config: RunConfig, environment: Environment | None = None) -> Networks:
    """The question networks of a run. Mistakes in the configuration show here, before anything is written."""
    check_loggers(config)
    check_processes(config.env, config.actors * config.seeds, config.processes)
    with on_host():
        spec = find_spec(config.env, environment)
        networks = {seed: make_networks(config.agent, spec, seed) for seed in config.all_seeds}
        learner = make_learner(config.agent, spec, config.seed, networks[config.seed])
        eqx.filter_eval_shape(learner.init, jax.random.key(0))
    return networks


def make_loop(config: RunConfig, networks: Networks, environment: Environment | None = None) -> Loop:
    """The loop of a run: a device loop where the environment is in JAX, else a host loop."""
    seeds = seed_axis(config.all_seeds)
    settings = (config.actors, config.steps, config.rewards)
    in_jax = find_environment(config.env, environment)
    workers = None if in_jax is not None else make_workers(config)
    spec = find_spec(config.env, environment) if workers is None else workers.spec
    with on_host():
        learners = [make_learner(config.agent, spec, seed, networks[seed]) for seed in seeds.seeds]
    if workers is not None:
        return HostLoop(workers, learners, seeds, *settings)
    assert in_jax is not None
    return DeviceLoop(in_jax, learners, seeds, *settings)


def make_workers(config: RunConfig) -> Workers:
    """The games of a run, in the order and groups that `HostLoop` expects.

    The games of a seed are the same whether it runs alone or with others.
    """
    by_seed = np.stack([game_seeds(seed, config.actors, GamePurpose.TRAINING) for seed in config.all_seeds])
    groups = group_count(config.actors)
    return Workers(config.env, game_order(by_seed, groups).tolist(), config.processes or None, groups, config.imports)
