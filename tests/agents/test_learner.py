"""The one update, tested with the grid world's tasks and a task that carries a state."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rgvf.agents import REPRESENTATION, Learner, Trained, ValueTask
from rgvf.agents.learner import shared_passes
from rgvf.auxiliary import GVFTask, questions
from rgvf.features import RandomLinear
from rgvf.networks import DenseRepresentation, Head
from rgvf.questions import random_network
from rgvf.trajectory import Trajectory

SHAPE, T, B = (6,), 4, 3


def batch(seed=0):
    rng = np.random.default_rng(seed)
    return Trajectory(
        jnp.asarray(rng.normal(size=(T + 1, B, *SHAPE)), jnp.float32),
        jnp.asarray(rng.integers(2, size=(T, B)), jnp.int32),
        jnp.asarray(rng.normal(size=(T, B)), jnp.float32),
        jnp.zeros((T, B), bool).at[1, 1].set(True),
        jnp.zeros((T + 1, B), bool).at[3, 1].set(True),
    )


def gvf():
    feature = RandomLinear(jax.random.key(9), SHAPE, 2)
    network = random_network(feature.names, 2, discount=0.5, depth=2, repeat=2, seed=0)
    return GVFTask(questions(network, feature), hidden=5)


def learner(*tasks):
    return Learner(lambda key: DenseRepresentation(key, SHAPE, (7, 4)), tasks)


def value(end_to_end):
    return Trained("value", ValueTask(0.9, 5), optax.adam(1e-2), end_to_end)


def answers(rate=1e-2):
    return Trained("answers", gvf(), optax.adam(rate))


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True))


def close(a, b):
    for x, y in zip(jax.tree.leaves(a), jax.tree.leaves(b), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-5, atol=1e-6)


def test_stop_gradient_leaves_the_representation_untouched_by_the_value():
    only_value = learner(value(False))
    agent = only_value.init(jax.random.key(0))
    after, _ = only_value.update(agent, batch(), jax.random.key(1))
    assert same(after.modules[REPRESENTATION], agent.modules[REPRESENTATION])
    assert not same(after.modules["value"], agent.modules["value"])
    end_to_end = learner(value(True))
    agent = end_to_end.init(jax.random.key(0))
    after, _ = end_to_end.update(agent, batch(), jax.random.key(1))
    assert not same(after.modules[REPRESENTATION], agent.modules[REPRESENTATION])


def test_with_stop_gradient_the_representation_learns_from_the_answers_alone():
    both = learner(value(False), answers())
    alone = learner(answers())
    agent = both.init(jax.random.key(0))
    lone = alone.init(jax.random.key(0))._replace(
        modules={name: agent.modules[name] for name in (REPRESENTATION, "answers")}
    )
    for step in range(3):
        agent, _ = both.update(agent, batch(step), jax.random.key(1))
        lone, _ = alone.update(lone, batch(step), jax.random.key(1))
    close(agent.modules[REPRESENTATION], lone.modules[REPRESENTATION])


@pytest.mark.parametrize("end_to_end", [False, True])
def test_updates_are_applied_one_after_the_other(end_to_end):
    """RL first, then the auxiliary gradient at the updated parameters; with stop-gradient one shared pass is equal."""
    both = learner(value(end_to_end), answers())
    agent = both.init(jax.random.key(0))
    together, _ = both.update(agent, batch(), jax.random.key(1))
    first, _ = learner(value(end_to_end)).update(agent, batch(), jax.random.key(1))
    apart, _ = learner(answers()).update(first, batch(), jax.random.key(1))
    close(together, apart)
    assert len(shared_passes(both.tasks)) == (2 if end_to_end else 1)


def test_each_task_has_its_own_optimiser():
    both = learner(value(True), answers(rate=0.0))
    agent = both.init(jax.random.key(0))
    after, _ = both.update(agent, batch(), jax.random.key(1))
    assert same(after.modules["answers"], agent.modules["answers"])
    alone, _ = learner(value(True)).update(agent, batch(), jax.random.key(1))
    close(after.modules[REPRESENTATION], alone.modules[REPRESENTATION])


def test_grouping():
    watcher, trainer = value(False), answers()
    assert shared_passes([watcher, trainer, trainer]) == [(watcher, trainer), (trainer,)]
    assert shared_passes([trainer, watcher, watcher]) == [(trainer,), (watcher, watcher)]
    assert shared_passes([watcher]) == [(watcher,)]


@dataclass(frozen=True)
class Chase:
    """Predicts the states of a slowly following copy of the representation: a task with a state of its own."""

    def init(self, key, representation):
        return Head(key, representation.size, 3, representation.size), representation

    def loss(self, params, state, view, key):
        goal = state.unroll(view.trajectory)
        loss = jnp.mean((params(view.states) - jax.lax.stop_gradient(goal)) ** 2)
        moved = jax.tree.map(lambda old, new: old + 0.25 * (new - old), state, view.representation)
        return loss, jax.lax.stop_gradient(moved), {"loss": loss}


def test_a_task_may_carry_a_state():
    chase = learner(value(False), Trained("chase", Chase(), optax.sgd(0.1)))
    agent = chase.init(jax.random.key(0))
    representation = agent.modules[REPRESENTATION]
    after, metrics = chase.update(agent, batch(), jax.random.key(1))
    close(after.task_states["chase"], representation)  # the copy moved towards what it is equal to
    again, _ = chase.update(after, batch(), jax.random.key(1))
    expected = jax.tree.map(lambda old, new: old + 0.25 * (new - old), representation, after.modules[REPRESENTATION])
    close(again.task_states["chase"], expected)
    assert set(metrics) == {"value/loss", "chase/loss"}


def test_one_seed_of_many_equals_the_lone_one():
    both = learner(value(True), answers())
    agents = [both.init(jax.random.key(seed)) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *agents)
    batches = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(batch(seed) for seed in range(3)))
    keys = jax.random.split(jax.random.key(1), 3)
    many, _ = jax.jit(jax.vmap(both.update))(stacked, batches, keys)
    lone, _ = both.update(agents[2], batch(2), keys[2])
    close(jax.tree.map(lambda leaf: leaf[2], many), lone)
