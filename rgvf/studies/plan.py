"""What a study would take, before anything runs: its trials, their frames, and the hours, from a short measurement."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rgvf.messages import SILENT
from rgvf.studies.folder import StudyFolder
from rgvf.studies.pool import Pool, failed_variants
from rgvf.studies.runs import RunsStudy
from rgvf.studies.study import StudyListener, choose, open_study, stored_results

SECONDS = 5.0
"""Of each measurement, once compiled."""


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


class Plan(NamedTuple):
    """What is left of a study."""

    kinds: list[Kind]
    parallel: int
    done: int
    """Agents that are trained already."""
    failed: int = 0
    """Agents that have failed before, and will not be trained."""
    cannot: str = ""
    """Why nothing could be measured here, if so."""

    @property
    def agents(self) -> int:
        """All that are left."""
        return sum(kind.agents for kind in self.kinds)

    @property
    def frames(self) -> int:
        """Of all that are left."""
        return sum(kind.frames for kind in self.kinds)

    def hours(self, machines: int = 1) -> float:
        """On so many machines like this one: no batch is shorter than it is alone. NaN where one was not measured."""
        if not all(kind.rate for kind in self.kinds):
            return math.nan
        longest = max((kind.hours / kind.batches for kind in self.kinds), default=0.0)
        return max(longest, sum(kind.hours for kind in self.kinds) / (self.parallel * machines))


def make_plan(
    study: RunsStudy,
    config: Any,
    out: Path,
    variants: Sequence[str] = (),
    parallel: int | None = None,
    listener: StudyListener = SILENT,
    *,
    seconds: float = SECONDS,
    retry_failed: bool = False,
    imports: Sequence[str] = (),
) -> Plan:
    """Count what is left to run, and measure one batch of each kind. Nothing is written.

    A batch that was begun counts as if it were not.

    Args:
        out: the folder that may have results already.
        variants: as for `run_study`.
        parallel: how many are run at once; they are measured so, too.
        seconds: of each measurement; 0: none.
        retry_failed: as for `run_study`.
    """
    names = choose(study, config, variants)
    parallel = max(1, study.default_parallel(config) if parallel is None else parallel)
    finished: set[str] = set()
    failed: list[str] = []
    if (out / "config.json").exists():
        folder = open_study(study, config, out)[0]
        finished = set(stored_results(study, config, folder))
        failed = [] if retry_failed else failed_variants(folder, [name for name in names if name not in finished])
    left = [variant for variant in names if variant not in finished and variant not in failed]

    def agents(variants: Sequence[str]) -> int:
        return sum(study.seeds(config, variant) for variant in variants)

    by_kind: dict[str, list[Sequence[str]]] = {}
    for batch, members in study.batches(left):
        kinds = {study.kind(config, variant) for variant in members}
        by_kind.setdefault(batch if len(kinds) > 1 else kinds.pop(), []).append(members)
    largest = {kind: max(batches, key=agents) for kind, batches in by_kind.items()}
    rates, cannot = {}, ""
    if seconds and left:
        try:
            study.check_ready(config, left)
        except ValueError as error:
            cannot = str(error)
        else:
            rates = _measure(study, config, largest, parallel, listener, seconds, imports)
    plan = [
        Kind(kind, len(batches), n := sum(map(agents, batches)), n * config.length, rates.get(kind, 0.0))
        for kind, batches in by_kind.items()
    ]
    return Plan(plan, parallel, agents([name for name in names if name in finished]), agents(failed), cannot)


def _measure(
    study: RunsStudy,
    config: Any,
    batches: Mapping[str, Sequence[str]],
    parallel: int,
    listener: StudyListener,
    seconds: float,
    imports: Sequence[str],
) -> dict[str, float]:
    """Frames/s of a batch of each kind; the machine is as full as it would be."""
    copies = -(-parallel // len(batches)) if len(batches) < parallel else 1
    kinds = {f"{i}-{kind.replace('/', '-')}": kind for i, kind in enumerate([*batches] * copies)}
    with tempfile.TemporaryDirectory() as path:
        scratch = StudyFolder(Path(path), study.name, config.identity())
        pool = Pool(study, config, scratch, listener, parallel, imports, measure=seconds)
        listener.begin("measuring")
        pool.run([(name, tuple(batches[kind])) for name, kind in kinds.items()])
    by_kind: dict[str, list[float]] = {}
    for name, rate in pool.rates.items():
        by_kind.setdefault(kinds[name], []).append(rate)
    return {kind: sum(rates) / len(rates) for kind, rates in by_kind.items()}
