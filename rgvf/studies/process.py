"""A batch of a study in a process of its own: how it is started, what it says, and why it has ended."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from rgvf.studies.failures import last_line
from rgvf.studies.worker import Job

Said: TypeAlias = "queue.SimpleQueue[tuple[BatchProcess, dict[str, Any]]]"
"""What processes have said, and which of them."""


@dataclass
class BatchProcess:
    """A batch that is running."""

    name: str
    variants: Sequence[str]
    cores: tuple[int, ...]
    log: Path
    popen: subprocess.Popen[str]
    reader: threading.Thread
    began: float = field(default_factory=time.monotonic)
    fraction: float = 0.0
    is_ready: bool = False
    """It has compiled what it runs, and trains until it is measured."""
    is_late: bool = False
    """It was not ready, or not measured, in time."""

    @classmethod
    def launch(cls, name: str, job: Job, cores: tuple[int, ...], log: Path, said: Said) -> BatchProcess:
        """Run a job on some cores. What the process says goes into the queue, errors and warnings into the log."""
        with log.open("w", encoding="utf-8") as errors:
            popen = subprocess.Popen(
                [sys.executable, "-c", start_command(cores)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                encoding="utf-8",
                errors="replace",  # libraries print what they like
                start_new_session=True,  # Ctrl-C comes to this process only, which passes it on once
            )
        assert popen.stdout is not None
        process = cls(name, job.variants, cores, log, popen, threading.Thread())
        process.write(job.to_json())  # where it ended at once, its log says why
        process.reader = threading.Thread(target=process._read, args=(popen.stdout, said), daemon=True)
        process.reader.start()
        return process

    def _read(self, output: Iterable[str], said: Said) -> None:
        """In a thread: what it says."""
        for line in output:
            try:
                message = json.loads(line)
            except ValueError:  # a library printed something
                continue
            if isinstance(message, dict):
                said.put((self, message))

    def write(self, line: str) -> None:
        """Write a line to its input, if it still reads it."""
        if self.popen.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self.popen.stdin.write(line + "\n")
                self.popen.stdin.flush()

    def let_stop(self) -> None:
        """The end of its input lets a process stop, with a checkpoint, however often it happens."""
        if self.popen.stdin is not None:
            with contextlib.suppress(OSError):
                self.popen.stdin.close()

    def kill(self) -> None:
        """End it at once."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)

    def close(self) -> None:
        """After it has ended: read the rest of what it said."""
        self.let_stop()
        self.reader.join(timeout=5)
        if self.popen.stdout is not None and not self.reader.is_alive():  # else one of its own processes has the pipe
            self.popen.stdout.close()

    def why_ended(self) -> str:
        """The signal, if one ended it, and the last line of its log."""
        status = self.popen.returncode
        signal_name = f"it was ended by {signal.Signals(-status).name}" if status < 0 else ""
        return "; ".join(filter(None, [signal_name, last_line(self.log)])) or "it said nothing"


def start_command(cores: Sequence[int]) -> str:
    """Python that starts a worker on some cores: before anything is imported that counts them."""
    use = f"import os; hasattr(os, 'sched_setaffinity') and os.sched_setaffinity(0, {set(cores)})"
    return f"{use}; from rgvf.studies.worker import main; main()"
