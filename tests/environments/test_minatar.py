import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest

from rgvf.environments.device_games import DeviceGame, DeviceGames
from rgvf.environments.games import MINATAR_GAMES, find_minatar
from rgvf.environments.minatar import MinAtar


@pytest.mark.parametrize("name", MINATAR_GAMES)
def test_it_is_pgx_s_game_with_the_true_last_observation(name):
    game = MinAtar(name)
    theirs = pgx.make(f"minatar-{ {'SpaceInvaders': 'space_invaders'}.get(name, name.lower()) }")
    assert game.observation_shape == theirs.observation_shape
    assert len(game.actions) == theirs.num_actions
    step, their_step = jax.jit(game.step), jax.jit(theirs.step)
    state, observation = jax.jit(game.reset)(jax.random.key(0))
    their_state = theirs.init(jax.random.key(0))
    np.testing.assert_array_equal(observation, their_state.observation)
    limit, ended, before = 3000 if name == "Freeway" else 1500, False, observation
    for t in range(limit):
        key = jax.random.key(t + 1)
        action = jax.random.randint(key, (), 0, len(game.actions))
        state, now = step(state, action, key)
        their_state = their_step(their_state, action, key)
        np.testing.assert_array_equal(now.observation, their_state.observation)
        assert now.reward == their_state.rewards[0]
        if now.terminal:
            ended = True
            # Not the first picture of a new game: all but a few of its pixels are those of the step before.
            assert np.sum(np.asarray(now.observation) != np.asarray(before)) < 40
            break
        before = now.observation
    assert ended
    assert their_state.terminated


@pytest.mark.parametrize("sticky", [0.0, 0.1, 0.5])
def test_actions_stick_with_the_given_probability(sticky):
    """Many paddles are told to go left, and then to stay: those that went go on with that probability."""
    n = 10_000
    game = MinAtar("Breakout", sticky)
    left, stay = (jnp.full(n, game.actions.index(name)) for name in ("left", "noop"))
    keys = jax.random.split(jax.random.key(0), 3 * n).reshape(3, n)
    state, start = jax.vmap(game.reset)(keys[0])
    state, first = jax.vmap(game.step)(state, left, keys[1])
    _, second = jax.vmap(game.step)(state, stay, keys[2])
    paddles = [np.asarray(each)[:, 9, :, 0].argmax(-1) for each in (start, first.observation, second.observation)]
    went, went_on = paddles[1] < paddles[0], paddles[2] < paddles[1]
    assert abs(went.mean() - (1 - sticky)) < 0.02
    assert abs(went_on[went].mean() - sticky) < 0.02
    assert not went_on[~went].any()


def test_games_side_by_side_keep_scores_and_begin_anew():
    with DeviceGames(MinAtar("Breakout"), [1, 2, 3]) as games:
        batch = games.reset()
        assert batch.first.all()
        totals, over = np.zeros(3), 0
        for t in range(200):
            ended = batch.terminal | batch.truncated
            games.send(np.full(3, t % 3))
            batch = games.receive()
            np.testing.assert_array_equal(batch.first, ended)
            totals = np.where(ended, 0, totals + batch.reward)
            np.testing.assert_array_equal(batch.game_return, totals)
            assert not (batch.reward[ended]).any()
            over += int(batch.game_over.sum())
        assert over > 5


def test_a_game_can_be_drawn():
    game = DeviceGame(MinAtar("Seaquest"), 0)
    game.reset()
    assert game.step(1).game_length == 1
    picture = game.render()
    assert picture.shape == (160, 160, 3)
    assert picture.dtype == np.uint8
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 1


def test_names():
    assert find_minatar("space_invaders") == "SpaceInvaders"
    with pytest.raises(ValueError, match=r"there is no MinAtar game 'brekout'; did you mean Breakout\?"):
        find_minatar("brekout")
    with pytest.raises(ValueError, match="sticky"):
        MinAtar("Breakout", sticky=2.0)
