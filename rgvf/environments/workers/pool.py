"""Many games at once, in worker processes.

Emulators hold the interpreter's lock, so threads do not help. Workers are new interpreters that import neither JAX nor
the program that launched them. Time steps lie in shared memory without a name. A message of two bytes asks a worker to
step the games of a group. All workers reply to it through one pipe, where a learner that was busy finds all replies at
once. A worker ends when its connection ends, so none outlives its learner.
"""

from __future__ import annotations

import itertools
import json
import math
import os
import select
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import asdict
from multiprocessing.connection import Connection
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import NDArray

from rgvf.environments.registry import make_game, worker_needs
from rgvf.environments.workers.launch import available_cores, check_processes, close_all, launch
from rgvf.environments.workers.memory import TimeSteps, anonymous_file, layout, map_arrays
from rgvf.environments.workers.process import (
    BUILD,
    FAILED,
    FILES,
    PREPARE,
    RESET,
    RESTORE,
    SAVE,
    STEP,
    pack_blobs,
    unpack_blobs,
)
from rgvf.errors import UserError
from rgvf.signals import seconds_since_stop

_MAX_GROUPS = 256
_MOST_BYTES = 4096  # of replies to read at once

Replied = TypeVar("Replied")


class WorkerError(UserError):
    """A worker process or one of its games failed. The workers are closed."""


class Workers:
    """Games in worker processes, stepped in fixed groups.

    Game i lives in process i mod `processes`, so a group is spread over all processes. With several groups the learner
    can act for one while the others step. Which games act together never depends on timing, and what a game gives
    never depends on where it runs.

    Args:
        name: the environment, such as atari/Breakout.
        seeds: one for each game.
        processes: how many; if None one for each core, or one for each game where games need it; never more than games.
        groups: how many contiguous parts to divide the games into.
        imports: modules that each process imports first; they may register environments.
        patience: seconds to wait for a worker on a core of its own; one that has not replied by then counts as hanging.
        options: of the environment, such as sticky.
    """

    def __init__(
        self,
        name: str,
        seeds: Sequence[int],
        processes: int | None = None,
        groups: int = 1,
        imports: Sequence[str] = (),
        patience: float = 600.0,
        **options: Any,
    ) -> None:
        self.n = len(seeds)
        if self.n == 0:
            raise ValueError("seeds must name at least one game")
        if not 1 <= groups <= min(self.n, _MAX_GROUPS):
            raise ValueError(f"groups must be between 1 and {min(self.n, _MAX_GROUPS)}, not {groups}")
        if processes is not None and processes < 1:
            raise ValueError(f"processes must be at least 1, not {processes}")
        game = make_game(name, 0, **options)
        self.spec = game.spec
        game.close()
        self._needs = worker_needs(name)
        check_processes(name, self.n, processes)
        self.processes = self.n if self._needs.alone else min(processes or len(available_cores()), self.n)
        crowd = math.ceil(self.processes / len(available_cores()))  # so many take turns on a core
        self._patience, self._reset_seconds = patience * crowd, self._needs.reset_seconds * crowd
        bounds = [self.n * group // groups for group in range(groups + 1)]
        self.groups = tuple(slice(*pair) for pair in itertools.pairwise(bounds))
        self._busy = [False] * groups
        games = [range(worker, self.n, self.processes) for worker in range(self.processes)]
        self._games_by_group = [
            [[i for i in mine if part.start <= i < part.stop] for part in self.groups] for mine in games
        ]
        self._workers_of = [[w for w, mine in enumerate(self._games_by_group) if mine[g]] for g in range(groups)]
        self._pending = [0] * groups  # workers of each group that have not replied yet
        self._processes: list[tuple[Connection, subprocess.Popen[bytes]]] = []
        files = tempfile.mkdtemp(prefix=FILES)
        read_end, stepped = os.pipe()
        self._stepped = Connection(read_end, writable=False)
        self._close = weakref.finalize(self, close_all, self._processes, self._stepped, os.getpid(), files)
        self._reset_is_due = False
        self._poll = select.poll()
        self._poll.register(read_end, select.POLLIN)
        self._worker_of: dict[int, int] = {}  # by descriptor
        memory = anonymous_file(layout(self.spec, self.n)[1])
        try:
            self._steps, self._actions = map_arrays(memory, self.spec, self.n)
            self._parts = tuple(self._steps.part(games) for games in self.groups)
            for worker in range(self.processes):
                self._processes.append(launch(memory, stepped, files, self._needs.is_loud))
                descriptor = self._processes[worker][0].fileno()
                self._worker_of[descriptor] = worker
                self._poll.register(descriptor, select.POLLIN)
            request = {"spec": asdict(self.spec), "n": self.n, "name": name, "options": options}
            self._build({**request, "imports": list(imports)}, seeds)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(memory)
            os.close(stepped)

    def _build(self, request: dict[str, Any], seeds: Sequence[int]) -> None:
        cores = available_cores()
        # With fewer workers than cores, those of several programs would meet on the first cores.
        has_core = self._needs.has_engines and self.processes >= len(cores)
        for worker in range(self.processes):
            mine = range(worker, self.n, self.processes)
            request["core"] = cores[worker % len(cores)] if has_core else None
            request["seeds"] = [(index, int(seeds[index])) for index in mine]
            request["groups"] = self._games_by_group[worker]
            self._send(worker, BUILD + json.dumps(request).encode())
        self._receive_all()

    def reset(self) -> TimeSteps:
        """Start a new game in every environment."""
        self._reset_is_due = False
        return self._request_all([RESET] * self.processes)

    def reset_later(self) -> None:
        """Start a new game in every environment, but only when one is needed: `restore` may come first."""
        self._must_be_idle()
        self._reset_is_due = True

    def _reset_if_due(self) -> None:
        if self._reset_is_due:
            self.reset()

    def send(self, actions: NDArray[np.integer], group: int = 0) -> None:
        """Let a group take one step. `actions` has one action for each of its games."""
        self._must_be_open()
        self._reset_if_due()
        if self._busy[group]:
            raise RuntimeError(f"group {group} is stepping already: receive before sending again")
        self._actions[self.groups[group]] = actions
        self._busy[group] = True
        self._pending[group] = len(self._workers_of[group])
        message = STEP + bytes([group])
        for worker in self._workers_of[group]:
            self._send(worker, message)

    def receive(self, group: int = 0) -> TimeSteps:
        """Wait for a group. The arrays are views that are valid until the group's next `send`: copy what you keep."""
        self._must_be_open()
        if not self._busy[group]:
            raise RuntimeError(f"group {group} is not stepping: send before receiving")
        while self._pending[group]:
            self._receive_steps()
        self._busy[group] = False
        return self._parts[group]

    def first_done(self) -> int:
        """Wait until one of the stepping groups is done, and say which: it can be received at once."""
        self._must_be_open()
        if not any(self._busy):
            raise RuntimeError("no group is stepping: send before waiting")
        while True:
            for group, busy in enumerate(self._busy):
                if busy and not self._pending[group]:
                    return group
            self._receive_steps()

    def _receive_steps(self) -> None:
        """Wait for replies to steps and count them."""
        for descriptor, _ in self._wait(lambda: self._poll.poll(1000)):
            if descriptor in self._worker_of:
                self._read(self._worker_of[descriptor])  # it has failed or ended
            else:
                for group in os.read(descriptor, _MOST_BYTES):
                    self._pending[group] -= 1

    def _wait(self, replied: Callable[[], Replied]) -> Replied:
        """Wait until something has replied; `replied` waits for a second. WorkerError if nothing ever does."""
        began = time.monotonic()
        while True:
            if who := replied():
                return who
            waited, since_stop = time.monotonic() - began, seconds_since_stop()
            if waited > self._patience or min(waited, since_stop or 0.0) > self._reset_seconds:
                self.close()
                raise WorkerError(f"a worker process hangs: it has not replied for {waited:.0f} s")

    def prepare(self) -> None:
        """The learner will be busy for a while: let the games do work ahead of time."""
        for worker in range(self.processes):
            self._send(worker, PREPARE)

    def current(self) -> TimeSteps:
        """The newest time steps of all games, as views; also after `restore`."""
        self._must_be_idle()
        self._reset_if_due()
        return self._steps

    def save(self) -> list[bytes]:
        """The state of every game, with its newest time step."""
        self._must_be_idle()
        self._reset_if_due()
        for worker in range(self.processes):
            self._send(worker, SAVE)
        states = [b""] * self.n
        for worker, reply in enumerate(self._receive_all()):
            states[worker :: self.processes] = unpack_blobs(reply)
        return states

    def restore(self, states: Sequence[bytes]) -> TimeSteps:
        """Continue from what `save` gave, with any number of processes and groups."""
        if len(states) != self.n:
            raise ValueError(f"there are {self.n} games, but {len(states)} saved states")
        self._reset_is_due = False
        blobs = [pack_blobs(list(states[worker :: self.processes])) for worker in range(self.processes)]
        return self._request_all([RESTORE + blob for blob in blobs])

    def _request_all(self, messages: list[bytes]) -> TimeSteps:
        self._must_be_idle()
        for worker, message in enumerate(messages):
            self._send(worker, message)
        self._receive_all()
        return self._steps

    def _must_be_idle(self) -> None:
        self._must_be_open()
        if any(self._busy):
            raise RuntimeError("some games are stepping: receive every group first")

    def _send(self, worker: int, message: bytes) -> None:
        try:
            self._processes[worker][0].send_bytes(message)
        except OSError:
            self._raise_lost(worker)

    def _receive(self, worker: int) -> bytes:
        """Wait for the next reply of a worker. If the worker dies, its connection ends at once."""
        self._wait(lambda: self._processes[worker][0].poll(1.0))
        return self._read(worker)

    def _read(self, worker: int) -> bytes:
        try:
            reply = self._processes[worker][0].recv_bytes()
        except (EOFError, OSError):
            self._raise_lost(worker)
        if reply[:1] == FAILED:
            self.close()
            raise WorkerError(f"a game failed in its worker process: {reply[1:].decode()}")
        return reply[1:]

    def _receive_all(self) -> list[bytes]:
        return [self._receive(worker) for worker in range(self.processes)]

    def _must_be_open(self) -> None:
        if not self._close.alive:
            raise WorkerError("the workers are closed")

    def _raise_lost(self, worker: int) -> NoReturn:
        process = self._processes[worker][1]
        self.close()
        code = process.returncode
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        why = f". {self._needs.when_lost}" if self._needs.when_lost else ""
        raise WorkerError(f"worker process {process.pid} {how}{why}") from None

    def close(self) -> None:
        """End the processes. Views of the time steps stay readable."""
        self._close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
