"""Many games at once, in worker processes.

Emulators hold the interpreter's lock, so threads do not help. Workers are fresh interpreters that do not import
JAX, nor the program that started them. What the games give lies in shared memory that has no name; a worker is woken
once for each step of a group, by a message of two bytes. A worker ends when its connection does, so none outlives its
learner.
"""

from __future__ import annotations

import itertools
import json
import os
import select
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from rgvf.environments.shared import Batch, anonymous_file, layout, map_arrays
from rgvf.environments.sources import Source, source_fields, spec_of
from rgvf.environments.worker import FAILED, PREPARE, RESET, RESTORE, SAVE, START, STEP, pack_blobs, unpack_blobs

_COMMAND = "import sys; sys.path[:] = sys.argv[3:]; from rgvf.environments.worker import main; main()"
_PATIENCE = 2.0  # seconds that a worker has to end by itself
_MOST_GROUPS = 256


class WorkerError(RuntimeError):
    """A worker process or one of its games failed. The workers are closed."""


class Workers:
    """Games in worker processes, stepped in fixed groups.

    Game i lives in process i mod `processes`, so a group is spread over as many as it can be. With several groups the
    learner can act for one while the others play. Which games act together never depends on timing, and what a game
    gives never depends on where it runs.

    Args:
        source: what to play.
        seeds: one for each game.
        processes: how many; as many as cores if None, and never more than games.
        groups: how many contiguous parts to divide the games into.
    """

    def __init__(self, source: Source, seeds: Sequence[int], processes: int | None = None, groups: int = 1) -> None:
        self.n = len(seeds)
        if self.n == 0:
            raise ValueError("seeds must name at least one game")
        if not 1 <= groups <= min(self.n, _MOST_GROUPS):
            raise ValueError(f"groups must be between 1 and {min(self.n, _MOST_GROUPS)}, not {groups}")
        if processes is not None and processes < 1:
            raise ValueError(f"processes must be at least 1, not {processes}")
        self.spec = spec_of(source)
        self.processes = min(processes or _cores(), self.n)
        bounds = [self.n * group // groups for group in range(groups + 1)]
        self.groups = tuple(slice(*pair) for pair in itertools.pairwise(bounds))
        self._busy = [False] * groups
        games = [range(worker, self.n, self.processes) for worker in range(self.processes)]
        self._shares = [[[i for i in mine if part.start <= i < part.stop] for part in self.groups] for mine in games]
        self._players = [[w for w, share in enumerate(self._shares) if share[group]] for group in range(groups)]
        self._awaited = [0] * groups  # workers of each group that have not answered yet
        self._crew: list[tuple[Connection, subprocess.Popen[bytes]]] = []
        self._close = weakref.finalize(self, _dismiss, self._crew, os.getpid())
        self._ears = select.poll()
        self._speakers: dict[int, int] = {}
        memory = anonymous_file(layout(self.spec, self.n)[1])
        try:
            self._batch, self._actions = map_arrays(memory, self.spec, self.n)
            self._parts = tuple(self._batch.part(games) for games in self.groups)
            for worker in range(self.processes):
                self._crew.append(_launch(memory))
                self._speakers[self._crew[worker][0].fileno()] = worker
                self._ears.register(self._crew[worker][0].fileno(), select.POLLIN)
            self._start(source, seeds)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(memory)

    def _start(self, source: Source, seeds: Sequence[int]) -> None:
        order: dict[str, object] = {"spec": asdict(self.spec), "n": self.n, "source": source_fields(source)}
        for worker in range(self.processes):
            mine = range(worker, self.n, self.processes)
            order["seeds"] = [(index, int(seeds[index])) for index in mine]
            order["groups"] = self._shares[worker]
            self._tell(worker, START + json.dumps(order).encode())
        self._hear_all()

    def reset(self) -> Batch:
        """Start a new game everywhere."""
        return self._everywhere([RESET] * self.processes)

    def send(self, actions: NDArray[np.integer], group: int = 0) -> None:
        """Let a group play one step. `actions` has one action for each of its games."""
        self._must_be_open()
        if self._busy[group]:
            raise RuntimeError(f"group {group} is playing already: receive before sending again")
        self._actions[self.groups[group]] = actions
        self._busy[group] = True
        self._awaited[group] = len(self._players[group])
        message = STEP + bytes([group])
        for worker in self._players[group]:
            self._tell(worker, message)

    def receive(self, group: int = 0) -> Batch:
        """Wait for a group. The arrays are views that hold until the group's next `send`: copy what is to be kept."""
        self._must_be_open()
        if not self._busy[group]:
            raise RuntimeError(f"group {group} is not playing: send before receiving")
        while self._awaited[group]:
            self._listen()
        self._busy[group] = False
        return self._parts[group]

    def first_done(self) -> int:
        """Wait until any of the groups that play has played its step, and say which: it can be received at once."""
        self._must_be_open()
        if not any(self._busy):
            raise RuntimeError("no group is playing: send before waiting")
        while True:
            for group, busy in enumerate(self._busy):
                if busy and not self._awaited[group]:
                    return group
            self._listen()

    def _listen(self) -> None:
        """Wait for answers to steps and take note of them."""
        for descriptor, _ in self._ears.poll():
            self._awaited[self._hear(self._speakers[descriptor])[0]] -= 1

    def prepare(self) -> None:
        """The learner will be busy for a while: let the games do what they can do ahead of time."""
        for worker in range(self.processes):
            self._tell(worker, PREPARE)

    def current(self) -> Batch:
        """The newest moments of all games, as views; also after `restore`."""
        self._must_rest()
        return self._batch

    def save(self) -> list[bytes]:
        """The state of every game, the newest moments included."""
        self._must_rest()
        for worker in range(self.processes):
            self._tell(worker, SAVE)
        states = [b""] * self.n
        for worker, answer in enumerate(self._hear_all()):
            states[worker :: self.processes] = unpack_blobs(answer)
        return states

    def restore(self, states: Sequence[bytes]) -> Batch:
        """Go on from what `save` gave, with any number of processes and groups."""
        if len(states) != self.n:
            raise ValueError(f"there are {self.n} games, but {len(states)} saved states")
        blobs = [pack_blobs(list(states[worker :: self.processes])) for worker in range(self.processes)]
        return self._everywhere([RESTORE + blob for blob in blobs])

    def _everywhere(self, messages: list[bytes]) -> Batch:
        self._must_rest()
        for worker, message in enumerate(messages):
            self._tell(worker, message)
        self._hear_all()
        return self._batch

    def _must_rest(self) -> None:
        self._must_be_open()
        if any(self._busy):
            raise RuntimeError("some games are playing: receive every group first")

    def _tell(self, worker: int, message: bytes) -> None:
        try:
            self._crew[worker][0].send_bytes(message)
        except OSError:
            self._lost(worker)

    def _hear(self, worker: int) -> bytes:
        """The next answer of a worker. If the worker dies, its connection ends at once."""
        try:
            answer = self._crew[worker][0].recv_bytes()
        except (EOFError, OSError):
            self._lost(worker)
        if answer[:1] == FAILED:
            self.close()
            raise WorkerError(f"a game failed in its worker process: {answer[1:].decode()}")
        return answer[1:]

    def _hear_all(self) -> list[bytes]:
        return [self._hear(worker) for worker in range(self.processes)]

    def _must_be_open(self) -> None:
        if not self._close.alive:
            raise WorkerError("the workers are closed")

    def _lost(self, worker: int) -> NoReturn:
        process = self._crew[worker][1]
        self.close()
        code = process.returncode
        how = f"was ended by signal {-code}" if code < 0 else f"ended with status {code}"
        raise WorkerError(f"worker process {process.pid} {how}") from None

    def close(self) -> None:
        """End the processes. Views of the batch stay readable."""
        self._close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _launch(memory: int) -> tuple[Connection, subprocess.Popen[bytes]]:
    """A fresh interpreter, in a process group of its own so that Ctrl-C does not reach it."""
    ours, theirs = socket.socketpair()
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-P", "-c", _COMMAND, str(theirs.fileno()), str(memory), *sys.path],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(), memory),
            process_group=0,
            env={"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", **os.environ},
        )
    return Connection(ours.detach()), process


def _dismiss(crew: list[tuple[Connection, subprocess.Popen[bytes]]], owner: int) -> None:
    if os.getpid() != owner:  # a fork of the learner: the workers are not its own
        return
    for connection, _ in crew:
        connection.close()
    deadline = time.monotonic() + _PATIENCE
    for _, process in crew:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
