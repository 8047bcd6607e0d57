import jax
import jax.numpy as jnp
import numpy as np
import pgx
import pytest

from rgvf.environments.device_games import DeviceGame, DeviceGames
from rgvf.environments.game_names import MINATAR_GAMES, find_minatar, rom_name
from rgvf.environments.minatar import MinAtar, PgxMinAtar

pytestmark = pytest.mark.medium

leaves = jax.tree.leaves


def theirs(name):
    return pgx.make(f"minatar-{rom_name(name)}")  # pyright: ignore[reportArgumentType]


@pytest.mark.loose_promotion
@pytest.mark.parametrize(
    ("name", "flat"),
    [
        pytest.param(game, flat, marks=[pytest.mark.slow] * (game != "Breakout"))
        for game in MINATAR_GAMES
        for flat in (False, True)
    ],
)
def test_games_equal_those_of_pgx_step_by_step(name, flat):
    """A hundred games side by side, 600 steps each, reset where they end; some actions are repeated."""
    game, other, n = PgxMinAtar(name, flat=flat), theirs(name), 100
    assert game.observation_shape == other.observation_shape
    assert len(game.actions) == other.num_actions

    @jax.jit
    def play(key):
        def one(carry, key):
            ours, their, action = carry
            keys = jax.random.split(key, (2, n))
            fresh = jax.random.randint(keys[0, 0], (n,), 0, len(game.actions))
            action = jnp.where(jax.random.bernoulli(keys[0, 1], 0.5, (n,)), action, fresh)
            ours, step = jax.vmap(game.step)(ours, action, keys[1])
            their = jax.vmap(other.step)(their, action, keys[1])
            same = jnp.array(
                [
                    jnp.all(step.observation == their.observation),
                    jnp.all(step.reward == their.rewards[:, 0]),
                    jnp.all(step.terminal == their.terminated),
                    jnp.all(
                        jnp.array([jnp.all(a == b) for a, b in zip(*map(jax.tree.leaves, (ours, their)), strict=True)])
                    ),
                ]
            )
            new, _ = jax.vmap(game.reset)(keys[1])
            begun = jax.vmap(other.init)(keys[1])
            choose = jax.vmap(jnp.where)
            ours = jax.tree.map(lambda a, b: choose(step.terminal, a, b), new, ours)
            their = jax.tree.map(lambda a, b: choose(step.terminal, a, b), begun, their)
            return (ours, their, action), (same, jnp.sum(step.terminal), jnp.sum(step.reward))

        keys = jax.random.split(key, n)
        start = jax.vmap(game.reset)(keys)[0], jax.vmap(other.init)(keys), jnp.zeros(n, jnp.int32)
        return jax.lax.scan(one, start, jax.random.split(key, 600))[1]

    same, ends, reward = play(jax.random.key(0))
    for column, what in enumerate(("observations", "rewards", "ends", "states")):
        assert same[:, column].all(), f"{what} differ from step {int(np.argmin(same[:, column]))} on"
    assert int(ends.sum()) > 100 or name == "Freeway"
    assert float(reward.sum()) > 10


def test_the_last_observation_is_the_true_one():
    """Not the first observation of a new game: all but a few of its pixels are those of the step before."""
    game = MinAtar("Breakout")
    step = jax.jit(game.step)
    state, before = game.reset(jax.random.key(0))
    state, now = step(state, jnp.int32(0), jax.random.key(0))
    while not now.terminal:
        before = now.observation
        state, now = step(state, jnp.int32(0), jax.random.key(0))
    assert np.sum(np.asarray(now.observation) != np.asarray(before)) < 8
    assert now.observation[9, :, 1].any()  # the ball is at the bottom


@pytest.mark.parametrize("sticky", [0.0, 0.1, 0.5])
def test_actions_stick_with_the_given_probability(sticky):
    """Many paddles move left, then stay: those that moved keep moving with that probability."""
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


def test_games_side_by_side_keep_scores_and_start_again():
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


def test_a_step_of_seaquest_gives_a_state_like_the_first():
    """Of the same types to the letter; otherwise a program that plays it is compiled twice."""
    game, key = MinAtar("Seaquest"), jax.random.key(0)
    state, _ = jax.eval_shape(game.reset, key)
    after, _ = jax.eval_shape(game.step, state, jnp.int32(0), key)
    assert jax.tree.map(str, state) == jax.tree.map(str, after)
