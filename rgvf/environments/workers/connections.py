"""The learner's connections to its worker processes: messages, replies, and what happens where none comes."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import subprocess
import tempfile
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from multiprocessing.connection import Connection
from typing import NoReturn, TypeVar

from rgvf.environments.registry import WorkerNeeds
from rgvf.environments.workers.launch import available_cores, close_all, launch
from rgvf.environments.workers.process import FAILED, FILES
from rgvf.environments.workers.step_requests import StepRequests
from rgvf.errors import UserError
from rgvf.signals import seconds_since_stop

_MOST_BYTES = 4096  # of replies to read at once

Replied = TypeVar("Replied")


class WorkerError(UserError):
    """A worker process or one of its games failed. The workers are closed."""


class Connections:
    """Worker processes, each with a connection of its own; requests for steps, which reach all at once; and one pipe
    that says which groups have stepped.

    Args:
        n: how many processes.
        workers: how many of them have games of each group.
        memory: descriptor of the shared memory.
        needs: of their games.
        patience: seconds to wait for a worker on a core of its own.
    """

    def __init__(self, n: int, workers: Sequence[int], memory: int, needs: WorkerNeeds, patience: float) -> None:
        crowd = math.ceil(n / len(available_cores()))  # so many take turns on a core
        self._needs, self._patience, self._reset_seconds = needs, patience * crowd, needs.reset_seconds * crowd
        self.processes: list[tuple[Connection, subprocess.Popen[bytes]]] = []
        self._worker_of: dict[int, int] = {}  # by descriptor
        self._poll = select.poll()
        files = tempfile.mkdtemp(prefix=FILES)
        read_end, stepped = os.pipe()
        self._poll.register(read_end, select.POLLIN)
        self._stepped = Connection(read_end, writable=False)
        self._requests = StepRequests(workers)
        closing = (self.processes, self._stepped, self._requests, os.getpid(), files)
        self._close = weakref.finalize(self, close_all, *closing)
        try:
            for worker in range(n):
                requests = self._requests.read_ends
                self.processes.append(launch(memory, stepped, requests, files, needs.is_loud, self._patience))
                descriptor = self.processes[worker][0].fileno()
                self._worker_of[descriptor] = worker
                self._poll.register(descriptor, select.POLLIN)
        except BaseException:
            self.close()
            raise
        finally:
            os.close(stepped)

    def request(self, messages: Sequence[bytes]) -> list[bytes]:
        """Send each worker its message, and wait for all replies.

        Where it is interrupted, the workers are closed: later replies would be taken for those to the next request.
        """
        self.must_be_open()
        try:
            for worker, message in enumerate(messages):
                self._send(worker, message)
            return [self._receive(worker) for worker in range(len(messages))]
        except BaseException:
            self.close()
            raise

    def request_step(self, group: int) -> None:
        """Request a step of all games of a group. `stepped` has reported the last one."""
        self.must_be_open()
        try:
            self._requests.send(group)
        except BaseException:  # a part of it may be sent
            self.close()
            raise

    def send(self, message: bytes, workers: Iterable[int]) -> None:
        """Send some workers a message that has no reply."""
        self.must_be_open()
        try:
            for worker in workers:
                self._send(worker, message)
        except BaseException:  # only some have it
            self.close()
            raise

    def stepped(self) -> bytes:
        """Wait for groups: the numbers of those that have stepped since the last time."""
        groups = b""
        for descriptor, _ in self._wait(lambda: self._poll.poll(1000)):
            if descriptor in self._worker_of:
                self._read(self._worker_of[descriptor])  # it has failed or ended
            else:
                groups = os.read(descriptor, _MOST_BYTES)
                if not groups:  # no worker has the pipe any more
                    self._poll.unregister(descriptor)
        return groups

    def _wait(self, replied: Callable[[], Replied]) -> Replied:
        """Wait until something has replied; `replied` waits for a second. WorkerError if nothing ever does."""
        began = time.monotonic()
        while True:
            if who := replied():
                return who
            for worker, (_, process) in enumerate(self.processes):
                if process.poll() is not None:  # and something that it started has its connection
                    self._raise_lost(worker)
            waited, since_stop = time.monotonic() - began, seconds_since_stop()
            if waited > self._patience or min(waited, since_stop or 0.0) > self._reset_seconds:
                self._raise_hanging(waited)

    def _send(self, worker: int, message: bytes) -> None:
        try:
            self.processes[worker][0].send_bytes(message)
        except BlockingIOError:  # nobody reads it
            self._raise_hanging(self._patience)
        except OSError:
            self._raise_lost(worker)

    def _receive(self, worker: int) -> bytes:
        """Wait for the next reply of a worker. If the worker dies, its connection ends at once."""
        self._wait(lambda: self.processes[worker][0].poll(1.0))
        return self._read(worker)

    def _read(self, worker: int) -> bytes:
        try:
            reply = self.processes[worker][0].recv_bytes()
        except (EOFError, OSError):
            self._raise_lost(worker)
        if reply[:1] == FAILED:
            self.close()
            raise WorkerError(f"a game failed in its worker process: {reply[1:].decode()}")
        return reply[1:]

    def _raise_hanging(self, seconds: float) -> NoReturn:
        self.close()
        raise WorkerError(f"a worker process hangs: it has not replied for {seconds:.0f} s")

    def _raise_lost(self, worker: int) -> NoReturn:
        process = self.processes[worker][1]
        self.close()
        with contextlib.suppress(OSError):  # engines that it has left
            os.killpg(process.pid, signal.SIGKILL)
        code = process.returncode
        how = f"was killed by signal {-code}" if code < 0 else f"ended with status {code}"
        why = f". {self._needs.when_lost}" if self._needs.when_lost else ""
        raise WorkerError(f"worker process {process.pid} {how}{why}") from None

    def must_be_open(self) -> None:
        """WorkerError where they are closed."""
        if not self._close.alive:
            raise WorkerError("the workers are closed")

    def close(self) -> None:
        """End the processes."""
        self._close()
