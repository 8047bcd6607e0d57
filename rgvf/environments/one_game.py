"""One game of a class that plays several at once, with the interface of a `Game` as far as a film needs it."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from rgvf.environments.game import TimeStep
from rgvf.environments.workers import Workers
from rgvf.environments.workers.memory import TimeSteps


class _Games(Protocol):
    def reset(self) -> TimeSteps: ...
    def send(self, actions: NDArray[np.integer]) -> None: ...
    def receive(self) -> TimeSteps: ...
    def save(self) -> Any: ...
    def close(self) -> None: ...


class OneGame:
    """What all such games share; `_games` has one game."""

    _games: _Games
    newest: TimeStep

    def reset(self) -> TimeStep:
        """Start the game."""
        return self._only(self._games.reset())

    def step(self, action: int) -> TimeStep:
        """Take an action."""
        self._games.send(np.array([action]))
        return self._only(self._games.receive())

    def _only(self, steps: TimeSteps) -> TimeStep:
        self.newest = TimeStep(steps.observation[0].copy(), *(array[0].item() for array in steps[1:]))
        return self.newest

    def close(self) -> None:
        """Release what the game holds."""
        self._games.close()


class WorkerGame(OneGame):
    """A game in a process of its own, for an engine that may end its process. It shows what the agent sees."""

    def __init__(self, name: str, seed: int, **options: Any) -> None:
        self._games = self._workers = Workers(name, [seed], **options)

    def save(self) -> bytes:
        """The state of the game."""
        return self._workers.save()[0]

    def render(self) -> NDArray[np.uint8]:
        """The newest observation, an image."""
        return np.asarray(self.newest.observation, np.uint8)
