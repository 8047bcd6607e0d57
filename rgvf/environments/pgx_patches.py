"""pgx's MinAtar games without most of their loops, which are slow on a GPU.

Short loops are unrolled, and the long ones of Space Invaders and Freeway replaced by closed forms; on a GPU scatters
are replaced, too. Seaquest keeps its long loops: the game to train in is our own. The games stay the same:
`tests/environments/test_minatar.py` compares them with pgx step by step. The changes are made in a private copy of each
module, so pgx itself stays as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from rgvf.environments.flat_copy import flat_copy, is_flat, unrolled_copy
from rgvf.environments.game_names import rom_name


def game_module(game: str, flat: bool | None = None) -> Any:
    """The module of a game, with its loops replaced; flat, for a GPU, without scatters, too (none: on a GPU)."""
    copy = flat_copy if is_flat(flat) else unrolled_copy
    module = copy(f"pgx.minatar.{rom_name(game)}")
    for attribute, replacement in _REPLACED.get(game, {}).items():
        setattr(module, attribute, replacement)
    return module


# Space Invaders


def _nearest_alien(pos: Int[Array, ""], alien_map: Bool[Array, "10 10"]) -> tuple[Array, Array]:
    """The lowest alien of the nearest column that has one; of two as near, the left one."""
    column = jnp.arange(10)
    distance = 2 * jnp.abs(column - pos) + (column > pos)
    nearest = jnp.argmin(jnp.where(jnp.any(alien_map, axis=0), distance, 100))
    here = jnp.any(alien_map & (column == nearest), axis=1)
    return 9 - jnp.argmax(here[::-1]), nearest


# Freeway: a car is [x, row, timer, speed], and no two have the same row.


def _update_cars(pos: Int[Array, ""], cars: Int[Array, "8 4"]) -> tuple[Array, Array]:
    x, row, timer, speed = cars.T
    moves = timer == 0
    moved = (x + jnp.where(speed > 0, 1, -1)) % 10
    after = jnp.where(moves, moved, x)
    hit = ((x == 4) | (after == 4)) & (row == pos)
    pos = jnp.where(jnp.any(hit), 9, pos).astype(pos.dtype)
    return pos, jnp.stack([after, row, jnp.where(moves, jnp.abs(speed), timer - 1), speed], axis=1)


_REPLACED: dict[str, dict[str, Callable[..., Any]]] = {
    "SpaceInvaders": {"_nearest_alien": _nearest_alien},
    "Freeway": {"_update_cars": _update_cars},
}
