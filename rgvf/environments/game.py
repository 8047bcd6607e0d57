"""A game: an environment that runs on the host, such as an emulator. It needs no JAX."""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from rgvf.errors import UserError
from rgvf.spec import EnvironmentSpec


class GameError(UserError):
    """A game failed; the message says how."""


class TimeStep(NamedTuple):
    """What one step of one game gives.

    A *game* is what a player calls a game; an *episode* is what the agent learns from. An Atari game has one episode
    for each life.
    """

    observation: NDArray[np.generic]
    """The newest frame: an array of `EnvironmentSpec.frame_shape`, new at each step."""
    reward: float
    """Unclipped; 0 on a step that starts an episode."""
    terminal: bool
    """The episode ended for good, perhaps with a lost life; `observation` is its last."""
    truncated: bool
    """The episode was truncated; `observation` is its last."""
    first: bool
    """A reset step: it ignored its action, and `observation` is the first of an episode."""
    game_over: bool
    """A whole game ended with this step, and the two numbers below are those of the game that ended."""
    game_return: float
    """Unclipped return of the whole game so far."""
    game_length: int
    """Steps of the whole game so far, reset steps not counted."""


@runtime_checkable
class Game(Protocol):
    """A game that starts its next episode by itself.

    The step after a `terminal` or `truncated` time step is a reset step: it ignores its action and starts the next
    episode. So is the first step of a game that has not been reset.
    """

    @property
    def spec(self) -> EnvironmentSpec:
        """Observations and actions."""
        ...

    def current(self) -> TimeStep:
        """The newest time step: what the last `reset` or `step` gave, also after `restore`."""
        ...

    def reset(self) -> TimeStep:
        """Start a new game, whatever was going on."""
        ...

    def step(self, action: int) -> TimeStep:
        """Take an action, given by its index."""
        ...

    def prepare(self) -> None:
        """Called while the learner is busy: do work ahead that a later step needs, if any. Nothing visible changes."""
        ...

    def save(self) -> bytes:
        """Everything that the future depends on, and the newest time step."""
        ...

    def restore(self, data: bytes) -> None:
        """Continue exactly from what `save` gave. ValueError if `data` is not a state of this game."""
        ...

    def render(self) -> NDArray[np.uint8]:
        """The raw screen: (height, width, RGB)."""
        ...

    def close(self) -> None:
        """Release what the game holds."""
        ...
