"""What a worker process does: it owns some games and plays them when told to.

It is started with two inherited descriptors, a connection and the shared memory. It must not import
JAX. It ends when its connection does, however the other side ended.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

from rgvf.environments.host import Game, HostSpec, Moment
from rgvf.environments.shared import map_arrays
from rgvf.environments.sources import make_game, source_from_fields

# The first byte of a message. STEP and its answer carry the number of a group in the second. PREPARE has no answer.
START, STEP, RESET, SAVE, RESTORE, PREPARE, DONE, FAILED = b"i", b"s", b"r", b"v", b"t", b"p", b"d", b"f"


def pack_blobs(blobs: list[bytes]) -> bytes:
    """Several strings of bytes as one."""
    return b"".join(len(blob).to_bytes(8, "little") + blob for blob in blobs)


def unpack_blobs(data: bytes) -> list[bytes]:
    blobs, start = [], 0
    while start < len(data):
        end = start + 8 + int.from_bytes(data[start : start + 8], "little")
        blobs.append(data[start + 8 : end])
        start = end
    return blobs


class _Ahead(NamedTuple):
    """A game that has started its next episode before it was told to."""

    saved: bytes
    """What it was before."""
    moment: Moment


class _Worker:
    """The games of one process."""

    def __init__(self, memory: int) -> None:
        self.memory = memory
        self.games: dict[int, Game] = {}
        self.groups: list[list[int]] = []
        self.ahead: dict[int, _Ahead] = {}
        self.playing = -1
        self.failed = False

    def answer(self, message: bytes) -> bytes | None:
        """Do what a message says. After a failure the games cannot be trusted, and the worker does nothing more."""
        return self._guarded(lambda: self._obey(message[:1], message[1:]))

    def look_ahead(self, message: bytes) -> bytes | None:
        """After the answer to a step: start the next episode where one has ended, whatever the action will be."""
        if message[:1] != STEP:
            return None
        return self._guarded(lambda: self._start_episodes(self.groups[message[1]]))

    def _guarded(self, act: Callable[[], bytes | None]) -> bytes | None:
        try:
            answer = act()
            return None if answer is None else DONE + answer
        except Exception as error:
            self.failed = True
            where = f" (game {self.playing})" if self.playing >= 0 else ""
            return FAILED + " ".join(f"{type(error).__name__}: {error}{where}".split()).encode()

    def _obey(self, command: bytes, data: bytes) -> bytes | None:
        if command == STEP:
            self._step(self.groups[data[0]])
            return data
        if command == PREPARE:
            for index, game in self.games.items():
                self.playing = index
                game.prepare()
            return None
        if command == SAVE:
            return pack_blobs([self._saved(index) for index in self.games])
        if command == START:
            self._start(json.loads(data))
            return b""
        self.ahead.clear()
        blobs = unpack_blobs(data)
        for position, (index, game) in enumerate(self.games.items()):
            self.playing = index
            if command == RESTORE:
                game.restore(blobs[position])
            else:
                game.reset()
            self.batch.write(index, game.moment)
        return b""

    def _saved(self, index: int) -> bytes:
        return self.ahead[index].saved if index in self.ahead else self.games[index].save()

    def _step(self, group: list[int]) -> None:
        for self.playing in group:
            early = self.ahead.pop(self.playing, None)
            moment = early.moment if early else self.games[self.playing].step(int(self.actions[self.playing]))
            self.batch.write(self.playing, moment)

    def _start_episodes(self, group: list[int]) -> None:
        for self.playing in group:
            game = self.games[self.playing]
            if game.moment.terminal or game.moment.truncated:
                self.ahead[self.playing] = _Ahead(game.save(), game.step(0))

    def _start(self, order: dict[str, Any]) -> None:
        _keep_to_one_core()
        shape = tuple(order["spec"].pop("observation_shape"))
        self.batch, self.actions = map_arrays(self.memory, HostSpec(shape, **order["spec"]), order["n"])
        self.groups = order["groups"]
        source = source_from_fields(order["source"])
        for index, seed in order["seeds"]:
            self.games[index] = make_game(source, seed)

    def close(self) -> None:
        for game in self.games.values():
            game.close()


def _keep_to_one_core() -> None:
    """There are as many workers as cores: their libraries must not start threads of their own."""
    try:
        import cv2
    except ModuleNotFoundError:
        return
    cv2.setNumThreads(1)


def serve(connection: Connection, memory: int) -> None:
    """Obey until the connection ends."""
    worker = _Worker(memory)
    try:
        while True:
            message = connection.recv_bytes()
            for work in (worker.answer, worker.look_ahead):
                answer = None if worker.failed else work(message)
                if answer is not None:
                    connection.send_bytes(answer)
    except (EOFError, OSError):
        worker.close()


def main() -> None:
    # Ctrl-C and SIGTERM are the learner's to answer: it may want to save first.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    serve(Connection(int(sys.argv[1])), int(sys.argv[2]))
