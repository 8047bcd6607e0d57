"""Features brought to one root mean square."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.features import Constant, Features, Normalised, RandomLinear, Reward, can_be_padded
from rgvf.questions import QuestionNetwork
from rgvf.tasks import ActionValues, GivenQuestions, MultiHorizonValues, RandomAndActionValues
from rgvf.trajectory import Transition
from tests.helpers import SMALL_IMAGE, learner_of, trajectory


def slow(batches, valids, rms, decay=0.999):
    """The scaled values of the last batch, in double precision, from all batches at once.

    The weight of batch i of n is decay^(n − i), and the mean of the squares has weights that sum to 1.
    """
    seen = [(b, v) for b, v in zip(batches, valids, strict=True) if v.any()]
    weights = np.array([decay ** (len(seen) - i) for i in range(1, len(seen) + 1)])
    squares = np.array([np.mean(np.asarray(b, float)[v] ** 2, 0) for b, v in seen])
    mean = weights @ squares / weights.sum()
    return batches[-1] * rms / np.sqrt(mean)


def test_the_running_root_mean_square_is_that_of_all_batches_weighted_by_age():
    rng = np.random.default_rng(0)
    batches = [rng.normal(size=(5, 3, 2)).astype(np.float32) * [1e-3, 50] for _ in range(40)]
    valids = [rng.random((5, 3)) < 0.7 for _ in batches]
    valids[7][:] = False  # a batch without a valid step changes nothing
    feature = Normalised(Features([Reward(), Constant()]), rms=8.0)
    observe = jax.jit(Normalised.observe)
    values = jnp.zeros(())
    for batch, valid in zip(batches, valids, strict=True):
        feature, values = observe(feature, jnp.asarray(batch, jnp.float32), jnp.asarray(valid))
    np.testing.assert_allclose(values, slow(batches, valids, 8.0), rtol=1e-4)


def test_the_first_batch_has_the_wanted_size_at_once():
    rewards = jnp.array([[3.0, 0.0], [0.0, -3.0]])
    _, values = Normalised(Reward(), 8.0).observe(rewards[..., None], jnp.ones((2, 2), bool))
    assert np.sqrt(np.mean(np.square(values))) == pytest.approx(8.0, rel=1e-5)


def test_what_has_always_been_zero_stays_zero():
    feature, values = Normalised(Reward(), 8.0).observe(jnp.zeros((2, 2, 1)), jnp.ones((2, 2), bool))
    assert not np.any(values)
    feature = eqx.tree_at(lambda f: f.weight, feature, jnp.float32(1.0))  # as after a long time without reward
    feature, values = feature.observe(jnp.full((2, 2, 1), 5.0), jnp.ones((2, 2), bool))
    np.testing.assert_allclose(values, 8.0 / np.sqrt(1 - 0.999), rtol=1e-3)  # the most that a batch can have


def test_the_smallest_mean_square_does_not_overflow():
    """Long after the last reward, the mean square is the smallest number that there is. In half precision: a CPU takes
    the smallest ones of single precision for 0, and would not show the overflow that a GPU has."""
    feature = Normalised(Reward(), 8.0)
    tiny = jnp.full(1, 6e-8, jnp.float16)
    numbers = tiny, jnp.float16(1.0), jnp.float16(8.0)
    old = eqx.tree_at(lambda f: (f.mean_square, f.weight, f.rms), feature, numbers)
    assert np.isinf(1 / tiny).all()
    np.testing.assert_allclose(old.factor, 8 / np.sqrt(np.asarray(tiny, np.float32)), rtol=1e-2)


def test_it_is_called_like_any_feature():
    step = Transition(jnp.zeros((2, 1)), jnp.zeros(2, int), jnp.array([2.0, -4.0]), jnp.zeros((2, 1)))
    feature, _ = Normalised(Reward(), 1.0).observe(jnp.array([[2.0]]), jnp.array([True]))
    assert feature.names == ("reward",)
    np.testing.assert_allclose(feature(step)[:, 0], [1.0, -2.0], rtol=1e-5)


def test_padding_keeps_the_statistics():
    linear = RandomLinear(jax.random.key(0), (4,), 2)
    feature, _ = Normalised(linear, 8.0).observe(jnp.ones((3, 2)), jnp.ones(3, bool))
    padded = feature.padded(5)
    assert padded.names == tuple(f"random-linear/{k}" for k in range(5))
    np.testing.assert_array_equal(padded.factor, [*feature.factor, 0, 0, 0])
    assert can_be_padded(feature)
    assert not can_be_padded(Normalised(Reward(), 8.0))


def learned(settings, reward_scale):
    """The answers after some updates on experience whose rewards are multiplied by a number."""
    learner = learner_of(AgentConfig(settings, stop_gradient=True, hidden=8, learning_rate=2e-3), SMALL_IMAGE)
    agent, update = learner.init(jax.random.key(0)), jax.jit(learner.update)
    for seed in range(6):
        batch = trajectory(SMALL_IMAGE, seed, steps=4, environments=3, terminal=[(1, 0)], first=[(3, 0)])
        agent, _ = update(agent, batch._replace(reward=reward_scale * batch.reward), jax.random.key(seed))
    states = agent.modules["representation"](trajectory(SMALL_IMAGE, 9).observation)
    return np.asarray(agent.modules[settings.name](states))


NEXT_REWARD = QuestionNetwork(["reward"], {"r": None, "l": "left"}, [("r", "reward"), ("l", "r")], SMALL_IMAGE.actions)


@pytest.mark.parametrize(
    "settings",
    [
        MultiHorizonValues(feature_rms=8.0),
        GivenQuestions(NEXT_REWARD.to_json(), feature_rms=8.0),
        ActionValues(depth=2),
        RandomAndActionValues(depth=2, repeat=2),
    ],
)
def test_the_size_of_a_feature_does_not_matter(settings):
    """A thousand times the reward teaches the same but for rounding, which RMSProp's first steps enlarge."""
    one, thousand = learned(settings, 1.0), learned(settings, 1000.0)
    np.testing.assert_allclose(one, thousand, rtol=2e-3, atol=1e-4)
    np.testing.assert_array_equal(one, learned(settings, 1024.0))  # a power of two does not even round
    plain = dataclasses.replace(settings, feature_rms=None)
    assert np.abs(learned(plain, 1.0) - learned(plain, 1000.0)).max() > 0.1
