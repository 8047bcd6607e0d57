"""The games of the MinAtar package, played with the actions and the chances of a game in JAX."""

from __future__ import annotations

from collections import deque
from importlib import import_module
from typing import Any, NamedTuple
from unittest.mock import patch

import jax
import jax.numpy as jnp
import numpy as np

from rgvf.environments import seaquest
from rgvf.environments.environment import Step
from rgvf.environments.game_names import MINATAR_ACTIONS, rom_name
from rgvf.environments.minatar import MinAtar
from rgvf.environments.pgx_patches import game_module
from rgvf.environments.seaquest_state import GONE, State

EMPTY = 99
"""pgx's mark of an entity that is not there, in Asterix."""


def original(game: str) -> Any:
    """A game of the package, in its first state."""
    return import_module(f"minatar.environments.{rom_name(game)}").Env()


def attributes(game: str, state: Any) -> dict[str, Any]:
    """The state of a game in JAX as the attributes of the original."""
    if game == "Seaquest":
        return _seaquest(state) if isinstance(state, State) else _pgx_seaquest(state)
    values = {name: np.asarray(getattr(state, f"_{name}")) for name in _SAME[game]}
    found: dict[str, Any] = {name: value if value.ndim else value.item() for name, value in values.items()}
    if game == "Asterix":
        found["entities"] = [None if row[0] == EMPTY else row.tolist() for row in state._entities]
    if game == "Freeway":
        found["cars"] = state._cars.tolist()
    return found


_SAME = {
    "Asterix": (
        *("player_x", "player_y", "spawn_speed", "spawn_timer", "move_speed", "move_timer"),
        *("ramp_timer", "ramp_index"),
    ),
    "Breakout": ("ball_y", "ball_x", "ball_dir", "pos", "brick_map", "strike", "last_x", "last_y"),
    "Freeway": ("pos", "move_timer", "terminate_timer"),
    "SpaceInvaders": (
        *("pos", "f_bullet_map", "e_bullet_map", "alien_map", "alien_dir", "enemy_move_interval"),
        *("alien_move_timer", "alien_shot_timer", "ramp_index", "shot_timer"),
    ),
}
"""What has the same name and form in both."""


def _seaquest(state: State) -> dict[str, Any]:
    shots, divers, enemies = state.shots, state.divers, state.enemies
    there, submarine = enemies.x != GONE, enemies.submarine
    body = (enemies.x, enemies.y, enemies.right, enemies.timer)

    def rows(columns: Any, kept: Any) -> list[list[int]]:
        return np.stack(columns, axis=1)[kept][::-1].tolist()  # the original has the oldest first

    numbers = {
        "sub_x": state.x, "sub_y": state.y, "sub_or": state.right, "oxygen": state.oxygen, "diver_count": state.aboard,
        "surface": state.surfaced, "shot_timer": state.reload, "e_spawn_timer": state.spawn_timer,
        "d_spawn_timer": state.diver_timer, "e_spawn_speed": state.spawn, "move_speed": state.move,
        "ramp_index": state.level,
    }  # fmt: skip
    return {
        **{name: np.asarray(value).item() for name, value in numbers.items()},
        "f_bullets": rows(shots, shots.x != GONE),
        "divers": rows(divers, divers.x != GONE),
        "e_fish": rows(body, there & ~submarine),
        "e_subs": rows((*body, enemies.reload), there & submarine),
        "e_bullets": rows((enemies.torpedo, enemies.y, enemies.right), enemies.torpedo != GONE),
    }


def _pgx_seaquest(state: Any) -> dict[str, Any]:
    lists = ("f_bullets", "e_bullets", "e_fish", "e_subs", "divers")
    numbers = (
        *("oxygen", "diver_count", "sub_x", "sub_y", "sub_or", "e_spawn_speed", "e_spawn_timer", "d_spawn_timer"),
        *("move_speed", "ramp_index", "shot_timer", "surface"),
    )
    return {
        **{name: np.asarray(getattr(state, f"_{name}")).item() for name in numbers},
        **{name: [row.tolist() for row in getattr(state, f"_{name}") if (row != -1).any()] for name in lists},
    }


def load(env: Any, values: dict[str, Any]) -> None:
    """Put the original into a state."""
    for name, value in values.items():
        setattr(env, name, value.astype(float) if isinstance(value, np.ndarray) else value)
    env.terminal = False


def differences(env: Any, values: dict[str, Any]) -> list[str]:
    """The attributes of the original that have other values. Enemy bullets have no order."""
    found = []
    for name, value in values.items():
        theirs = getattr(env, name)
        if name == "e_bullets":
            theirs, value = sorted(theirs), sorted(value)
        if not np.array_equal(theirs, value) if isinstance(value, np.ndarray) else theirs != value:
            found.append(f"{name}: {theirs} in the original, not {value}")
    return found


def chances(game: str, environment: Any, sticky: float) -> Any:
    """A function of state, action and key: the action that is taken, after stickiness, and what else is random."""
    if game == "Seaquest" and isinstance(environment, MinAtar):

        def drawn(state: Any, action: Any, key: Any) -> Any:
            chance = seaquest.draw(key, sticky)
            return jnp.where(chance.repeat, state.last_action, action), chance._asdict()

        return drawn
    module = game_module(game)
    numbers = np.array([MINATAR_ACTIONS.index(name) for name in environment.actions], np.int32)

    def drawn_by_pgx(state: Any, action: Any, key: Any) -> Any:
        with patch.object(module, "_step_det", _only_chance):
            return module._step(state, jnp.asarray(numbers)[action], key, sticky)

    return drawn_by_pgx


def _only_chance(state: Any, action: Any, *unnamed: Any, **named: Any) -> Any:
    return action, named or dict(zip(seaquest.Chance._fields[1:], unnamed, strict=False))


class Script:
    """The original's source of random numbers: it gives what the game in JAX has drawn."""

    def __init__(self, game: str, env: Any, chance: dict[str, Any]) -> None:
        self.numbers = deque(getattr(self, f"_{rom_name(game)}")(env, chance))

    def rand(self, *_: Any, **__: Any) -> Any:
        return self.numbers.popleft()

    randint = rand

    def _breakout(self, env: Any, chance: Any) -> list[Any]:
        return []

    _space_invaders = _breakout

    def _asterix(self, env: Any, chance: Any) -> list[Any]:
        free = [i for i in range(8) if env.entities[i] is None]
        place = [free.index(chance["slot"])] if free else []
        return [_below(chance["lr"]), _below(chance["is_gold"]), *place] if env.spawn_timer == 0 else []

    def _freeway(self, env: Any, chance: Any) -> list[Any]:
        wins = env.pos == 1 and env.move_timer == 0 and chance["action"] == 2
        return [chance["speeds"].copy(), np.where(chance["directions"] > 0, 0.9, 0.1)] if wins else []

    def _seaquest(self, env: Any, chance: Any) -> list[Any]:
        numbers: list[Any] = []
        if env.e_spawn_timer == 0:
            numbers += [_below(chance["enemy_right"]), _below(chance["enemy_submarine"]), int(chance["enemy_y"])]
        if env.d_spawn_timer == 0:
            numbers += [_below(chance["diver_right"]), int(chance["diver_y"])]
        return numbers


def _below(happens: Any) -> float:
    """A number that makes something random happen or not: it is compared with 1/2 or 1/3."""
    return 0.0 if happens else 0.9


def compare(game: str, env: Any, played: Played, t: int, i: int) -> list[str]:
    """Let the original take step t of game i, and say what differs."""
    action = played.action[t, i].item()
    script = env.random = Script(game, env, {**_at(played.chance, t, i), "action": action})
    reward, terminal = env.act(action)
    found = differences(env, attributes(game, _at(played.state, t, i)))
    for name, theirs, ours in (
        ("reward", reward, played.step.reward[t, i]),
        ("terminal", terminal, played.step.terminal[t, i]),
        ("random numbers left", len(script.numbers), 0),
    ):
        if theirs != ours:
            found.append(f"{name}: {theirs} in the original, not {ours}")
    if not np.array_equal(env.state(), played.step.observation[t, i]):
        found.append("observation")
    return found


class Played(NamedTuple):
    """Games in JAX, step by step: [steps, games, …]."""

    action: Any
    """That was taken."""
    chance: Any
    state: Any
    """After the step."""
    step: Step


def play(
    game: str, environment: Any, start: Any, policy: Any, steps: int, sticky: float, immortal: bool, seed: int = 0
) -> Played:
    """Play games from the states `start`; a game that ends starts again, or continues where it is immortal."""
    n = len(jax.tree.leaves(start)[0])
    drawn = chances(game, environment, sticky)

    def one(carry: Any, key: Any) -> Any:
        state, last = carry
        keys = jax.random.split(key, (2, n))
        action = jax.vmap(policy)(state, last, keys[0])
        taken, chance = jax.vmap(drawn)(state, action, keys[1])
        state, step = jax.vmap(environment.step)(state, action, keys[1])
        if immortal:
            following = _revived(state)
        else:
            new, _ = jax.vmap(environment.reset)(keys[1])
            following = jax.tree.map(lambda a, b: jax.vmap(jnp.where)(step.terminal, a, b), new, state)
        return (following, action), Played(taken, chance, state, step)

    def games(start: Any, key: Any) -> Any:
        return jax.lax.scan(one, (start, jnp.zeros(n, jnp.int32)), jax.random.split(key, steps))[1]

    quick_to_compile = jax.jit(games, compiler_options={"xla_backend_optimization_level": 0})
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        return jax.tree.map(np.asarray, quick_to_compile(start, jax.random.key(seed)))


def _revived(state: Any) -> Any:
    if isinstance(state, State):
        return state  # it keeps no mark of its end
    return state.replace(terminated=jnp.zeros_like(state.terminated), _terminal=jnp.zeros_like(state._terminal))


def _at(tree: Any, *index: int) -> Any:
    return jax.tree.map(lambda x: x[index], tree)
