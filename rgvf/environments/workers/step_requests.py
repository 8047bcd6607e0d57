"""Requests for steps: a few system calls reach all workers that have games of a group, and the last one reports.

Messages to and from each worker would cost the learner more than their games, where there are many workers: it shares
a core with one of them, and the others wait for that one.

Each group has three pipes. Two take turns with requests: a byte in the pipe wakes all workers that wait for it, and
stays there for those that are late. The next request takes it out again; that comes only after all of them have
stepped, and then they wait for the other pipe. The third pipe counts down: a request puts in a byte for each worker but
one. Who has stepped its games takes one; who finds none is the last, and tells the learner.
"""

from __future__ import annotations

import contextlib
import os
import select
from collections.abc import Iterable, Sequence
from multiprocessing.connection import Connection
from typing import NamedTuple


class _Pipe(NamedTuple):
    read_end: int
    write_end: int


class _Group(NamedTuple):
    turns: tuple[_Pipe, _Pipe]
    countdown: _Pipe


class StepRequests:
    """The learner's side.

    Args:
        workers: for each group, how many have games of it.
    """

    def __init__(self, workers: Sequence[int]) -> None:
        self._workers, self._sent = workers, [0] * len(workers)
        with contextlib.ExitStack() as opened:
            self._groups = [_Group((_open(opened), _open(opened)), _open(opened)) for _ in workers]
            self._opened = opened.pop_all()
        for group in self._groups:
            os.set_blocking(group.countdown.read_end, False)

    @property
    def read_ends(self) -> list[int]:
        """Descriptors for `Inbox`: three for each group."""
        return [pipe.read_end for group in self._groups for pipe in (*group.turns, group.countdown)]

    def send(self, group: int) -> None:
        """Request a step of a group. All its workers have done the last one."""
        turns, countdown = self._groups[group]
        turn = self._sent[group] % 2
        if self._sent[group]:
            os.read(turns[1 - turn].read_end, 1)
        if self._workers[group] > 1:
            os.write(countdown.write_end, bytes(self._workers[group] - 1))
        os.write(turns[turn].write_end, bytes(1))
        self._sent[group] += 1

    def close(self) -> None:
        """Close all pipes."""
        self._opened.close()


def _open(opened: contextlib.ExitStack) -> _Pipe:
    pipe = _Pipe(*os.pipe())
    for end in pipe:
        opened.callback(os.close, end)
    return pipe


class Inbox:
    """A worker's side: messages through its connection, and requests for steps.

    Args:
        connection: with the learner.
        read_ends: those of `StepRequests`.
    """

    def __init__(self, connection: Connection, read_ends: Sequence[int]) -> None:
        self._connection = connection
        self._turns = list(zip(read_ends[::3], read_ends[1::3], strict=True))
        self._countdown = read_ends[2::3]
        self._received = [0] * len(self._turns)
        self._group_of: dict[int, int] = {}  # by descriptor: where the next requests come
        self._poll = select.poll()
        self._poll.register(connection.fileno(), select.POLLIN)

    def listen(self, groups: Iterable[int]) -> None:
        """From now on also to requests for these groups; there was none yet."""
        for group in groups:
            self._wait_for(group)

    def receive(self) -> tuple[list[bytes], list[int]]:
        """Wait for messages, and for groups that are to step. EOFError or OSError where the learner has ended."""
        messages: list[bytes] = []
        groups: list[int] = []
        for descriptor, event in self._poll.poll():
            if descriptor not in self._group_of:
                messages.append(self._connection.recv_bytes())
            elif event & select.POLLIN:  # else the learner is ending, and so will the connection
                groups.append(self._group_of.pop(descriptor))
                self._poll.unregister(descriptor)
        for group in groups:
            self._received[group] += 1
            self._wait_for(group)
        return messages, groups

    def is_last(self, group: int) -> bool:
        """Whether all other workers have stepped their games of the group. To be called once for each request."""
        try:
            return not os.read(self._countdown[group], 1)
        except BlockingIOError:
            return True

    def _wait_for(self, group: int) -> None:
        descriptor = self._turns[group][self._received[group] % 2]
        self._group_of[descriptor] = group
        self._poll.register(descriptor, select.POLLIN)
