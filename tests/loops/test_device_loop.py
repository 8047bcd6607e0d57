from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rgvf.agents import Learner, OptimisedTask
from rgvf.environments import GridWorld, Step
from rgvf.features import Constant, Normalised, Reward, Touch
from rgvf.loops import DeviceLoop, ListedSeeds, start, uniform_policy
from rgvf.networks import FeedForward
from rgvf.questions import (
    FiniteMDP,
    action_values,
    discounted_sum,
    exact_answers,
    full_tree,
    random_network,
    termination_prediction,
)
from rgvf.tasks import AnswersTask, ValueTask, question_arrays

pytestmark = pytest.mark.medium


@dataclass(frozen=True)
class Corridor:
    """Cells 0, 1, 2 …; every step moves to the next one, and arriving in cell `length` ends the episode."""

    length: int = 3
    truncates: bool = False
    """The end is a truncation; otherwise it is terminal."""

    actions = ("next",)
    observation_shape = (1,)

    def reset(self, key):
        return jnp.zeros((), jnp.int32), jnp.zeros(1)

    def step(self, state, action, key):
        cell = state + 1
        end = cell == self.length
        observation = cell.astype(jnp.float32)[None]
        return cell, Step(observation, jnp.ones(()), end & (not self.truncates), end & self.truncates)


class OneHot(FeedForward):
    """A tabular representation: one unit for each of the given observations."""

    views: jax.Array

    @property
    def size(self):
        return self.views.shape[0]

    def __call__(self, observation):
        batch = observation.shape[: observation.ndim - (self.views.ndim - 1)]
        flat, views = observation.reshape(-1, 1, self.views[0].size), self.views.reshape(1, self.size, -1)
        same = jnp.all(flat == views, axis=-1).reshape(*batch, self.size)
        return jax.lax.stop_gradient(same.astype(jnp.float32))


def tabular_loop(environment, views, tasks, actors, steps, seed=0):
    """A loop with a tabular representation and the uniformly random policy."""
    learner = Learner(lambda key: OneHot(jnp.asarray(views)), tasks)
    policy = uniform_policy(len(environment.actions))
    return DeviceLoop(environment, [learner], ListedSeeds([seed]), actors, steps, policy=policy)


def advance(loop, updates):
    """The agent after so many updates."""
    state = start(loop)
    while updates:
        state, progress = loop.advance(state, updates)
        updates -= progress.updates
    return state[0].agent


CELLS = np.arange(4, dtype=np.float32)[:, None]


@pytest.mark.parametrize("truncates", [False, True])
def test_the_step_after_an_end_is_a_reset_step_and_not_valid(truncates):
    loop = tabular_loop(Corridor(3, truncates), CELLS, [], actors=2, steps=9)
    agent, actors, *_ = start(loop)[0]
    actors, trajectory, _ = loop.rollout(agent, actors, jax.random.key(1))
    np.testing.assert_array_equal(trajectory.observation[:, 0, 0], [0, 1, 2, 3, 0, 1, 2, 3, 0, 1])
    np.testing.assert_array_equal(trajectory.first[:, 0], [1, 0, 0, 0, 1, 0, 0, 0, 1, 0])
    np.testing.assert_array_equal(trajectory.valid[:, 0], [1, 1, 1, 0, 1, 1, 1, 0, 1])
    np.testing.assert_array_equal(trajectory.reward[:, 0], [1, 1, 1, 0, 1, 1, 1, 0, 1])
    ends = [0, 0, 1, 0, 0, 0, 1, 0, 0]
    np.testing.assert_array_equal(trajectory.terminal[:, 0], np.zeros(9) if truncates else ends)
    # The next segment starts where this one stopped.
    _, following, _ = loop.rollout(agent, actors, jax.random.key(2))
    np.testing.assert_array_equal(following.observation[0], trajectory.observation[-1])
    np.testing.assert_array_equal(following.first[0], trajectory.first[-1])


def test_reset_steps_belong_to_no_game():
    loop = tabular_loop(Corridor(3), CELLS, [], actors=2, steps=9)
    state, progress = loop.advance(start(loop), 3)
    assert progress.games == [2 * 7]  # 27 steps: four for each game, and the last one needs no reset step
    assert set(loop.scores(state)[0].newest(14)) == {(3.0, 3)}


def learn(environment, views, network, feature, rate, updates, actors=8, steps=8, half_after=150):
    """Answers learned by TD on a table, with a step size that decays: half of it is left after so many updates."""
    task = AnswersTask(question_arrays(network, feature), hidden=0)
    optimiser = optax.sgd(lambda count: rate / (1.0 + count / half_after))
    loop = tabular_loop(environment, views, [OptimisedTask("answers", task, optimiser)], actors, steps)
    return np.asarray(advance(loop, updates).modules["answers"](jnp.eye(len(views))))


GRID = GridWorld(4, (0, 1))


@pytest.mark.parametrize(
    "network",
    [
        discounted_sum(["touch"], 0.8),
        full_tree("touch", GRID.actions, 2),
        random_network(["touch"], GRID.actions, discount=0.8, depth=3, repeat=1, seed=1),
        action_values(GRID.actions, discounts=[0.0, 0.5, 0.8], depth=3, repeat=3, seed=1),
    ],
    ids=["discounted sum", "tree of depth 2", "random network", "action values"],
)
def test_learned_answers_converge_to_the_exact_ones(network):
    exact = exact_answers(network, GRID.mdp(), GRID.uniform_policy())
    feature = Touch() if network.features == ("touch",) else Reward()
    learned = learn(GRID, GRID.views, network, feature, rate=6.0 if feature == Touch() else 2.0, updates=20_000)
    assert np.abs(learned - exact).max() < 0.05
    assert np.abs(exact).max() > 0.5


@pytest.mark.slow
def test_learned_action_values_at_long_horizons_converge_to_the_exact_ones():
    """At the ten horizons that agents have, up to 90 steps."""
    network = action_values(GRID.actions, depth=3, repeat=3, seed=1)
    exact = exact_answers(network, GRID.mdp(), GRID.uniform_policy())
    learned = learn(GRID, GRID.views, network, Reward(), rate=1.8, updates=100_000, half_after=5000)
    sizes = np.abs(exact).max(0)
    assert sizes.max() > 6
    assert (np.abs(learned - exact).max(0) < 0.03 + 0.04 * sizes).all()


def test_normalised_answers_converge_to_the_exact_ones_in_their_unit():
    """The unit is the reward's root mean square under the policy, 1/4 here: the goal is one of 16 cells."""
    network = action_values(GRID.actions, discounts=[0.0, 0.5, 0.8], depth=2, repeat=3, seed=1)
    mdp, policy = GRID.mdp(), GRID.uniform_policy()
    exact = exact_answers(network, mdp, policy)
    learned = learn(GRID, GRID.views, network, Normalised(Reward(), 1.0), rate=2.0, updates=20_000)
    assert np.abs(learned / 4 - exact).max() < 0.05


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
    """Truncated, a reward of 1 at each step is worth 1 + γ + … + γ^k·v(last), with the learned v(last)."""
    task = OptimisedTask("value", ValueTask(0.5, hidden=0), optax.sgd(1.0))
    values = {}
    for truncates in (False, True):
        loop = tabular_loop(Corridor(3, truncates), CELLS, [task], actors=1, steps=8)
        initial = start(loop)[0].agent.modules["value"](jnp.eye(4))[3, 0]
        assert abs(initial) > 1e-3  # so that a bootstrap from it would show
        values[truncates] = np.asarray(advance(loop, 2000).modules["value"](jnp.eye(4)))[:, 0]
        last = values[truncates][3] if truncates else 0.0
        expected = [1.75 + last / 8, 1.5 + last / 4, 1 + last / 2]
        np.testing.assert_allclose(values[truncates][:3], expected, atol=1e-3)
    assert np.abs(values[False][:3] - values[True][:3]).max() > 1e-3


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    first, second, other = (_short_run(seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, second)
    assert not np.array_equal(first, other)


def _short_run(seed):
    task = OptimisedTask("value", ValueTask(0.5, hidden=0), optax.adam(1e-2))
    loop = tabular_loop(GRID, GRID.views, [task], actors=2, steps=4, seed=seed)
    return np.asarray(advance(loop, 5).modules["value"](jnp.eye(16)))
