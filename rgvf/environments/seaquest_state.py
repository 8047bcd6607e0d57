"""MinAtar's Seaquest: what is in the sea, and how it looks.

Things of a kind are rows of arrays, the newest first. A new one is pushed in at the top, and the last row falls out.
That one is always empty: `ENEMIES`, `DIVERS` and `SHOTS` are as many as can be on the screen together.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

SIDE = 10
CHANNELS = 10
FRONT, BACK, SHOT, TRAIL, TORPEDO, FISH, SUBMARINE, OXYGEN, ABOARD, DIVER = range(CHANNELS)

ENEMIES = 30
"""At most one is spawned in a step, and at that level of difficulty it leaves after 30 steps."""
DIVERS = 2
"""One is spawned every 30 steps, and leaves after 60."""
SHOTS = 2
"""The player fires every 5 steps at most, and a shot leaves within 10."""
GONE = -1
"""The column of a thing that is not there."""

TANK = 200
MAX_ABOARD = 6
SPAWN, DIVER_SPAWN = 20, 30
"""Steps from enemy to enemy, at first, and from diver to diver."""
MOVE, DIVER_MOVE = 5, 5
"""Steps that an enemy, at first, and a diver wait between two moves."""


class Shots(NamedTuple):
    """The player's shots: where they are, and whether they fly to the right."""

    x: Int[Array, "*n"]
    y: Int[Array, "*n"]
    right: Bool[Array, "*n"]


class Divers(NamedTuple):
    """Divers in the water, and the steps until they move."""

    x: Int[Array, "*n"]
    y: Int[Array, "*n"]
    right: Bool[Array, "*n"]
    timer: Int[Array, "*n"]


class Enemies(NamedTuple):
    """Fish and submarines. The last torpedo of a submarine has left the screen when it fires again."""

    x: Int[Array, "*n"]
    y: Int[Array, "*n"]
    right: Bool[Array, "*n"]
    timer: Int[Array, "*n"]
    submarine: Bool[Array, "*n"]
    reload: Int[Array, "*n"]
    """Steps until it fires."""
    torpedo: Int[Array, "*n"]
    """Column of its torpedo, which may outlive it."""


class State(NamedTuple):
    """A game."""

    x: Int[Array, ""]
    y: Int[Array, ""]
    right: Bool[Array, ""]
    """The player faces right."""
    oxygen: Int[Array, ""]
    aboard: Int[Array, ""]
    """Divers on board; −1 after six were brought up, as in the original."""
    surfaced: Bool[Array, ""]
    """The player is at the surface, and has paid for it."""
    reload: Int[Array, ""]
    shots: Shots
    divers: Divers
    enemies: Enemies
    spawn_timer: Int[Array, ""]
    diver_timer: Int[Array, ""]
    spawn: Int[Array, ""]
    """Steps from enemy to enemy."""
    move: Int[Array, ""]
    """Steps that an enemy waits between two moves."""
    level: Int[Array, ""]
    last_action: Int[Array, ""]


def first_state() -> State:
    """The player at the surface, and nothing else."""

    def rows(kind: type[Any], n: int) -> Any:
        gone, false, zero = jnp.full(n, GONE, jnp.int32), jnp.zeros(n, bool), jnp.zeros(n, jnp.int32)
        values = {"x": gone, "torpedo": gone, "right": false, "submarine": false}
        return kind(*(values.get(name, zero) for name in kind._fields))

    number, yes, no = jnp.int32, jnp.array(True), jnp.array(False)
    player = number(5), number(0), no, number(TANK), number(0), yes, number(0)
    things = rows(Shots, SHOTS), rows(Divers, DIVERS), rows(Enemies, ENEMIES)
    return State(*player, *things, *map(number, (SPAWN, DIVER_SPAWN, SPAWN, MOVE, 0, 0)))


def observe(state: State) -> Bool[Array, "10 10 10"]:
    """The screen: a channel for each kind of thing, and gauges in the last row."""
    enemies, divers, shots = state.enemies, state.divers, state.shots
    kind = jnp.where(enemies.submarine, SUBMARINE, FISH)
    behind = inside(state.x - direction(state), True)
    cells = jnp.concatenate(
        [
            jnp.stack([_cell(state.x, state.y, FRONT), _cell(behind, state.y, BACK)]),
            _cell(shots.x, shots.y, SHOT),
            _cell(enemies.x, enemies.y, kind),
            _cell(enemies.torpedo, enemies.y, TORPEDO),
            _cell(divers.x, divers.y, DIVER),
            *(_cell(inside(each.x - direction(each), each.x != GONE), each.y, TRAIL) for each in (enemies, divers)),
        ]
    )
    screen = jnp.zeros(SIDE * SIDE * 10, bool).at[cells].set(True, mode="drop").reshape(SIDE, SIDE, 10)
    column = jnp.arange(SIDE)
    oxygen = column < jnp.maximum(state.oxygen, 0) * 10 // TANK
    aboard = (column >= SIDE - 1 - state.aboard) & (column < SIDE - 1)
    return screen.at[-1, :, OXYGEN].set(oxygen).at[-1, :, ABOARD].set(aboard)


def _cell(x: Array, y: Array, channel: Array | int) -> Array:
    """The place of a pixel in the flat screen; behind its end where there is none."""
    return jnp.where(x == GONE, SIDE * SIDE * 10, (y * SIDE + x) * 10 + channel)


def direction(things: Any) -> Array:
    """The step to the right, 1 or −1, of things that have `right`."""
    return jnp.where(things.right, 1, -1)


def inside(x: Array, there: Array | bool) -> Array:
    """The column x, or GONE where it is off the screen or nothing was there."""
    return jnp.where(there & (x >= 0) & (x < SIDE), x, GONE)
