"""What a worker process does: it owns some games and steps them on request.

It inherits a connection, the shared memory, pipes for requests for steps, and one that says which groups have stepped.
It must not import JAX. It ends when its connection ends, however the other side ended.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

from rgvf.environments.game import Game, GameError, TimeStep
from rgvf.environments.registry import make_game
from rgvf.environments.workers.memory import map_arrays
from rgvf.environments.workers.step_requests import Inbox
from rgvf.messages import one_line
from rgvf.spec import EnvironmentSpec

FILES = "rgvf-workers-"
"""What the name of the folder begins with in which workers have their temporary files."""
# The first byte of a message. PREPARE has no reply.
BUILD, RESET, SAVE, RESTORE, PREPARE, DONE, FAILED = b"i", b"r", b"v", b"t", b"p", b"d", b"f"


def pack_blobs(blobs: list[bytes]) -> bytes:
    """Several byte strings as one."""
    return b"".join(len(blob).to_bytes(8, "little") + blob for blob in blobs)


def unpack_blobs(data: bytes) -> list[bytes]:
    """The byte strings that `pack_blobs` joined."""
    blobs, start = [], 0
    while start < len(data):
        end = start + 8 + int.from_bytes(data[start : start + 8], "little")
        blobs.append(data[start + 8 : end])
        start = end
    return blobs


class _EarlyReset(NamedTuple):
    """A game that has taken its reset step before it was requested."""

    saved: bytes
    """Its state before that step."""
    step: TimeStep


class _Worker:
    """The games of one process."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.games: dict[int, Game] = {}
        self.groups: list[list[int]] = []
        self.early: dict[int, _EarlyReset] = {}
        self.playing = -1
        self.failed = False

    def reply(self, message: bytes) -> bytes | None:
        """Do what a message requests. After a failure the games cannot be trusted, and the worker does nothing more."""
        return self._guarded(lambda: self._handle(message[:1], message[1:]))

    def step(self, group: int) -> bytes | None:
        """Step the games of a group. There is no reply but that of a failure."""
        return self._guarded(lambda: self._step(self.groups[group]))

    def reset_early(self, group: int) -> bytes | None:
        """When the learner knows of a step: reset games whose episode has ended, since reset steps ignore actions."""
        return self._guarded(lambda: self._reset_ended(self.groups[group]))

    def _guarded(self, act: Callable[[], bytes | None]) -> bytes | None:
        try:
            result = act()
            return None if result is None else DONE + result
        except BaseException as error:  # whatever a game raises, SystemExit included
            self.failed = True
            where = f" (game {self.playing})" if self.playing >= 0 else ""
            return FAILED + f"{one_line(error)}{where}".encode(errors="backslashreplace")

    def _handle(self, command: bytes, data: bytes) -> bytes | None:
        if command == PREPARE:
            for index, game in self.games.items():
                self.playing = index
                game.prepare()
            return None
        if command == SAVE:
            return pack_blobs([self._saved(index) for index in self.games])
        if command == BUILD:
            self._build(json.loads(data))
            return b""
        self.early.clear()
        blobs = unpack_blobs(data)
        for position, (index, game) in enumerate(self.games.items()):
            self.playing = index
            if command == RESTORE:
                game.restore(blobs[position])
            else:
                game.reset()
            self.steps.write(index, game.current())
        return b""

    def _saved(self, index: int) -> bytes:
        return self.early[index].saved if index in self.early else self.games[index].save()

    def _step(self, group: list[int]) -> None:
        for self.playing in group:
            early = self.early.pop(self.playing, None)
            step = early.step if early else self.games[self.playing].step(int(self.actions[self.playing]))
            if not math.isfinite(step.reward):
                raise GameError(f"its reward is {step.reward}")
            self.steps.write(self.playing, step)

    def _reset_ended(self, group: list[int]) -> None:
        for self.playing in group:
            game = self.games[self.playing]
            if game.current().terminal or game.current().truncated:
                self.early[self.playing] = _EarlyReset(game.save(), game.step(0))

    def _build(self, request: dict[str, Any]) -> None:
        _use_one_core(request["core"])
        spec: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in request["spec"].items()
        }
        self.steps, self.actions = map_arrays(self.memory, EnvironmentSpec(**spec), request["n"])
        self.groups = request["groups"]
        for module in request["imports"]:
            import_module(module)
        for index, seed in request["seeds"]:
            self.games[index] = make_game(request["name"], seed, **request["options"])

    def close(self) -> None:
        for game in self.games.values():
            game.close()


def _use_one_core(core: int | None) -> None:
    """There are as many workers as cores: their libraries must not start threads. With a core: stay on it."""
    if core is not None and hasattr(os, "sched_setaffinity"):
        with contextlib.suppress(OSError):  # it may have been taken away meanwhile
            os.sched_setaffinity(0, {core})
    try:
        import cv2
    except ModuleNotFoundError:
        return
    cv2.setNumThreads(1)


def serve(connection: Connection, memory: int, stepped: int, requests: Sequence[int]) -> None:
    """Handle messages and requests until the connection ends."""
    worker, inbox = _Worker(memory), Inbox(connection, requests)

    def do(work: Callable[[], bytes | None]) -> None:
        reply = None if worker.failed else work()
        if reply is not None:
            connection.send_bytes(reply)

    try:
        while True:
            messages, groups = inbox.receive()
            for message in messages:
                do(partial(worker.reply, message))
                if message[:1] == BUILD:
                    inbox.listen(group for group, games in enumerate(worker.groups) if games)
            for group in groups:
                do(partial(worker.step, group))
                if not worker.failed and inbox.is_last(group):
                    os.write(stepped, bytes([group]))
                do(partial(worker.reset_early, group))
    except (EOFError, OSError):
        worker.close()


def _end_with(learner: int) -> None:
    """End this process and engines of its games some seconds after the learner's, also while a game hangs in Python."""
    while os.getppid() == learner:
        time.sleep(1.0)
    time.sleep(2.0)  # a game that does not hang is closed meanwhile
    _remove_files(of_all=True)
    os.killpg(os.getpid(), signal.SIGKILL)


def _remove_files(of_all: bool = False) -> None:
    """The temporary files of this worker, or of all workers: the learner, which would remove them, may be gone."""
    own = Path(os.environ.get("TMPDIR", ""))
    if own.parent.name.startswith(FILES):
        shutil.rmtree(own.parent if of_all else own, ignore_errors=True)
        with contextlib.suppress(OSError):  # others are not done yet
            own.parent.rmdir()


def main() -> None:
    """The entry point of a worker process."""
    # Signals to stop are for the learner to handle: it may want to save first.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
    connection, memory, stepped = map(int, sys.argv[1:4])
    requests = [int(each) for each in sys.argv[4].split(",")]
    for descriptor in (
        connection,
        memory,
        stepped,
        *requests,
    ):  # an engine would keep it open when this process is killed
        os.set_inheritable(descriptor, False)
    try:
        serve(Connection(connection), memory, stepped, requests)
    finally:
        _remove_files()
