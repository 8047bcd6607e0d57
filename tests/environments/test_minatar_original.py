"""The games against the original ones of the MinAtar package: equal states, equal actions, equal chances.

Games are played in JAX. Each step is then taken by the original, with the random numbers that were drawn there.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.environments.game_names import MINATAR_ACTIONS, MINATAR_GAMES
from rgvf.environments.minatar import MinAtar, PgxMinAtar
from rgvf.environments.seaquest import draw
from tests.environments.original_minatar import attributes, chances, compare, differences, load, original, play

pytestmark = pytest.mark.medium

each_game = pytest.mark.parametrize("game", MINATAR_GAMES)


def starts(game, environment, n):
    """First states, changed so that rare things come soon: higher levels, little oxygen, few bricks or aliens."""
    keys = jax.random.split(jax.random.key(5), n)
    state, _ = jax.tree.map(np.asarray, jax.jit(jax.vmap(environment.reset))(keys))
    i = np.arange(n, dtype=np.int32)
    some, whole = np.random.default_rng(5).random((n, 10, 10)) < 0.1, (i % 2 == 0)[:, None, None]
    if game == "Asterix":
        spawn, move = np.maximum(10 - i, 1), np.maximum(5 - i // 2, 1)
        return state.replace(_spawn_speed=spawn, _move_speed=move, _ramp_index=np.minimum(i, 9))
    if game == "Breakout":
        return state.replace(_brick_map=state._brick_map & (some | whole))
    if game == "Freeway":
        return state.replace(_terminate_timer=np.where(i % 2 == 0, np.int32(2500), 50 * i))
    if game == "SpaceInvaders":
        some[:, 8:], some[:, 0, 5] = False, True
        alien_map = np.where(whole, state._alien_map, some)
        return state.replace(_alien_map=alien_map, _enemy_move_interval=12 - i % 7, _ramp_index=i % 7)
    level = i * 19 // max(n - 1, 1)
    return state._replace(
        level=level,
        spawn=20 - level,
        move=np.maximum(5 - level // 2, 2),
        oxygen=200 - 19 * (i % 10),
        aboard=(i + 3) % 7,
    )


def policy_for(game, environment):
    """Random play that keeps half of its actions; in Breakout and Freeway mostly good play."""

    def policy(state, last, key):
        keys = jax.random.split(key, 4)
        action = jax.random.randint(keys[0], (), 0, len(environment.actions))
        action = jnp.where(jax.random.bernoulli(keys[1]), action, last)
        if game == "Breakout":
            right = (state._ball_dir == 1) | (state._ball_dir == 2)
            corner = (state._ball_y == 8) & jax.random.bernoulli(keys[2])  # it hits the paddle's side or its middle
            goal = jnp.clip(state._ball_x + jnp.where(corner, 0, jnp.where(right, 1, -1)), 0, 9)
            good = jnp.where(state._pos < goal, 2, jnp.where(state._pos > goal, 1, 0))
        else:
            good = jnp.int32(1) if game == "Freeway" else action
        return jnp.where(jax.random.bernoulli(keys[3], 0.98), good, action)

    return policy


def check_rules(game, n, steps, immortal, seed=0):
    """All steps of n games are those of the original."""
    sticky = 0.0 if game == "Breakout" else 0.1
    environment = MinAtar(game, sticky)
    start = starts(game, environment, n)
    played = play(game, environment, start, policy_for(game, environment), steps, sticky, immortal, seed)
    for i in range(n):
        env = original(game)
        load(env, attributes(game, jax.tree.map(lambda x, i=i: x[i], start)))
        for t in range(steps):
            assert compare(game, env, played, t, i) == [], f"step {t} of game {i}"
            env.terminal = False
            if played.step.terminal[t, i] and not immortal:
                break
    return played


@pytest.mark.loose_promotion
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.slow] * (game in ("Asterix", "Freeway"))) for game in MINATAR_GAMES]
)
def test_every_step_is_that_of_the_original(game):
    """Games that continue where they would end see the most; a lost Breakout cannot continue."""
    played = check_rules(game, 20, 120, immortal=game != "Breakout")
    assert played.step.reward.sum() > 5
    assert played.step.terminal.any()


@pytest.mark.slow
@pytest.mark.loose_promotion
@each_game
@pytest.mark.parametrize("seed", [1, 2])
def test_every_step_of_long_games_is_that_of_the_original(game, seed):
    played = check_rules(game, 20, 4000, immortal=game != "Breakout", seed=seed)
    assert played.step.reward.sum() > 100
    check_rules(game, 300, 200, immortal=False, seed=seed)


@pytest.mark.loose_promotion
@each_game
def test_games_start_as_the_original(game):
    """In one of the original's first states, with its actions and channels."""
    environment, env = MinAtar(game), original(game)
    assert [MINATAR_ACTIONS.index(name) for name in environment.actions] == env.minimal_action_set()
    assert list(environment.observation_shape) == env.state_shape()
    state, observation = jax.tree.map(np.asarray, jax.jit(environment.reset)(jax.random.key(0)))
    values = attributes(game, state)
    for _ in range(20 if game == "Breakout" else 1):
        env.reset()
        if game == "Freeway":  # the speeds are random
            env.cars = values["cars"]
        if differences(env, values) == []:
            break
    assert differences(env, values) == []
    np.testing.assert_array_equal(observation, env.state())


def drawn_in_jax(game, keys):
    """What chance does in a step or at the start, for each key: a row of small numbers."""
    if game == "Seaquest":
        chance = jax.jit(jax.vmap(lambda key: draw(key, 0.25)))(keys)
        assert abs(np.mean(chance.repeat) - 0.25) < 0.01
        return np.stack(chance[1:], axis=1).astype(int)
    if game == "Asterix":
        state, _ = MinAtar(game).reset(keys[0])
        state = state.replace(_entities=state._entities.at[TAKEN].set(1))
        drawn = chances(game, MinAtar(game), 0.0)
        _, chance = jax.jit(jax.vmap(lambda key: drawn(state, jnp.int32(0), key)))(keys)
        return np.stack([chance[name] for name in ("lr", "is_gold", "slot")], axis=1).astype(int)
    state, _ = jax.jit(jax.vmap(MinAtar(game).reset))(keys)
    return np.stack([state._ball_x, state._ball_dir], axis=1) if game == "Breakout" else state._cars[:, :, 3] + 5


def drawn_by_the_original(game, env):
    if game == "Seaquest":
        env.e_subs, env.e_fish, env.divers = [], [], []
        env._spawn_enemy()
        env._spawn_diver()
        (enemy,), (diver,) = env.e_subs + env.e_fish, env.divers
        return enemy[2], bool(env.e_subs), enemy[1], diver[2], diver[1]
    if game == "Asterix":
        env.entities = [[] if i in TAKEN else None for i in range(8)]
        env._spawn_entity()
        (new,) = [row for row in env.entities if row]
        return new[2], new[3], new[1] - 1
    env.reset()
    return (env.ball_x, env.ball_dir) if game == "Breakout" else [car[3] + 5 for car in env.cars]


TAKEN = np.array([0, 2, 3, 6, 7])
"""Rows of Asterix that have an entity; the next one comes into one of the others."""


@pytest.mark.loose_promotion
@pytest.mark.parametrize(
    "game", [pytest.param(game, marks=[pytest.mark.slow] * (game != "Seaquest")) for game in MINATAR_GAMES[:4]]
)
def test_chance_is_that_of_the_original(game):
    """Everything random, and every pair of it, is as frequent. (Nothing is random in Space Invaders.)"""
    n = 20_000
    ours = np.asarray(drawn_in_jax(game, jax.random.split(jax.random.key(7), n)))
    env = original(game)
    env.random = np.random.RandomState(7)
    theirs = np.array([drawn_by_the_original(game, env) for _ in range(n)], int)
    for a in range(ours.shape[1]):
        for b in range(a + 1):
            counts = [np.bincount(11 * each[:, a] + each[:, b], minlength=121) for each in (ours, theirs)]
            spread = np.sqrt(np.maximum(counts[0] + counts[1], 1))
            assert np.max(np.abs(counts[0] - counts[1]) / spread) < 4.5


PGX_DIFFERS = {
    "an enemy's bullet stays after it has left the screen": ([0], dict(e_bullets=[[9, 4, 1]]), {"e_bullets"}),
    "bullets after it in the list stand still": (
        [0, 0],
        dict(e_bullets=[[0, 3, 0], [5, 4, 0]]),
        {"e_bullets", "observation"},
    ),
    "a step is left without oxygen, and the empty gauge is drawn nearly full": (
        [0],
        dict(oxygen=0),
        {"terminal", "observation"},
    ),
    "a submarine that runs into a shot does not fire any more": (
        [0],
        dict(e_subs=[[3, 4, 1, 0, 0]], f_bullets=[[5, 4, 0]]),
        {"e_bullets", "observation"},
    ),
    "enemies become faster when the player surfaces for the first time, not the second": (
        [2],
        dict(sub_y=1, diver_count=2),
        {"move_speed"},
    ),
}


@pytest.mark.slow
@pytest.mark.loose_promotion
def test_how_seaquest_differs_in_pgx():
    """The differences that docs/results/minatar.md lists, each from one state."""
    environment = PgxMinAtar("Seaquest", 0.0)
    step = jax.jit(environment.step)
    for what, (actions, values, expected) in PGX_DIFFERS.items():
        state = jax.tree.map(np.asarray, environment.reset(jax.random.key(0))[0])
        changed = {}
        for name, value in {"sub_y": 6, "surface": False, **values}.items():
            changed[f"_{name}"] = array = np.array(getattr(state, f"_{name}"))
            array[slice(len(value)) if isinstance(value, list) else ()] = value
        state = state.replace(**changed)
        env = original("Seaquest")
        load(env, attributes("Seaquest", state))
        reward, terminal, shown = None, None, None
        for action in actions:
            state, shown = jax.tree.map(np.asarray, step(state, jnp.int32(action), jax.random.key(0)))
            reward, terminal = env.act(action)
        found = {line.partition(":")[0] for line in differences(env, attributes("Seaquest", state))}
        assert shown is not None
        found |= {"reward"} if reward != shown.reward else set()
        found |= {"terminal"} if terminal != shown.terminal else set()
        found |= set() if np.array_equal(env.state(), shown.observation) else {"observation"}
        assert found == expected, what
