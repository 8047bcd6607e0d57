"""MinAtar's Seaquest by the rules of the original (Young & Tian 2019), in JAX.

The player's submarine shoots fish and enemy submarines, each worth 1, and collects divers, at most six. Under water it
uses oxygen. To come up costs a diver and fills the tank; with six divers on board it costs all of them and is worth up
to 10, by the oxygen that is left. Each time, enemies become more, and every other time faster.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key

from rgvf.environments.environment import Step
from rgvf.environments.game_names import MINATAR_ACTIONS
from rgvf.environments.seaquest_state import (
    CHANNELS,
    DIVER_MOVE,
    DIVER_SPAWN,
    ENEMIES,
    GONE,
    MAX_ABOARD,
    SHOTS,
    SIDE,
    TANK,
    Divers,
    Enemies,
    Shots,
    State,
    direction,
    first_state,
    inside,
    observe,
)

NOOP, LEFT, UP, RIGHT, DOWN, FIRE = range(6)
RELOAD, ENEMY_RELOAD = 5, 10
FASTEST_SPAWN, FASTEST_MOVE = 1, 2

Rows = TypeVar("Rows", Shots, Divers, Enemies)


class Chance(NamedTuple):
    """What is random in a step."""

    repeat: Bool[Array, ""]
    """The last action is repeated."""
    enemy_right: Bool[Array, ""]
    enemy_submarine: Bool[Array, ""]
    enemy_y: Int[Array, ""]
    diver_right: Bool[Array, ""]
    diver_y: Int[Array, ""]


class Seaquest:
    """The game; `sticky` is the probability that the last action is repeated."""

    actions = MINATAR_ACTIONS
    observation_shape = (SIDE, SIDE, CHANNELS)

    def __init__(self, sticky: float) -> None:
        self._sticky = sticky

    def reset(self, key: Key[Array, ""]) -> tuple[State, Bool[Array, "10 10 10"]]:
        """Start a game: every one starts alike."""
        del key
        state = first_state()
        return state, observe(state)

    def step(self, state: State, action: Int[Array, ""], key: Key[Array, ""]) -> tuple[State, Step]:
        """One step."""
        return play(state, action, draw(key, self._sticky))


def draw(key: Key[Array, ""], sticky: float) -> Chance:
    """Draw what is random in a step. Of the enemies a third are submarines; rows are 1 to 8."""
    repeat, *uniform = jax.random.uniform(key, (6,))
    rows = [1 + (8 * uniform[i]).astype(jnp.int32) for i in (2, 4)]
    return Chance(repeat < sticky, uniform[0] < 1 / 2, uniform[1] < 1 / 3, rows[0], uniform[3] < 1 / 2, rows[1])


def play(state: State, action: Int[Array, ""], chance: Chance) -> tuple[State, Step]:
    """One step, given what chance does in it."""
    action = jnp.where(chance.repeat, state.last_action, action.astype(jnp.int32))
    enemies = _spawn_enemy(state, chance)
    divers = _spawn_diver(state, chance)
    spawn_timer = jnp.where(state.spawn_timer == 0, state.spawn, state.spawn_timer) - 1
    diver_timer = jnp.where(state.diver_timer == 0, DIVER_SPAWN, state.diver_timer) - 1

    x = jnp.clip(state.x + jnp.where(action == RIGHT, 1, jnp.where(action == LEFT, -1, 0)), 0, SIDE - 1)
    y = jnp.clip(state.y + jnp.where(action == DOWN, 1, jnp.where(action == UP, -1, 0)), 0, SIDE - 2)
    right = (action == RIGHT) | (state.right & (action != LEFT))
    fires = (action == FIRE) & (state.reload == 0)
    reload = jnp.maximum(jnp.where(fires, RELOAD, state.reload) - 1, 0)

    shots = _push(fires, Shots(x, y, right), state.shots)
    shots = shots._replace(x=inside(shots.x + direction(shots), shots.x != GONE))
    shots, enemies, hit_first = _shoot(shots, enemies)
    divers, aboard = _move_divers(divers, x, y, state.aboard)
    shots, enemies, hit_then, caught = _move_enemies(shots, enemies, x, y, state.move)

    state = state._replace(
        x=x, y=y, right=right, aboard=aboard, reload=reload, shots=shots, divers=divers, enemies=enemies,
        spawn_timer=spawn_timer, diver_timer=diver_timer, last_action=action,
    )  # fmt: skip
    over = caught | (state.oxygen <= 0)
    state, bonus, drowned = _breathe(state)
    reward = (hit_first + hit_then + bonus).astype(jnp.float32)
    return state, Step(observe(state), reward, over | drowned, jnp.zeros((), bool))


def _spawn_enemy(state: State, chance: Chance) -> Enemies:
    """A new enemy, if it is time, and if none in its row comes towards it."""
    enemies = state.enemies
    in_row = (enemies.x != GONE) & (enemies.y == chance.enemy_y)
    free = ~jnp.any(in_row & (enemies.right != chance.enemy_right))
    start, full = jnp.where(chance.enemy_right, 0, SIDE - 1), jnp.int32(ENEMY_RELOAD)
    new = Enemies(start, chance.enemy_y, chance.enemy_right, state.move, chance.enemy_submarine, full, jnp.int32(GONE))
    return _push((state.spawn_timer == 0) & free, new, enemies)


def _spawn_diver(state: State, chance: Chance) -> Divers:
    start = jnp.where(chance.diver_right, 0, SIDE - 1)
    new = Divers(start, chance.diver_y, chance.diver_right, jnp.int32(DIVER_MOVE))
    return _push(state.diver_timer == 0, new, state.divers)


def _shoot(shots: Shots, enemies: Enemies) -> tuple[Shots, Enemies, Int[Array, ""]]:
    """Shots hit what is in their cell: the newest shot first, and of the enemies fish first, and the oldest first."""
    order = jnp.arange(ENEMIES, 0, -1) + ENEMIES * enemies.submarine.astype(jnp.int32)
    hit, spent = _hits(shots, range(SHOTS), enemies, enemies.x != GONE, order)
    return _without(shots, spent), _without(enemies, hit), jnp.sum(hit)


def _move_divers(divers: Divers, x: Array, y: Array, aboard: Array) -> tuple[Divers, Int[Array, ""]]:
    """Divers move on, and come on board where they meet the player, the newest first, while there is room."""
    moves = (divers.x != GONE) & (divers.timer == 0)
    after = jnp.where(moves, inside(divers.x + direction(divers), moves), divers.x)
    meets = (divers.y == y) & ((divers.x == x) | (after == x))
    rescued = meets & (jnp.cumsum(meets) <= MAX_ABOARD - aboard)
    divers = divers._replace(x=after, timer=jnp.where(moves, DIVER_MOVE, divers.timer - 1))
    return _without(divers, rescued), aboard + jnp.sum(rescued)


def _move_enemies(
    shots: Shots, enemies: Enemies, x: Array, y: Array, interval: Array
) -> tuple[Shots, Enemies, Int[Array, ""], Bool[Array, ""]]:
    """Enemies move and fire, and torpedoes move. Some enemies run into a shot. The last result: the player is hit.

    Submarines come first, and of each kind the newest; it takes the oldest shot in its cell. A submarine that is shot
    in this way still fires.
    """
    there = enemies.x != GONE
    moves = there & (enemies.timer == 0)
    after = jnp.where(moves, inside(enemies.x + direction(enemies), moves), enemies.x)
    fires = there & enemies.submarine & (enemies.reload == 0)
    torpedo = jnp.where(fires, after, enemies.torpedo)
    torpedo_after = inside(torpedo + direction(enemies), torpedo != GONE)
    moved = enemies._replace(
        x=after,
        timer=jnp.where(moves, interval, enemies.timer - 1),
        reload=jnp.where(fires, ENEMY_RELOAD, enemies.reload - 1),
        torpedo=torpedo_after,
    )
    columns = jnp.stack([enemies.x, after, torpedo, torpedo_after])
    struck = (columns == x) & (enemies.y == y)[None]
    exposed = moves & (after != GONE) & ~struck[1]
    order = jnp.arange(ENEMIES) + ENEMIES * (~enemies.submarine).astype(jnp.int32)
    hit, spent = _hits(shots, reversed(range(SHOTS)), moved, exposed, order)
    return _without(shots, spent), _without(moved, hit), jnp.sum(hit), jnp.any(struck)


def _breathe(state: State) -> tuple[State, Int[Array, ""], Bool[Array, ""]]:
    """Oxygen is used under water. To come up takes a diver, fills the tank, and makes the game harder.

    Six divers give a bonus. Without a diver the game is over.
    """
    under = state.y > 0
    oxygen = jnp.where(under, state.oxygen - 1, state.oxygen)
    comes_up = ~under & ~state.surfaced
    pays = comes_up & (state.aboard != 0)
    full = state.aboard == MAX_ABOARD
    bonus = jnp.where(pays & full, oxygen * 10 // TANK, 0)
    more, can_be_faster = pays & (state.spawn > FASTEST_SPAWN), pays & (state.move > FASTEST_MOVE)
    faster = can_be_faster & (state.level % 2 == 1)
    state = state._replace(
        oxygen=jnp.where(pays, TANK, oxygen),
        aboard=jnp.where(pays, jnp.where(full, 0, state.aboard) - 1, state.aboard),
        surfaced=~under & (state.surfaced | pays),
        spawn=jnp.where(more, state.spawn - 1, state.spawn),
        move=jnp.where(faster, state.move - 1, state.move),
        level=jnp.where(more | can_be_faster, state.level + 1, state.level),
    )
    return state, bonus, comes_up & ~pays


def _hits(
    shots: Shots, turns: Iterable[int], enemies: Enemies, exposed: Bool[Array, " n"], order: Int[Array, " n"]
) -> tuple[Bool[Array, " n"], Bool[Array, " m"]]:
    """Which enemies and shots end together: each shot, by turns, hits the first exposed enemy in its cell."""
    hit, spent = jnp.zeros(ENEMIES, bool), jnp.zeros(SHOTS, bool)
    for i in turns:
        here = exposed & ~hit & (enemies.x == shots.x[i]) & (enemies.y == shots.y[i])
        hit |= here & (order == jnp.min(order, where=here, initial=2 * ENEMIES + 1))
        spent = spent.at[i].set(jnp.any(here))
    return hit, spent


def _push(condition: Array, new: Rows, rows: Rows) -> Rows:
    """The rows with a new one before them, where the condition holds."""
    return jax.tree.map(lambda a, b: jnp.where(condition, jnp.concatenate([a[None], b[:-1]]), b), new, rows)


def _without(rows: Rows, removed: Array) -> Rows:
    return rows._replace(x=jnp.where(removed, GONE, rows.x))
