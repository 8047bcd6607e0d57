"""An environment that runs on the host: an emulator or a simulator with a state of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class HostSpec:
    """What an agent must know about a game before it plays."""

    observation_shape: tuple[int, ...]
    """Of one newest observation: (84, 84) for Atari, (4,) for CartPole, (height, width, channels) for images."""
    observation_dtype: str
    """"uint8" or "float32"."""
    actions: tuple[str, ...]
    """A name for each action; the agent chooses an index."""
    frames_per_step: int = 1
    """Frames of the emulator in one step of the agent."""
    stack: int = 1
    """How many of the newest observations the agent is shown. The learner stacks them, and starts from zeros at
    each `first`."""


class Moment(NamedTuple):
    """What one step of one game gives.

    A *game* is what a player would call one; an *episode* is what the learner learns from. A game of Atari is one
    episode for each life.
    """

    observation: NDArray[np.generic]
    """The newest observation. It is a fresh array at each step."""
    reward: float
    """Unclipped; 0 on a step that starts an episode."""
    terminal: bool
    """The episode ended for good; `observation` is its last. A lost life counts."""
    truncated: bool
    """The episode was cut off; `observation` is its last."""
    first: bool
    """`observation` is the first of an episode: the step ignored its action."""
    game_over: bool
    """A whole game ended with this step, and the two numbers below are those of the game that ended."""
    game_return: float
    """Unclipped return of the whole game so far, with what was earned while it was being started."""
    game_length: int
    """Steps of the whole game so far that the agent chose."""


class Game(Protocol):
    """A game that starts its next episode by itself.

    The step after a `terminal` or `truncated` moment ignores its action, starts the next episode and gives a `first`
    moment. `step` on a game that has not been started does the same.
    """

    @property
    def spec(self) -> HostSpec: ...

    @property
    def moment(self) -> Moment:
        """The newest moment: what the last `reset` or `step` gave, also after `restore`."""
        ...

    def reset(self) -> Moment:
        """Start a new game, whatever was going on."""
        ...

    def step(self, action: int) -> Moment: ...

    def prepare(self) -> None:
        """There is time: do what a later step would have to do, if anything. It changes nothing that can be seen."""
        ...

    def save(self) -> bytes:
        """Everything that the future depends on, the newest moment included."""
        ...

    def restore(self, data: bytes) -> None:
        """Go on from what `save` gave, exactly. ValueError if `data` is not a state of this game."""
        ...

    def render(self) -> NDArray[np.uint8]:
        """The raw screen: (height, width, RGB)."""
        ...

    def close(self) -> None: ...
