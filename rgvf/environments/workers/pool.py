"""Many games at once, in worker processes.

Emulators hold the interpreter's lock, so threads do not help. Workers are new interpreters that import neither JAX nor
the program that launched them. Time steps lie in shared memory without a name. A request for a step of a group reaches
all its workers at once, and the last of them replies. A worker ends when its connection ends, so none outlives its
learner.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rgvf.environments.registry import make_game, worker_needs
from rgvf.environments.workers.connections import Connections
from rgvf.environments.workers.launch import available_cores, check_processes
from rgvf.environments.workers.memory import TimeSteps, anonymous_file, layout, map_arrays
from rgvf.environments.workers.process import (
    BUILD,
    PREPARE,
    RESET,
    RESTORE,
    SAVE,
    pack_blobs,
    unpack_blobs,
)

_MAX_GROUPS = 64


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
        needs = worker_needs(name)
        check_processes(name, self.n, processes)
        self.processes = self.n if needs.alone else min(processes or len(available_cores()), self.n)
        bounds = [self.n * group // groups for group in range(groups + 1)]
        self.groups = tuple(slice(*pair) for pair in itertools.pairwise(bounds))
        self._busy = [False] * groups
        games = [range(worker, self.n, self.processes) for worker in range(self.processes)]
        self._games_by_group = [
            [[i for i in mine if part.start <= i < part.stop] for part in self.groups] for mine in games
        ]
        workers = [sum(bool(mine[group]) for mine in self._games_by_group) for group in range(groups)]
        self._stepping = [False] * groups
        self._reset_is_due = False
        memory = anonymous_file(layout(self.spec, self.n)[1])
        try:
            self._steps, self._actions = map_arrays(memory, self.spec, self.n)
            self._parts = tuple(self._steps.part(games) for games in self.groups)
            self._connections = Connections(self.processes, workers, memory, needs, patience)
        finally:
            os.close(memory)
        request = {"spec": asdict(self.spec), "n": self.n, "name": name, "options": options, "imports": list(imports)}
        self._build(request, seeds, needs.has_engines)

    def _build(self, request: dict[str, Any], seeds: Sequence[int], has_engines: bool) -> None:
        cores = available_cores()
        # With fewer workers than cores, those of several programs would meet on the first cores.
        has_core = has_engines and self.processes >= len(cores)
        messages: list[bytes] = []
        for worker in range(self.processes):
            mine = range(worker, self.n, self.processes)
            own = {
                "core": cores[worker % len(cores)] if has_core else None,
                "seeds": [(index, int(seeds[index])) for index in mine],
                "groups": self._games_by_group[worker],
            }
            messages.append(BUILD + json.dumps(request | own).encode())
        self._connections.request(messages)

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
        self._check(group)
        self._reset_if_due()
        if self._busy[group]:
            raise RuntimeError(f"group {group} is stepping already: receive before sending again")
        self._actions[self.groups[group]] = actions
        self._busy[group] = True
        self._stepping[group] = True
        self._connections.request_step(group)

    def receive(self, group: int = 0) -> TimeSteps:
        """Wait for a group. The arrays are views that are valid until the group's next `send`: copy what you keep."""
        self._check(group)
        if not self._busy[group]:
            raise RuntimeError(f"group {group} is not stepping: send before receiving")
        while self._stepping[group]:
            self._wait()
        self._busy[group] = False
        return self._parts[group]

    def first_done(self) -> int:
        """Wait until one of the stepping groups is done, and say which: it can be received at once."""
        self._connections.must_be_open()
        if not any(self._busy):
            raise RuntimeError("no group is stepping: send before waiting")
        while True:
            for group, busy in enumerate(self._busy):
                if busy and not self._stepping[group]:
                    return group
            self._wait()

    def _wait(self) -> None:
        """Until a group has stepped, or several have."""
        for group in self._connections.stepped():
            self._stepping[group] = False

    def prepare(self) -> None:
        """The learner will be busy for a while: let the games do work ahead of time."""
        self._connections.send(PREPARE, range(self.processes))

    def current(self) -> TimeSteps:
        """The newest time steps of all games, as views; also after `restore`."""
        self._must_be_idle()
        self._reset_if_due()
        return self._steps

    def save(self) -> list[bytes]:
        """The state of every game, with its newest time step."""
        self._must_be_idle()
        self._reset_if_due()
        states = [b""] * self.n
        for worker, reply in enumerate(self._connections.request([SAVE] * self.processes)):
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
        self._connections.request(messages)
        return self._steps

    def _check(self, group: int) -> None:
        self._connections.must_be_open()
        if not 0 <= group < len(self.groups):
            raise ValueError(f"there are {len(self.groups)} groups, counted from 0, and no group {group}")

    def _must_be_idle(self) -> None:
        self._connections.must_be_open()
        if any(self._busy):
            raise RuntimeError("some games are stepping: receive every group first")

    def close(self) -> None:
        """End the processes. Views of the time steps stay readable."""
        self._connections.close()

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()
