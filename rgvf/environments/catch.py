"""Catch: a small game that an agent learns in a minute on a CPU."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

SIZE = 10
BALLS = 5
REACH = 1
"""Columns of the paddle on each side of its middle."""
ID = "rgvf/Catch-v0"

_BALL, _PADDLE = 0, 1  # channels


class Catch(gymnasium.Env[NDArray[np.uint8], Any]):
    """Balls fall straight down a 10×10 screen, one row a step; the paddle, three wide, must be under each in the end.

    The reward is 1 for a ball that is caught and −1 for one that is missed. A miss ends the episode, and so does the
    fifth ball. The observation has a channel for the ball and one for the paddle. Random play scores about −0.5, and
    the best is 5.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"], "render_fps": 5}  # noqa: RUF012
    observation_space = gymnasium.spaces.Box(0, 255, (SIZE, SIZE, 2), np.uint8)
    action_space = gymnasium.spaces.Discrete(3)

    def __init__(self, render_mode: str | None = None) -> None:
        self.render_mode = render_mode
        self._row = self._column = self._paddle = self._caught = 0

    def get_action_meanings(self) -> list[str]:
        """A name for each action."""
        return ["left", "stay", "right"]

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.uint8], dict[str, Any]]:
        super().reset(seed=seed, options=options)
        self._caught, self._paddle = 0, int(self.np_random.integers(SIZE))
        self._drop()
        return self._screen(), {}

    def step(self, action: int) -> tuple[NDArray[np.uint8], float, bool, bool, dict[str, Any]]:
        self._paddle = min(max(self._paddle + int(action) - 1, 0), SIZE - 1)
        if self._row == SIZE - 1:  # it was caught: the next one
            self._drop()
            return self._screen(), 0.0, False, False, {}
        self._row += 1
        if self._row < SIZE - 1:
            return self._screen(), 0.0, False, False, {}
        caught = abs(self._column - self._paddle) <= REACH
        self._caught += caught
        return self._screen(), 1.0 if caught else -1.0, not caught or self._caught == BALLS, False, {}

    def _drop(self) -> None:
        self._row, self._column = 0, int(self.np_random.integers(SIZE))

    def _screen(self) -> NDArray[np.uint8]:
        screen = np.zeros((SIZE, SIZE, 2), np.uint8)
        screen[self._row, self._column, _BALL] = 255
        screen[-1, max(self._paddle - REACH, 0) : self._paddle + REACH + 1, _PADDLE] = 255
        return screen

    def render(self) -> NDArray[np.uint8]:
        """The screen, 16 times as large: the ball red, the paddle green."""
        picture = np.zeros((SIZE, SIZE, 3), np.uint8)
        picture[..., :2] = self._screen()
        return picture.repeat(16, axis=0).repeat(16, axis=1)


def register() -> None:
    """Make the task known to Gymnasium as `ID`."""
    if ID not in gymnasium.registry:
        gymnasium.register(ID, entry_point=f"{__name__}:Catch")
