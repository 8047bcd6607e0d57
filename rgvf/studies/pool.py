"""Running the batches of a study at once, each in a process of its own.

A batch that fails is recorded, with its log, and does not stop the others.
"""

from __future__ import annotations

import itertools
import math
import os
import queue
import signal
import sys
import time
from collections.abc import Sequence
from typing import Any

from rgvf.environments.workers import available_cores
from rgvf.messages import SILENT
from rgvf.studies.failures import failed_together, failed_variants, failure_file, record_failure
from rgvf.studies.folder import StudyFolder
from rgvf.studies.process import BatchProcess, Said
from rgvf.studies.study import Study, StudyListener, some_of
from rgvf.studies.worker import IN_USE, INTERRUPTED, Job

INTERRUPTIONS = {INTERRUPTED, 128 + 1, 128 + 15, -1, -2, -9, -15}
"""Status of a process that was stopped from outside, by a signal that it obeyed or not."""
TICK = 0.3
"""Seconds between two looks at what the processes say."""
SLOWEST = 20
"""A measurement takes at most so many times as long as it should, and at least a minute."""


class Pool:
    """Up to `at_once` batches of a study, each in a process."""

    def __init__(
        self,
        study: Study,
        config: Any,
        folder: StudyFolder,
        listener: StudyListener,
        at_once: int,
        imports: Sequence[str] = (),
        measure: float = 0.0,
        ready_by: float = math.inf,
    ) -> None:
        """With `measure`, batches are not run: for so many seconds it is measured how fast they are side by side.

        Those that are not ready by `ready_by`, in seconds of `time.monotonic`, are not waited for, nor are those that
        are ready and do not come to an end.
        """
        self._study, self._config, self._folder, self._listener = study, config, folder, listener
        self._at_once, self._imports, self._measure, self._ready_by = at_once, tuple(imports), measure, ready_by
        self._time_to_measure, self._measured_by = max(60.0, SLOWEST * measure), math.inf
        self.rates: dict[str, float] = {}
        """Where batches are measured: frames/s by batch."""
        self.ready_after: dict[str, float] = {}
        """The seconds until a batch was ready, above all compiled."""
        self.not_ready: list[str] = []
        """Batches that were not ready in time, and so were not measured."""
        self._free = share_cores(available_cores(), at_once)
        self._said: Said = queue.SimpleQueue()
        self._running: list[BatchProcess] = []

    def run(self, batches: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Run them all; KeyboardInterrupt where the listener wants to stop, once all have left a checkpoint."""
        waiting = list(batches)
        done = 0
        try:
            while waiting or self._running:
                while waiting and len(self._running) < self._at_once:
                    self._running.append(self._start(*waiting.pop(0)))
                self._listen()
                if self._measure:
                    self._measure_together()
                ended = [each for each in self._running if each.popen.poll() is not None]
                for each in ended:
                    self._running.remove(each)
                    self._free.append(each.cores)
                    done += 1
                    self._end(each)
                under_way = sum(each.fraction for each in self._running)
                self._listener.progress(min(1.0, (done + under_way) / len(batches)))
        finally:
            self._stop()

    def _start(self, name: str, variants: Sequence[str]) -> BatchProcess:
        for variant in variants:
            failure_file(self._folder, variant).unlink(missing_ok=True)
        log = self._folder.path / "logs" / f"{name}.log"
        log.parent.mkdir(exist_ok=True)
        module, folder = module_of(self._study), str(self._folder.path)
        job = Job(module, self._config, folder, tuple(variants), self._imports, self._measure)
        return BatchProcess.launch(name, job, self._free.pop(0), log, self._said)

    def _listen(self) -> None:
        """Take in what has been said since the last time, for at least a moment."""
        until = time.monotonic() + TICK
        while (left := until - time.monotonic()) > 0:
            try:
                process, said = self._said.get(timeout=left)
            except queue.Empty:
                return
            process.fraction = said.get("fraction", process.fraction)
            if "ready" in said:
                process.is_ready = True
                self.ready_after[process.name] = time.monotonic() - process.began
            if "rate" in said:
                self.rates[process.name] = said["rate"]
            if "warning" in said:
                self._listener.warn(f"{process.name}: {said['warning']}")

    def _measure_together(self) -> None:
        """Let processes measure once all are ready, and end them once all have measured, and with them what is late:
        until then it takes its share of the machine.
        """
        running = [each for each in self._running if each.popen.poll() is None]
        now = time.monotonic()
        for each in running:
            if now > self._ready_by and not each.is_ready and not each.is_late:
                self.not_ready.append(each.name)
                each.is_late = True
            each.is_late |= now > self._measured_by and each.name not in self.rates
        waited_for = [each for each in running if not each.is_late]
        if all(each.name in self.rates for each in waited_for):
            for each in running:
                each.kill()
        elif all(each.is_ready for each in waited_for):
            self._measured_by = min(self._measured_by, now + self._time_to_measure)
            for each in waited_for:
                each.write("measure")  # one line or several: the first one counts

    def _end(self, process: BatchProcess) -> None:
        """A process has ended, by itself or because it was late."""
        process.close()
        status = process.popen.returncode
        self._listen()
        if self._measure:
            self._end_measurement(process)
        elif status == 0:
            process.log.unlink(missing_ok=True)
        elif status == IN_USE:
            self._listener.warn(f"{process.name} is being trained by another process, and was left out")
        elif status in INTERRUPTIONS:
            self._listener.warn(f"{process.name} was interrupted; the same command continues it")
        else:
            error = process.why_ended()
            record_failure(self._folder, process.variants, process.log, error)
            self._listener.warn(f"{process.name} failed: {error} (log: {process.log})")

    def _end_measurement(self, process: BatchProcess) -> None:
        """Say why a batch was not measured, if it was not."""
        if process.name in self.rates:
            return
        was_ended = process.is_late and process.popen.returncode == -signal.SIGKILL
        if was_ended and process.name in self.not_ready:
            return
        why = f"it made no progress in {self._time_to_measure:.0f} s" if was_ended else process.why_ended()
        self._listener.warn(f"{some_of(process.variants)} could not be measured: {why}")

    def _stop(self) -> None:
        """Let every process that is still running leave a checkpoint, and wait for it."""
        for each in self._running:
            if self._measure:
                each.kill()
            each.let_stop()
        for each in self._running:
            each.popen.wait()
            each.close()


def run_in_processes(
    study: Study,
    config: Any,
    variants: Sequence[str],
    folder: StudyFolder,
    listener: StudyListener = SILENT,
    at_once: int = 1,
    retry_failed: bool = False,
    imports: Sequence[str] = (),
) -> None:
    """Run variants of a study in processes, up to `at_once` batches at the same time.

    Each has the same share of the cores, however many run: on a CPU, rounding depends on the number of cores, and so a
    result would depend on what else was left to run.

    Args:
        retry_failed: also those that have failed before.
        imports: modules that each process imports first.
    """
    failed = failed_variants(folder, variants)
    if failed and not retry_failed:
        listener.warn(f"{len(failed)} failed before and will not run again without --retry-failed: {', '.join(failed)}")
    batches = batches_to_run(study, variants, failed_together(folder, failed), retry_failed)
    if not batches:
        return
    began = time.monotonic()
    title = f"{len(batches)} batch{'es' * (len(batches) != 1)}, {min(at_once, len(batches))} at once"
    listener.begin(title)
    Pool(study, config, folder, listener, at_once, imports).run(batches)
    listener.finish(title, time.monotonic() - began)


def batches_to_run(
    study: Study, variants: Sequence[str], failed: Sequence[Sequence[str]], retry_failed: bool
) -> list[tuple[str, Sequence[str]]]:
    """The batches of the variants that have not failed and, if wanted, of those that have: together, if they did so."""
    left_out = set(itertools.chain(*failed))
    new = study.batches([variant for variant in variants if variant not in left_out])
    again = [batch for members in failed for batch in study.retries(members)]
    return [*new, *(again if retry_failed else ())]


def leave_memory() -> None:
    """This process and its workers share a GPU: none takes all of its memory."""
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")


def module_of(study: Study) -> str:
    """The module whose `STUDY` it is, so that another process can find it."""
    script = sys.modules.get("__main__")  # it has a second name where it was started by multiprocessing
    loaded = list(sys.modules.items())
    found = [name for name, module in loaded if getattr(module, "STUDY", None) is study and module is not script]
    if not found:
        raise ValueError(f"to be run in processes, the study {study.name} must be the STUDY of a module")
    return found[0]


def share_cores(cores: Sequence[int], n: int) -> list[tuple[int, ...]]:
    """The cores in n shares of one size. Neighbours overlap: where one process waits, another one works."""
    size = min(len(cores), max(1, -(-2 * len(cores) // n)))
    starts = [len(cores) * i // n for i in range(n)]
    return [tuple(sorted(cores[(start + i) % len(cores)] for i in range(size))) for start in starts]
