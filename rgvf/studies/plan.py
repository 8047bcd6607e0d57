"""What a study would take, before anything runs: its trials, their frames, and the hours, from a short measurement."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rgvf.messages import SILENT
from rgvf.studies.folder import StudyFolder
from rgvf.studies.pool import Pool
from rgvf.studies.runs import RunsStudy
from rgvf.studies.study import StudyListener, choose, open_study, stored_results

SECONDS = 5.0
"""Of each measurement, once compiled."""


class Kind(NamedTuple):
    """Runs that are as fast as each other: an agent in environments of one suite."""

    name: str
    runs: int
    """Those that are left to train, each seed counted."""
    frames: int
    """Of all of them."""
    rate: float
    """Frames/s of one, while as many as are run at once run beside it; 0: not measured."""

    @property
    def hours(self) -> float:
        """One after another."""
        return self.frames / self.rate / 3600 if self.rate else float("nan")


class Plan(NamedTuple):
    """What is left of a study."""

    kinds: list[Kind]
    parallel: int
    done: int
    """Runs that are finished already."""

    @property
    def runs(self) -> int:
        """All that are left."""
        return sum(kind.runs for kind in self.kinds)

    @property
    def frames(self) -> int:
        """Of all that are left."""
        return sum(kind.frames for kind in self.kinds)

    def hours(self, machines: int = 1) -> float:
        """On so many machines like this one: no run is shorter than it is alone."""
        longest = max((kind.hours / kind.runs for kind in self.kinds), default=0.0)
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
    imports: Sequence[str] = (),
) -> Plan:
    """Count what is left to run, and measure one run of each kind. Nothing is written.

    Args:
        out: the folder that may have results already.
        variants: as for `run_study`.
        parallel: how many are run at once; they are measured so, too.
        seconds: of each measurement; 0: none.
    """
    names = choose(study, config, variants)
    parallel = max(1, study.default_parallel(config) if parallel is None else parallel)
    finished = (
        stored_results(study, config, open_study(study, config, out)[0]) if (out / "config.json").exists() else {}
    )
    left = [variant for variant in names if variant not in finished]
    runs: Counter[str] = Counter()
    first: dict[str, str] = {}
    for variant in left:
        kind = study.kind(config, variant)
        runs[kind] += study.seeds(config, variant)
        first.setdefault(kind, variant)
    rates = _measure(study, config, first, parallel, listener, seconds, imports) if seconds and left else {}
    kinds = [Kind(kind, n, n * config.length, rates.get(kind, 0.0)) for kind, n in runs.items()]
    done = sum(study.seeds(config, variant) for variant in names if variant in finished)
    return Plan(kinds, parallel, done)


def _measure(
    study: RunsStudy,
    config: Any,
    first: dict[str, str],
    parallel: int,
    listener: StudyListener,
    seconds: float,
    imports: Sequence[str],
) -> dict[str, float]:
    """Frames/s of one run of each kind; the machine is as full as it would be."""
    copies = -(-parallel // len(first)) if len(first) < parallel else 1
    kinds = {f"{i}-{kind.replace('/', '-')}": kind for i, kind in enumerate([*first] * copies)}
    with tempfile.TemporaryDirectory() as path:
        scratch = StudyFolder(Path(path), study.name, config.identity())
        pool = Pool(study, config, scratch, listener, parallel, imports, measure=seconds)
        listener.begin("measuring")
        pool.run([(batch, (first[kind],)) for batch, kind in kinds.items()])
    by_kind: dict[str, list[float]] = {}
    for batch, rate in pool.rates.items():
        by_kind.setdefault(kinds[batch], []).append(rate / study.seeds(config, first[kinds[batch]]))
    return {kind: sum(rates) / len(rates) for kind, rates in by_kind.items()}
