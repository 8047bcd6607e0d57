"""What a study would take, before anything runs: its trials, their frames, and the hours, from a short measurement."""

from __future__ import annotations

import itertools
import math
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rgvf.messages import SILENT
from rgvf.studies.failures import failed_together
from rgvf.studies.folder import StudyFolder
from rgvf.studies.pool import Pool, batches_to_run, leave_memory
from rgvf.studies.runs import RunsStudy
from rgvf.studies.study import StudyListener, choose, open_study, some_of, stored_results

SECONDS = 5.0
"""Of each measurement, once compiled."""
PATIENCE = 300.0
"""Seconds after which no more measurements are begun, and what is still being compiled is not waited for."""


class Kind(NamedTuple):
    """Batches that are as fast as each other: such an agent in environments of one suite, or all agents of a game."""

    name: str
    batches: int
    """Those that are left to train."""
    agents: int
    """In all of them, each seed counted."""
    frames: int
    """Of all agents."""
    rate: float
    """Frames/s of a batch, over all its agents, while as many as are run at once run beside it; 0: not measured."""

    @property
    def hours(self) -> float:
        """One batch after another."""
        return self.frames / self.rate / 3600 if self.rate else float("nan")


class StudyPlan(NamedTuple):
    """What is left of a study."""

    kinds: list[Kind]
    parallel: int
    done: int
    """Agents that are trained already."""
    failed: int = 0
    """Agents that have failed before, and will not be trained."""
    cannot: str = ""
    """Why nothing could be measured here, if so."""
    interrupted: bool = False
    """The measurement was."""
    out_of_time: bool = False
    """Something was not measured as it would have taken too long."""
    ready_after: tuple[float, ...] = ()
    """The seconds until batches were ready that were measured, above all compiled; they are not part of the hours."""

    @property
    def agents(self) -> int:
        """All that are left."""
        return sum(kind.agents for kind in self.kinds)

    @property
    def frames(self) -> int:
        """Of all that are left."""
        return sum(kind.frames for kind in self.kinds)

    def hours(self, machines: int = 1) -> float:
        """On so many machines like this one: no batch is shorter than it is alone.

        Kinds that were not measured count as if they were as fast as the others on average; NaN where none was.
        """
        measured = [kind for kind in self.kinds if kind.rate]
        if not measured:
            return math.nan if self.kinds else 0.0
        longest = max(kind.hours / kind.batches for kind in measured)
        of_all = self.frames / sum(kind.frames for kind in measured)
        return max(longest, sum(kind.hours for kind in measured) * of_all / (self.parallel * machines))


def make_plan(
    study: RunsStudy,
    config: Any,
    out: Path,
    variants: Sequence[str] = (),
    parallel: int | None = None,
    listener: StudyListener = SILENT,
    *,
    seconds: float = SECONDS,
    patience: float = PATIENCE,
    retry_failed: bool = False,
    imports: Sequence[str] = (),
) -> StudyPlan:
    """Count what is left to run, and measure one batch of each kind. No result is written.

    A batch that was begun counts as if it were not. Kinds with the most frames are measured first. Where there are too
    many, or the listener interrupts, the plan has what was measured.

    Args:
        out: the folder that may have results already.
        variants: as for `run_study`.
        parallel: how many are run at once; they are measured so, too.
        seconds: of each measurement; 0: none.
        patience: seconds after which no more measurements are begun, and what is still being compiled is left out.
        retry_failed: as for `run_study`.
    """
    leave_memory()
    names = choose(study, config, variants)
    parallel = study.default_parallel(config) if parallel is None else parallel
    retry_failed = retry_failed or not parallel  # in one process, what has failed is run again
    parallel = max(1, parallel)
    StudyFolder.check(out)
    finished: set[str] = set()
    failed: list[list[str]] = []
    if (out / "config.json").exists():
        folder = open_study(study, config, out)[0]
        finished = set(stored_results(study, config, folder))
        failed = failed_together(folder, [name for name in names if name not in finished])
    to_run = batches_to_run(study, [name for name in names if name not in finished], failed, retry_failed)
    left = [variant for _, members in to_run for variant in members]

    def agents(variants: Sequence[str]) -> int:
        return sum(study.seeds(config, variant) for variant in variants)

    by_kind: dict[str, list[Sequence[str]]] = {}
    for batch, members in to_run:
        kinds = {study.kind(config, variant) for variant in members}
        by_kind.setdefault(batch if len(kinds) > 1 else kinds.pop(), []).append(members)
    by_frames = sorted(by_kind)
    random.Random(0).shuffle(by_frames)  # those that come first, before the measurement ends, stand for the others
    by_frames.sort(key=lambda kind: -sum(map(agents, by_kind[kind])))
    largest = {kind: max(by_kind[kind], key=agents) for kind in by_frames}
    rates: dict[str, float] = {}
    ready_after: list[float] = []
    cannot, interrupted, out_of_time = "", False, False
    if seconds and left:
        try:
            study.check_ready(config, left)
        except ValueError as error:
            cannot = str(error)
        else:
            until = time.monotonic() + patience
            rounds = _measure(study, config, largest, len(to_run), parallel, listener, seconds, until, imports)
            try:
                for each in rounds:
                    rates = each.rates | rates
                    ready_after += each.ready_after
                    out_of_time |= each.out_of_time
            except KeyboardInterrupt:
                interrupted = True
    plan = [
        Kind(kind, len(batches), n := sum(map(agents, batches)), n * config.length, rates.get(kind, 0.0))
        for kind, batches in by_kind.items()
    ]
    given_up = [] if retry_failed else list(itertools.chain(*failed))
    done = agents([name for name in names if name in finished])
    at_once = max(1, min(parallel, len(to_run)))
    return StudyPlan(plan, at_once, done, agents(given_up), cannot, interrupted, out_of_time, tuple(ready_after))


class Round(NamedTuple):
    """What was measured at once."""

    rates: dict[str, float]
    """Frames/s of a batch, by kind."""
    out_of_time: bool
    """Something was left out, as the time was over."""
    ready_after: tuple[float, ...] = ()
    """The seconds until each batch was ready."""


def _measure(
    study: RunsStudy,
    config: Any,
    batches: Mapping[str, Sequence[str]],
    to_run: int,
    parallel: int,
    listener: StudyListener,
    seconds: float,
    until: float,
    imports: Sequence[str],
) -> Iterator[Round]:
    """Measure a batch of each kind, some at a time. With others beside the last ones, so that the machine is as
    full as it will be with `to_run` batches in all.
    """
    at_once = min(parallel, to_run)
    rounds = -(-len(batches) // at_once)
    kinds = itertools.islice(itertools.cycle(batches), rounds * at_once)
    for i in range(rounds):
        together = {f"{j}-{kind.replace('/', '-')}": kind for j, kind in enumerate(itertools.islice(kinds, at_once))}
        title = f"measuring {i + 1} of {rounds}: {some_of(tuple(dict.fromkeys(together.values())))}"
        began = time.monotonic()
        if began >= until:
            yield Round({}, True)
            return
        listener.begin(title)
        with tempfile.TemporaryDirectory() as path:
            scratch = StudyFolder(Path(path), study.name, config.identity())
            pool = Pool(study, config, scratch, listener, parallel, imports, measure=seconds, ready_by=until)
            pool.run([(name, tuple(batches[kind])) for name, kind in together.items()])
        listener.finish(title, time.monotonic() - began)
        rates = {kind: pool.rates[name] for name, kind in reversed(together.items()) if name in pool.rates}
        is_late = any(together[name] not in rates for name in pool.not_ready)
        yield Round(rates, is_late, tuple(pool.ready_after.values()))
