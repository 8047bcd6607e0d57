"""A process that runs one batch of a study.

The first line of its standard input is the `Job`. The input stays open as long as the process that started it lives;
when it ends, the batch is stopped with a checkpoint. What happens is written to standard output, a JSON object on each
line. A batch that is only measured says when it is ready, and is measured from the next line of its input on.
"""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from rgvf.errors import UserError
from rgvf.loops import stacking_is_faster
from rgvf.messages import one_line
from rgvf.runs import InUseError
from rgvf.settings import from_data, to_data
from rgvf.signals import GracefulStop
from rgvf.studies.study import Study, open_study, run_batch

PATIENCE = 60.0
"""Seconds to wait for a run that another process is about to leave."""
INTERRUPTED, IN_USE, FAILED = 130, 75, 1
"""Status of a process: stopped from outside, another process trains there, failed."""
LONG, SHORT = 10**12, 1000
"""Frames of a run that is only measured, and on a CPU between two of its reports."""


@dataclass(frozen=True)
class Job:
    """A batch of a study."""

    module: str
    """Of the study."""
    config: Any
    """Settings of the study."""
    out: str
    variants: tuple[str, ...]
    imports: tuple[str, ...] = ()
    measure: float = 0.0
    """Do not run the batch: only measure, for so many seconds, how fast it is."""

    def to_json(self) -> str:
        """On one line."""
        return json.dumps({**dataclasses.asdict(self), "config": to_data(self.config)})

    @classmethod
    def from_json(cls, text: str | bytes) -> tuple[Job, Study]:
        """The job that `to_json` wrote, and its study."""
        data = json.loads(text)
        for module in data["imports"]:
            import_module(module)
        study = import_module(data["module"]).STUDY
        lists = {name: tuple(data[name]) for name in ("variants", "imports")}
        return cls(**{**data, **lists, "config": from_data(study.config_type, data["config"])}), study


class Quiet:
    """A listener of a single batch; the process that started this one knows all but its progress and warnings."""

    def found(self, variants: Sequence[str]) -> None:
        """Results were looked for before."""

    def begin(self, batch: str) -> None:
        """There is only one batch."""

    def finish(self, batch: str, seconds: float) -> None:
        """There is only one batch."""

    def warn(self, message: str) -> None:
        """Nobody needs to know."""


class Stopwatch(Quiet):
    """A listener that measures how fast a batch is, from `start` on. The batch then runs until it is stopped, so that
    others are measured beside it.
    """

    def __init__(self, seconds: float, frames: int, start: threading.Event, stop: GracefulStop) -> None:
        self._seconds, self._frames, self._start, self._stop = seconds, frames, start, stop
        self._is_ready = False
        self._first: tuple[float, float] | None = None
        self.rate = 0.0
        """Frames/s of the whole batch, once compiled."""

    def progress(self, fraction: float) -> None:
        """A fraction of the batch is done."""
        self._stop.check()
        if not self._is_ready:
            self._is_ready = True
            say(ready=True)
        now = time.monotonic()
        if self._first is None and self._start.is_set():
            self._first = now, fraction
        elif self._first and not self.rate and now - self._first[0] >= self._seconds:
            self.rate = (fraction - self._first[1]) * self._frames / (now - self._first[0])
            say(rate=self.rate)


class Reports(Quiet):
    """A listener that writes what happens to standard output, and stops the batch when a signal came."""

    def __init__(self, stop: GracefulStop) -> None:
        self._stop = stop

    def progress(self, fraction: float) -> None:
        """A fraction of the batch is done."""
        say(fraction=round(fraction, 5))
        self._stop.check()

    def warn(self, message: str) -> None:
        """Something is wrong, but the batch continues."""
        say(warning=message)


def say(**what: Any) -> None:
    """Write an object to standard output, if anybody still reads it; after the end of what a library printed."""
    with contextlib.suppress(BrokenPipeError):
        print(f"\n{json.dumps(what)}", flush=True)


def main() -> NoReturn:
    """Run the job on standard input."""
    orders = open(0, "rb", buffering=0)  # noqa: SIM115 - open as long as the process; a thread must not hold a buffer
    job, study = Job.from_json(orders.readline())
    start = threading.Event()
    with GracefulStop(lambda message: None) as stop:
        stop_now = partial(_vanish, job.out) if job.measure else stop.request
        threading.Thread(target=_watch_input, args=(orders, start, stop_now), daemon=True).start()
        try:
            if job.measure:
                _measure(job, study, start, stop)
            else:
                _run(job, study, Reports(stop))
        except KeyboardInterrupt:
            status = INTERRUPTED
        except InUseError:  # it is being trained, so it has not failed
            status = IN_USE
        except UserError as error:
            print(one_line(error), file=sys.stderr)
            status = FAILED
        else:
            status = 0
    sys.exit(status)


def _run(job: Job, study: Study, reports: Reports) -> None:
    folder, _ = open_study(study, job.config, Path(job.out))
    patient_until = time.monotonic() + PATIENCE
    while True:
        try:
            return run_batch(study, job.config, job.variants, reports, folder)
        except InUseError:  # left by a study that was killed a moment ago, and is stopping
            if time.monotonic() > patient_until:
                raise
            reports.progress(0.0)
            time.sleep(0.5)


def _measure(job: Job, study: Study, start: threading.Event, stop: GracefulStop) -> None:
    """Say the frames/s of the batch: the sum over its agents."""
    points = job.config.points if stacking_is_faster() else LONG // SHORT
    config = dataclasses.replace(job.config, frames=LONG, points=points)
    agents = sum(study.seeds(config, variant) for variant in job.variants)
    watch = Stopwatch(job.measure, LONG * agents, start, stop)
    with tempfile.TemporaryDirectory(dir=job.out) as out, contextlib.suppress(KeyboardInterrupt):
        folder, _ = open_study(study, config, Path(out))
        study.run(config, job.variants, watch, folder)
    if not watch.rate:
        stop.check()


def _watch_input(orders: io.FileIO, start: threading.Event, stop: Callable[[], None]) -> None:
    """A line: measure from now on. When standard input ends, it is to stop, or the process that started it is gone."""
    if orders.readline():
        start.set()
    orders.read()
    stop()


def _vanish(folder: str) -> None:
    """A plan is gone: nobody else removes its folder."""
    shutil.rmtree(folder, ignore_errors=True)
    os.killpg(os.getpid(), signal.SIGKILL)
