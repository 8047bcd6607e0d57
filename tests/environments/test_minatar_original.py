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
from rgvf.environments.seaquest_state import State
from tests.environments.original_minatar import attributes, chances, compare, differences, load, original, play

pytestmark = pytest.mark.medium

each_game = pytest.mark.parametrize("game", MINATAR_GAMES)


def starts(game, environment, n):
    """First states, made so that what is rare in play comes soon: higher levels, little oxygen, few bricks or aliens."""
    keys = jax.random.split(jax.random.key(5), n)
    state, _ = jax.vmap(environment.reset)(keys)
    i = jnp.arange(n)
    some = jax.vmap(lambda key: jax.random.bernoulli(key, 0.1, (10, 10)))(keys)
    if game == "Asterix":
        spawn, move = jnp.maximum(10 - i, 1), jnp.maximum(5 - i // 2, 1)
        return state.replace(_spawn_speed=spawn, _move_speed=move, _ramp_index=jnp.minimum(i, 9))
    if game == "Breakout":
        return state.replace(_brick_map=state._brick_map & (some | (i % 2 == 0)[:, None, None]))
    if game == "Freeway":
        return state.replace(_terminate_timer=jnp.where(i % 2 == 0, 2500, 50 * i))
    if game == "SpaceInvaders":
        alien_map = jnp.where(
            (i % 2 == 0)[:, None, None], state._alien_map, some.at[:, 8:].set(False).at[:, 0, 5].set(True)
        )
        return state.replace(_alien_map=alien_map, _enemy_move_interval=12 - i % 7, _ramp_index=i % 7)
    if not isinstance(state, State):
        return state
    level = i * 19 // max(n - 1, 1)
    return state._replace(
        level=level,
        spawn=20 - level,
        move=jnp.maximum(5 - level // 2, 2),
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
        load(env, attributes(game, jax.tree.map(lambda x, i=i: np.asarray(x[i]), start)))
        for t in range(steps):
            assert compare(game, env, played, t, i) == [], f"step {t} of game {i}"
            env.terminal = False
            if played.step.terminal[t, i] and not immortal:
                break
    return played


@pytest.mark.loose_promotion
@each_game
def test_every_step_is_that_of_the_original(game):
    """Games that continue where they would end see the most; a lost Breakout cannot continue."""
    played = check_rules(game, 20, 150, immortal=game != "Breakout")
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
    state, observation = jax.tree.map(np.asarray, environment.reset(jax.random.key(0)))
    values = attributes(game, state)
    for _ in range(20 if game == "Breakout" else 1):
        env.reset()
        if game == "Freeway":  # the speeds are random
            env.cars = values["cars"]
        if differences(env, values) == []:
            break
    assert differences(env, values) == []
    np.testing.assert_array_equal(observation, env.state())
