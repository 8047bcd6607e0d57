"""pgx's MinAtar games without their loops, which are slow on a GPU.

Short loops are unrolled, and long ones replaced by closed forms; on a GPU scatters are replaced, too. The games stay
the same:
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


# Seaquest: a fish is [x, y, faces right, timer], a submarine has a fifth number, the time to its next shot; bullets are
# [x, y, faces right]. Filled rows come first, and the empty ones are all −1.


def _move(enemies: Int[Array, "n k"], speed: Array, sub_x: Array, sub_y: Array) -> tuple[Array, Array, Array, Array]:
    """Move those whose time has come: the rows, who moved, who left the screen, and whether one hit the submarine."""
    x, y, right, timer = enemies.T[:4]
    filled = jnp.any(enemies != -1, axis=1)
    hit = jnp.any((x == sub_x) & (y == sub_y))
    moves = filled & (timer == 0)
    after = jnp.where(moves, x + jnp.where(right != 0, 1, -1), x)
    out = moves & ((after < 0) | (after > 9))
    hits = moves & ~out & (after == sub_x) & (y == sub_y)
    left = jnp.where(moves, speed, jnp.where(filled, timer - 1, timer))
    rows = enemies.at[:, 0].set(after).at[:, 3].set(left)
    return rows, moves & ~out & ~hits, out, hit | jnp.any(hits)


def _shot(enemies: Array, alive: Array, bullets: Array) -> tuple[Array, Array]:
    """Which enemies and which bullets end together.

    Enemies are looked at from the last to the first, and each takes the first bullet in its cell that is left: in a
    cell, the m-th enemy from the end and the m-th bullet.
    """
    same = (enemies[:, None, :2] == bullets[None, :, :2]).all(-1) & alive[:, None]
    enemy_cell = (enemies[:, None, :2] == enemies[None, :, :2]).all(-1) & alive
    bullet_cell = (bullets[:, None, :2] == bullets[None, :, :2]).all(-1)
    n, m = len(enemies), len(bullets)
    enemy_rank = jnp.sum(enemy_cell & (jnp.arange(n)[None] > jnp.arange(n)[:, None]), axis=1)
    bullet_rank = jnp.sum(bullet_cell & (jnp.arange(m)[None] < jnp.arange(m)[:, None]), axis=1)
    together = same & (enemy_rank[:, None] == bullet_rank[None])
    return together.any(1), together.any(0)


def _without(rows: Int[Array, "n k"], removed: Bool[Array, " n"]) -> Int[Array, "n k"]:
    """The rows that are left, moved up; empty ones after them."""
    n = len(rows)
    place = jnp.cumsum(~removed) - 1
    comes = ~removed[None] & (place[None] == jnp.arange(n)[:, None])
    moved = jnp.sum(jnp.where(comes[..., None], rows[None], 0), axis=1)
    return jnp.where(comes.any(1)[:, None], moved, -1).astype(rows.dtype)


def _update_enemy_fish(
    f_bullets: Array, e_fish: Array, sub_x: Array, sub_y: Array, move_speed: Array, terminal: Array, r: Array
) -> tuple[Array, Array, Array, Array]:
    e_fish, alive, out, hit = _move(e_fish, move_speed, sub_x, sub_y)
    shot, spent = _shot(e_fish, alive, f_bullets)
    return _without(f_bullets, spent), _without(e_fish, out | shot), terminal | hit, r + jnp.sum(shot)


def _update_enemy_subs(
    f_bullets: Array,
    e_subs: Array,
    e_bullets: Array,
    sub_x: Array,
    sub_y: Array,
    move_speed: Array,
    terminal: Array,
    r: Array,
) -> tuple[Array, Array, Array, Array, Array]:
    e_subs, alive, out, hit = _move(e_subs, move_speed, sub_x, sub_y)
    shot, spent = _shot(e_subs, alive, f_bullets)
    removed = out | shot
    stays = jnp.any(e_subs != -1, axis=1) & ~removed
    fires = stays & (e_subs[:, 4] == 0)
    timer = jnp.where(fires, 10, jnp.where(stays, e_subs[:, 4] - 1, e_subs[:, 4]))  # ten steps from shot to shot
    e_bullets = _fired(e_subs, fires, e_bullets)
    e_subs = _without(e_subs.at[:, 4].set(timer), removed)
    return _without(f_bullets, spent), e_subs, e_bullets, terminal | hit, r + jnp.sum(shot)


def _fired(e_subs: Array, fires: Array, e_bullets: Array) -> Array:
    """Bullets of all that fire, from the last to the first, each in the first empty row, or in row 0."""
    n = len(e_bullets)
    rank = jnp.sum(fires & (jnp.arange(len(fires))[None] > jnp.arange(len(fires))[:, None]), axis=1)
    empty = e_bullets[:, 0] == -1
    place = jnp.cumsum(empty) - 1
    writes = fires[None] & empty[:, None] & (place[:, None] == rank[None])  # [row, enemy]
    left_over = fires & (rank >= jnp.sum(empty))
    last = left_over & (rank == jnp.max(jnp.where(left_over, rank, -1)))
    writes = jnp.where((jnp.arange(n) == 0)[:, None] & left_over.any(), last[None], writes)
    new = jnp.sum(jnp.where(writes[..., None], e_subs[None, :, :3], 0), axis=1)
    return jnp.where(writes.any(1)[:, None], new, e_bullets).astype(e_bullets.dtype)


_REPLACED: dict[str, dict[str, Callable[..., Any]]] = {
    "SpaceInvaders": {"_nearest_alien": _nearest_alien},
    "Freeway": {"_update_cars": _update_cars},
    "Seaquest": {
        "_update_enemy_fish": _update_enemy_fish,
        "_update_enemy_subs": _update_enemy_subs,
        # It removes only what is left of the screen and below it at the same time, which never happens.
        "_remove_out_of_bound": lambda rows, count: rows,
    },
}
