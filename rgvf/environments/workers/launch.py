"""Worker processes: how they are launched and ended."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

from rgvf.environments.registry import worker_needs
from rgvf.environments.workers.step_requests import StepRequests

_COMMAND = "import sys; sys.path[:] = sys.argv[5:]; from rgvf.environments.workers.process import main; main()"
_CLOSE_SECONDS = 2.0  # a worker that has not ended by then is killed


def available_cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def check_processes(name: str, games: int, processes: int | None) -> None:
    """ValueError where so many games of this environment cannot be in so few processes."""
    if worker_needs(name).alone and processes and processes < games:
        raise ValueError(f"each game of {name} needs a process of its own: {games}, not {processes}")


def launch(
    memory: int, stepped: int, requests: Sequence[int], files: str, is_loud: bool, patience: float
) -> tuple[Connection, subprocess.Popen[bytes]]:
    """A new interpreter, in its own process group so that Ctrl-C does not reach it.

    Args:
        memory: descriptor of the shared memory.
        stepped: descriptor of the pipe that says which groups have stepped.
        requests: descriptors for requests for steps, three for each group.
        files: folder for the temporary files of all workers and of their engines; each has a folder in it.
        is_loud: nobody reads what it prints.
        patience: seconds after which a message that it does not read is given up, with a BlockingIOError.
    """
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", math.ceil(patience), 0))
    with theirs:
        numbers = [str(theirs.fileno()), str(memory), str(stepped), ",".join(map(str, requests))]
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND, *numbers, *sys.path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if is_loud else None,
            pass_fds=(theirs.fileno(), memory, stepped, *requests),
            process_group=0,
            env={
                "OPENBLAS_NUM_THREADS": "1",
                "OMP_NUM_THREADS": "1",
                **os.environ,
                "TMPDIR": tempfile.mkdtemp(dir=files),
            },
        )
    return Connection(ours.detach()), process


def close_all(
    processes: list[tuple[Connection, subprocess.Popen[bytes]]],
    stepped: Connection,
    requests: StepRequests,
    owner: int,
    files: str,
) -> None:
    """End the processes; those that do not end by themselves are killed. Then remove their temporary files."""
    if os.getpid() != owner:  # in a fork of the learner
        return
    for connection, _ in processes:
        connection.close()
    stepped.close()
    requests.close()
    deadline = time.monotonic() + _CLOSE_SECONDS
    for _, process in processes:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(max(0.0, deadline - time.monotonic()))
        if process.returncode != 0:  # it has not closed its games: their engines may be processes of its group
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    shutil.rmtree(files, ignore_errors=True)
