"""A training run from its first frame, or from a checkpoint, to its end."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import equinox as eqx
import jax
import numpy as np

from rgvf.agents import make_learner, question_networks
from rgvf.environments.protocol import Environment
from rgvf.environments.sources import environment_of, parse_source
from rgvf.environments.workers import WorkerError, Workers
from rgvf.interrupt import GracefulStop
from rgvf.training.checkpoint import CheckpointError
from rgvf.training.compiled import CompiledLoop
from rgvf.training.config import RunConfig, differences
from rgvf.training.fleet import Fleet
from rgvf.training.folder import RunError, RunFolder
from rgvf.training.host import HostLoop, environment_order, group_count
from rgvf.training.logging import Loggers, check_loggers
from rgvf.training.loop import Loop, Progress
from rgvf.training.metrics import RunningMetrics
from rgvf.training.worlds import world_of, world_of_environment, world_of_source


class RunListener(Protocol):
    """Is told how a run goes."""

    def warn(self, message: str) -> None: ...

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        """After some updates: frames of each seed, frames/s over all seeds, the newest line of metrics of each."""
        ...


class _Silent:
    """Tells nobody."""

    def warn(self, message: str) -> None: ...

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None: ...


_SILENT = _Silent()
MAY_CHANGE = {"frames", "processes", "wandb"}
"""What a run can go on with another value of."""


@contextmanager
def _asked(should_stop: Callable[[], bool] | None) -> Iterator[Callable[[], bool]]:
    """What says when to stop. By default Ctrl-C and SIGTERM, which then end in KeyboardInterrupt after a checkpoint."""
    if should_stop is not None:
        yield should_stop
        return
    with GracefulStop() as stop:
        yield lambda: stop.requested is not None
        stop.check()


def train(
    config: RunConfig,
    out: str | Path,
    listener: RunListener = _SILENT,
    should_stop: Callable[[], bool] | None = None,
    environment: Environment | None = None,
) -> bool:
    """Start a run in a new folder; returns whether it came to its end.

    Args:
        should_stop: asked between updates; the run then ends with a checkpoint. By default Ctrl-C and SIGTERM do so,
            and raise KeyboardInterrupt.
        environment: one of your own, to run inside the compiled program; `config.env` is then "own/NAME".

    Raises:
        RunError: the folder cannot be used, or something broke; what was saved can be resumed.
    """
    _check(config, environment)
    with ExitStack() as opened:
        folder = opened.enter_context(RunFolder.create(Path(out), config))
        run = opened.enter_context(_Run(config, folder, listener, environment))
        return _carry_on([run], opened.enter_context(_asked(should_stop)))


def resume(
    out: str | Path,
    config: RunConfig | None = None,
    listener: RunListener = _SILENT,
    should_stop: Callable[[], bool] | None = None,
    environment: Environment | None = None,
) -> bool:
    """Go on with a run exactly where its last checkpoint left it; returns whether it came to its end.

    Args:
        config: the run's own by default; another may only have more frames, and other `processes` and `wandb`.

    Raises:
        RunError: there is no such run, or something broke.
        ValueError: the run is another one.
    """
    with ExitStack() as opened:
        folder, config = _opened(Path(out), config)
        run = opened.enter_context(_Run(config, opened.enter_context(folder), listener, environment))
        run.restore()
        return _carry_on([run], opened.enter_context(_asked(should_stop)))


def _opened(out: Path, config: RunConfig | None) -> tuple[RunFolder, RunConfig]:
    """A run's folder and what to go on with; ValueError where that is another run."""
    folder, saved = RunFolder.open(out)
    config = _with_kept_questions(config or saved, saved)
    changed = differences(saved, config)
    wrong = [name for name in changed if name not in MAY_CHANGE or (name == "frames" and config.frames < saved.frames)]
    if wrong:
        told = ", ".join("{} = {}, not {}".format(name, *changed[name]) for name in wrong)
        raise ValueError(f"the run in {out} has {told}; only more frames can be asked for")
    folder.lock()
    return folder, config


def _with_kept_questions(config: RunConfig, saved: RunConfig) -> RunConfig:
    """Where questions of one's own are those that the run has kept a copy of, it is the copy that is meant."""
    given, kept = config.agent.questions, saved.agent.questions
    if given is None or kept is None or Path(given).read_bytes() != Path(kept).read_bytes():
        return config
    return replace(config, agent=replace(config.agent, questions=kept))


def _check(config: RunConfig, environment: Environment | None) -> None:
    """Whatever is wrong must show before anything is written."""
    check_loggers(config)
    world = world_of_source(parse_source(config.env), environment)
    eqx.filter_eval_shape(make_learner(config.agent, world, config.seed).init, jax.random.key(0))


def train_together(
    runs: Mapping[str, RunConfig] | Mapping[Path, RunConfig],
    listeners: Sequence[RunListener] | None = None,
    should_stop: Callable[[], bool] | None = None,
    environment: Environment | None = None,
) -> bool:
    """Start several runs, or go on with those begun, in one compiled program; returns whether all came to their end.

    Each is a run like any other, with a folder of its own; it ends as it would have ended alone, up to rounding. Runs
    that differ only in what agents carry as numbers (learning rate, c, questions) are one batch.

    Args:
        runs: the configuration of each by its folder.
        should_stop, environment: as for `train`.

    Raises:
        ValueError: the runs are not all in one environment inside the compiled program, with as many actors and steps;
            or one that is begun is another run.
    """
    shared = {(each.env, each.actors, each.steps, each.clip_rewards) for each in runs.values()}
    if len(shared) > 1:
        raise ValueError("runs share a program only in one environment, with the same actors, steps and clip_rewards")
    for config in runs.values():
        if environment_of(parse_source(config.env), environment) is None:
            raise ValueError(f"{config.env} does not run inside the compiled program: train its runs one by one")
        _check(config, environment)
    with ExitStack() as opened:
        started: list[_Run] = []
        for (folder_name, config), listener in zip(runs.items(), listeners or [_SILENT] * len(runs), strict=True):
            out = Path(folder_name)
            begun = (out / "config.json").exists()
            folder = _opened(out, config)[0] if begun else RunFolder.create(out, config)
            run = opened.enter_context(_Run(config, opened.enter_context(folder), listener, environment))
            if begun:
                run.restore()
            started.append(run)
        return _carry_on(started, opened.enter_context(_asked(should_stop)))


def _carry_on(runs: Sequence[_Run], should_stop: Callable[[], bool]) -> bool:
    """Train to the end, or until asked to stop; leaves a checkpoint of each run either way."""
    for run in runs:
        run.open()
    program = functools.cache(_program)
    while unfinished := [run for run in runs if not run.finished]:
        behind = min(run.updates for run in unfinished)
        playing = tuple(run for run in unfinished if run.updates == behind)
        advanced = program(playing)(min(run.next_stop for run in playing) - behind)
        for run, (state, progress) in zip(playing, advanced, strict=True):
            run.take(state, progress)
        stop = should_stop()
        for run in unfinished if stop else playing:
            run.save_if_due(stop)
        if stop:
            break
    return all(run.finished for run in runs)


def _program(runs: tuple[_Run, ...]) -> Callable[[int], list[tuple[Any, Progress]]]:
    """What makes some updates of all these runs."""
    if len(runs) == 1:
        return lambda updates: [runs[0].advance(updates)]
    loops = [run.loop for run in runs if isinstance(run.loop, CompiledLoop)]  # all of them are
    fleet = Fleet(loops, [run.config.agent.program for run in runs])
    return lambda updates: fleet.advance([run.state for run in runs], updates)


class _Run:
    """The pieces of a run, put together."""

    def __init__(
        self, config: RunConfig, folder: RunFolder, listener: RunListener, environment: Environment | None
    ) -> None:
        self.config, self.folder, self.listener = config, folder, listener
        self.seeds = range(config.seed, config.seed + config.seeds)
        self.loop = make_loop(config, environment)
        folder.save_questions({seed: question_networks(config.agent, self.loop.world, seed) for seed in self.seeds})
        self.metrics = RunningMetrics(self.seeds)
        self.loggers: Loggers | None = None
        self.state: Any = self.loop.start(self.seeds)
        self.log_every, self.save_every = (
            max(1, round(each / self.loop.frames_per_update)) for each in (config.log_every, config.checkpoint_every)
        )
        self.updates = 0
        self.began, self.marked = 0.0, (0.0, 0)
        self.speed = 0.0
        self.metrics_length = 0
        self.lines: list[dict[str, Any]] = []

    def __enter__(self) -> _Run:
        return self

    def __exit__(self, *raised: object) -> None:
        self.loop.close()
        if self.loggers is not None:
            self.loggers.close()

    @property
    def frames(self) -> int:
        return self.updates * self.loop.frames_per_update

    @property
    def total_updates(self) -> int:
        return -(-self.config.frames // self.loop.frames_per_update)

    @property
    def finished(self) -> bool:
        return self.updates >= self.total_updates

    @property
    def next_stop(self) -> int:
        """The number of updates after which there is something to do."""
        return min(self.total_updates, *(-(-(self.updates + 1) // n) * n for n in (self.log_every, self.save_every)))

    def open(self) -> None:
        """Make ready to go on from here."""
        self.loggers = Loggers(self.folder.path, self.config, self.frames)
        length = self.folder.cut_metrics(self.metrics_length)
        if length < self.metrics_length:
            self.listener.warn(f"{self.folder.path / 'metrics.jsonl'} has lost lines; going on without them")
            self.metrics_length = length
        with self._broken_can_go_on():
            if not self.updates:
                self.save()
        self.began = time.monotonic()
        self.marked = self.began, self.updates

    def advance(self, updates: int) -> tuple[Any, Progress]:
        """What at least one update brings, and at most so many."""
        with self._broken_can_go_on():
            return self.loop.advance(self.state, updates)

    def take(self, state: Any, progress: Progress) -> None:
        """Go on from what some updates brought."""
        self.state = state
        self.metrics.add(progress)
        self.updates += progress.updates
        if self.updates % self.log_every == 0 or self.finished:
            now, (before, updates) = time.monotonic(), self.marked
            frames = (self.updates - updates) * self.loop.frames_per_update * self.config.seeds
            self.speed, self.marked = frames / (now - before), (now, self.updates)
            self._log(now - self.began)
        self.listener.progress(self.frames, self.config.frames, self.speed, self.lines)

    def save_if_due(self, stopping: bool) -> None:
        if self.updates % self.save_every == 0 or stopping or self.finished:
            with self._broken_can_go_on():
                self.save()

    @contextmanager
    def _broken_can_go_on(self) -> Iterator[None]:
        """Says how, where a worker has died."""
        try:
            yield
        except WorkerError as error:
            raise RunError(f"{error}; go on from the last checkpoint by --resume {self.folder.path}") from None

    def _log(self, seconds: float) -> None:
        clock = {"seconds": round(seconds, 3), "frames_per_second": round(self.speed, 1)}
        self.lines = [{"frames": self.frames, **line, **clock} for line in self.metrics.report()]
        for line in self.lines:
            self.metrics_length = self.folder.write_metrics(line)
        assert self.loggers is not None
        self.loggers.log(self.lines)

    def save(self) -> None:
        """Write a checkpoint of everything."""
        arrays = self.loop.save(self.state)
        facts = {
            "frames": self.frames,
            "updates": self.updates,
            "metrics_length": self.metrics_length,
            "metrics": self.metrics.to_json(),
        }
        self.folder.save_checkpoint(self.frames, arrays, facts)

    def restore(self) -> None:
        """Take everything from the newest checkpoint that is whole."""
        found, complaints = self.folder.load_checkpoint()
        for complaint in complaints:
            self.listener.warn(f"{complaint}; going on from the one before it")
        if found is not None:
            self._take_over(*found)
        self.folder.save_config(self.config)  # which may have more frames now

    def _take_over(self, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> None:
        try:
            self.state = self.loop.restore(self.state, arrays)
            self.metrics.restore(facts["metrics"])
            self.updates, self.metrics_length = facts["updates"], facts["metrics_length"]
        except (CheckpointError, ValueError, KeyError, WorkerError) as error:
            raise RunError(f"the checkpoint of {self.folder.path} does not fit this run: {error}") from None


def make_loop(config: RunConfig, environment: Environment | None = None) -> Loop:
    """The loop of a run: with the environment inside the compiled program where it can be, else in worker processes."""
    source = parse_source(config.env)
    seeds = range(config.seed, config.seed + config.seeds)
    settings = (config.actors, config.steps, config.clip_rewards)
    compiled = environment_of(source, environment)
    if compiled is not None:
        world = world_of_environment(compiled)
        return CompiledLoop(compiled, [make_learner(config.agent, world, seed) for seed in seeds], *settings)
    workers = make_workers(config)
    world = world_of(workers.spec)
    return HostLoop(workers, [make_learner(config.agent, world, seed) for seed in seeds], *settings)


def environment_seeds(config: RunConfig) -> list[int]:
    """A seed for each environment, the same for a seed of the run whether it runs alone or with others."""
    seeds = range(config.seed, config.seed + config.seeds)
    drawn = np.stack([np.random.SeedSequence([seed, 1]).generate_state(config.actors) for seed in seeds])
    return (environment_order(drawn, group_count(config.actors)) & 0x7FFFFFFF).tolist()


def make_workers(config: RunConfig) -> Workers:
    """The environments of a run, in the order and groups that `HostLoop` expects."""
    source, seeds = parse_source(config.env), environment_seeds(config)
    return Workers(source, seeds, config.processes or None, group_count(config.actors))
