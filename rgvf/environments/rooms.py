"""MiniGrid's rooms in the compiled program, as xminigrid plays them: the agent sees a few cells in front of it.

`step` is the package's own, which does not reset. `tests/environments/test_rooms.py` compares both, step by step.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, Key, UInt8
from numpy.typing import NDArray
from xminigrid.core.constants import NUM_COLORS, NUM_TILES
from xminigrid.registration import make
from xminigrid.rendering.rgb_render import render
from xminigrid.types import StepType

from rgvf.environments.environment import Step
from rgvf.environments.game_names import find_room
from rgvf.environments.libraries import as_arrays, loose_promotion

TILE_PIXELS = 16
"""Of a cell in a film."""


class Room:
    """One of xminigrid's rooms.

    The view is a square in front of the agent, which stands in the middle of the last row and looks up. Each cell has a
    plane of booleans for each kind of tile, then one for each colour. The agent sees through walls, but not what it
    carries.

    Args:
        name: one of `XMINIGRID_ROOMS`.
    """

    costly_reset = True
    actions: tuple[str, ...] = ("forward", "turn-right", "turn-left", "pick-up", "put-down", "toggle")

    def __init__(self, name: str) -> None:
        self.name = find_room(name)
        room, params = make(self.name)
        self._room: Any = room
        self._params: Any = params
        view = params.view_size
        self.observation_shape: tuple[int, ...] = (view, view, NUM_TILES + NUM_COLORS)

    def reset(self, key: Key[Array, ""]) -> tuple[Any, Bool[Array, "view view planes"]]:
        """A new room."""
        with loose_promotion():
            first = as_arrays(self._room.reset(self._params, key))
        return first, _planes(first.observation)

    def step(self, state: Any, action: Int[Array, ""], key: Key[Array, ""]) -> tuple[Any, Step]:
        """One step; a room that is not solved in time is truncated."""
        del key  # only the start is random
        with loose_promotion():
            after = as_arrays(self._room.step(self._params, state, action))
        terminal = after.discount == 0
        truncated = (after.step_type == StepType.LAST) & ~terminal
        return after, Step(_planes(after.observation), after.reward, terminal, truncated)

    def render(self, state: Any) -> NDArray[np.uint8]:
        """The whole room from above; what the agent sees is brighter."""
        return render(np.asarray(state.state.grid), state.state.agent, self._params.view_size, TILE_PIXELS)


def _planes(view: UInt8[Array, "view view 2"]) -> Bool[Array, "view view planes"]:
    """Kind of tile and colour of each cell as planes."""
    kinds, colours = (jax.nn.one_hot(view[..., i], n, dtype=bool) for i, n in enumerate((NUM_TILES, NUM_COLORS)))
    return jnp.concatenate([kinds, colours], axis=-1)
