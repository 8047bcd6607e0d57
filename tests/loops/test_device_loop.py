from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rgvf.agents import Agent, Learner, Trained, ValueTask
from rgvf.auxiliary import GVFTask, questions
from rgvf.environments import GridWorld, Step
from rgvf.features import Constant, Touch
from rgvf.questions import (
    FiniteMDP,
    discounted_sum,
    exact_answers,
    full_tree,
    random_network,
    termination_prediction,
)
from rgvf.training import DeviceLoop, uniform_policy


@dataclass(frozen=True)
class Corridor:
    """Cells 0, 1, 2 …; every step goes on by one; arriving in cell `length` ends the episode."""

    length: int = 3
    cut_off: bool = False

    actions = ("on",)
    observation_shape = (1,)

    def reset(self, key):
        return jnp.zeros((), jnp.int32), jnp.zeros(1)

    def step(self, state, action, key):
        cell = state + 1
        end = cell == self.length
        observation = cell.astype(jnp.float32)[None]
        return cell, Step(observation, jnp.ones(()), end & (not self.cut_off), end & self.cut_off)


class OneHot(eqx.Module):
    """A tabular representation: one unit for each of the given observations."""

    views: jax.Array

    @property
    def size(self):
        return self.views.shape[0]

    def step(self, observation):
        rank = self.views.ndim - 1
        flat = observation.reshape(*observation.shape[: observation.ndim - rank], -1)
        same = jnp.all(flat[..., None, :] == self.views.reshape(self.size, -1), axis=-1)
        return jax.lax.stop_gradient(same.astype(jnp.float32))

    def unroll(self, trajectory):
        return self.step(trajectory.observation)


NOBODY = Agent({}, {}, {})


def no_update(agent, trajectory, key):
    return agent, {}


@pytest.mark.parametrize("cut_off", [False, True])
def test_the_step_after_an_end_resets_and_is_not_valid(cut_off):
    loop = DeviceLoop(Corridor(3, cut_off), uniform_policy(1), no_update, actors=2, steps=9)
    training = loop.start(NOBODY, jax.random.key(0))
    actors, trajectory, _ = loop.rollout(NOBODY, training.actors, jax.random.key(1))
    np.testing.assert_array_equal(trajectory.observation[:, 0, 0], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1])
    np.testing.assert_array_equal(trajectory.first[:, 0], [1, 0, 0, 0, 1, 0, 0, 0, 1, 0])
    np.testing.assert_array_equal(trajectory.valid[:, 0], [1, 1, 1, 0, 1, 1, 1, 0, 1])
    np.testing.assert_array_equal(trajectory.reward[:, 0], [1, 1, 1, 0, 1, 1, 1, 0, 1])
    ends = [0, 0, 1, 0, 0, 0, 1, 0, 0]
    np.testing.assert_array_equal(trajectory.terminal[:, 0], np.zeros(9) if cut_off else ends)
    # The next segment starts where this one stopped.
    _, following, _ = loop.rollout(NOBODY, actors, jax.random.key(2))
    np.testing.assert_array_equal(following.observation[0], trajectory.observation[-1])
    np.testing.assert_array_equal(following.first[0], trajectory.first[-1])


def learn(environment, views, network, feature, rate, updates, actors=8, steps=8):
    """Answers learned by TD on a table, with a step size that decays, and the loop that learned them."""
    task = GVFTask(questions(network, feature), hidden=0)
    optimiser = optax.sgd(lambda count: rate / (1.0 + count / 150))
    learner = Learner(lambda key: OneHot(jnp.asarray(views)), [Trained("answers", task, optimiser)])
    loop = DeviceLoop(environment, uniform_policy(len(environment.actions)), learner.update, actors, steps)
    training = loop.start(learner.init(jax.random.key(0)), jax.random.key(1))
    training = jax.jit(loop.advance)(training, jnp.int32(updates))
    return np.asarray(training.agent.modules["answers"](jnp.eye(len(views))))


GRID = GridWorld(4, (0, 1))


@pytest.mark.parametrize(
    "network",
    [
        discounted_sum(["touch"], 0.8),
        full_tree("touch", GRID.actions, 2),
        random_network(["touch"], GRID.actions, discount=0.8, depth=3, repeat=1, seed=1),
    ],
    ids=["discounted sum", "tree of depth 2", "random network"],
)
def test_learned_answers_converge_to_the_exact_ones(network):
    exact = exact_answers(network, GRID.mdp(), GRID.uniform_policy())
    learned = learn(GRID, GRID.views, network, Touch(), rate=6.0, updates=20_000)
    assert np.abs(learned - exact).max() < 0.05
    assert np.abs(exact).max() > 0.5


def test_termination_prediction_counts_the_steps_left():
    length = 4
    transition = np.zeros((length + 1, 1, length + 1))
    transition[np.arange(length), 0, np.arange(1, length + 1)] = 1
    transition[length, 0, 0] = 1
    mdp = FiniteMDP(transition, {"constant": np.ones(1)}, np.arange(length + 1) == length)
    exact = exact_answers(termination_prediction(), mdp, np.ones((length + 1, 1)))
    np.testing.assert_allclose(exact[:, 0], [4, 3, 2, 1, 0])
    views = np.arange(length + 1, dtype=np.float32)[:, None]
    learned = learn(Corridor(length), views, termination_prediction(), Constant(), 1.0, 3000, actors=2, steps=10)
    np.testing.assert_allclose(learned[:length], exact[:length], atol=0.01)


def test_a_truncated_episode_bootstraps_from_its_last_observation():
    """Cut off, a reward of 1 at each step is worth 1 + γ + … + γ^k·v(last); v(last) is never learned and stays 0."""
    task = Trained("value", ValueTask(0.5, hidden=0), optax.sgd(1.0))
    views = jnp.arange(4, dtype=jnp.float32)[:, None]
    learner = Learner(lambda key: OneHot(views), [task])
    values = {}
    for cut_off in (False, True):
        loop = DeviceLoop(Corridor(3, cut_off), uniform_policy(1), learner.update, actors=1, steps=8)
        agent = learner.init(jax.random.key(0))
        start = agent.modules["value"](jnp.eye(4))[3, 0]
        training = jax.jit(loop.advance)(loop.start(agent, jax.random.key(1)), jnp.int32(2000))
        values[cut_off] = np.asarray(training.agent.modules["value"](jnp.eye(4)))[:, 0]
        last = values[cut_off][3] if cut_off else 0.0
        expected = [1.75 + last / 8, 1.5 + last / 4, 1 + last / 2]
        np.testing.assert_allclose(values[cut_off][:3], expected, atol=1e-3)
        assert abs(start) > 1e-3  # so that a bootstrap from it would show
    assert np.abs(values[False][:3] - values[True][:3]).max() > 1e-3


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    first, second, other = (_short_run(seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def _short_run(seed):
    task = Trained("value", ValueTask(0.5, hidden=0), optax.adam(1e-2))
    learner = Learner(lambda key: OneHot(jnp.asarray(GRID.views)), [task])
    loop = DeviceLoop(GRID, uniform_policy(4), learner.update, actors=2, steps=4)
    key = jax.random.key(seed)
    training = jax.jit(loop.advance)(loop.start(learner.init(key), key), jnp.int32(5))
    return np.asarray(training.agent.modules["value"](jnp.eye(16)))
