"""The one update, tested with the grid world's tasks and a task that carries a state."""

from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from rgvf.agents import REPRESENTATION, Learner, OptimisedTask
from rgvf.agents.learner import group_by_pass
from rgvf.features import RandomLinear
from rgvf.networks import DenseRepresentation, Head
from rgvf.questions import random_network
from rgvf.spec import EnvironmentSpec
from rgvf.tasks import AnswersTask, ValueTask, View, question_arrays
from tests.helpers import trajectory

SPEC = EnvironmentSpec((6,), "float32", ("left", "right"))


def batch(seed=0):
    return trajectory(SPEC, seed, steps=4, environments=3, terminal=[(1, 1)], first=[(3, 1)])


def learner(*tasks):
    return Learner(lambda key: DenseRepresentation(key, SPEC.observation_shape, (7, 4)), tasks)


def value(end_to_end):
    return OptimisedTask("value", ValueTask(0.9, 5), optax.adam(1e-2), end_to_end)


def answers(rate=1e-2):
    feature = RandomLinear(jax.random.key(9), SPEC.observation_shape, 2)
    network = random_network(feature.names, 2, discount=0.5, depth=2, repeat=2, seed=0)
    return OptimisedTask("answers", AnswersTask(question_arrays(network, feature), hidden=5), optax.adam(rate))


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
    single = alone.init(jax.random.key(0))._replace(
        modules={name: agent.modules[name] for name in (REPRESENTATION, "answers")}
    )
    for step in range(3):
        agent, _ = both.update(agent, batch(step), jax.random.key(1))
        single, _ = alone.update(single, batch(step), jax.random.key(1))
    close(agent.modules[REPRESENTATION], single.modules[REPRESENTATION])


@pytest.mark.parametrize("end_to_end", [False, True])
def test_updates_are_applied_one_after_the_other(end_to_end):
    """The main task first, then the auxiliary gradient at the new parameters; with stop-gradient one shared pass."""
    both = learner(value(end_to_end), answers())
    agent = both.init(jax.random.key(0))
    together, _ = both.update(agent, batch(), jax.random.key(1))
    first, _ = learner(value(end_to_end)).update(agent, batch(), jax.random.key(1))
    apart, _ = learner(answers()).update(first, batch(), jax.random.key(1))
    close(together, apart)
    assert len(group_by_pass(both.tasks)) == (2 if end_to_end else 1)


def test_each_task_has_its_own_optimiser():
    both = learner(value(True), answers(rate=0.0))
    agent = both.init(jax.random.key(0))
    after, _ = both.update(agent, batch(), jax.random.key(1))
    assert same(after.modules["answers"], agent.modules["answers"])
    alone, _ = learner(value(True)).update(agent, batch(), jax.random.key(1))
    close(after.modules[REPRESENTATION], alone.modules[REPRESENTATION])


@pytest.mark.parametrize("end_to_end", [False, True])
def test_the_gradient_norm_is_the_length_of_a_step_of_gradient_descent(end_to_end):
    only_value = learner(OptimisedTask("value", ValueTask(0.9, 5), optax.sgd(1.0), end_to_end))
    agent = only_value.init(jax.random.key(0))
    after, metrics = only_value.update(agent, batch(), jax.random.key(1))
    pairs = zip(jax.tree.leaves(agent.modules), jax.tree.leaves(after.modules), strict=True)
    length = np.sqrt(sum(np.sum(np.square(a - b, dtype=np.float64)) for a, b in pairs))
    np.testing.assert_allclose(metrics["value/gradient_norm"], length, rtol=1e-5)


def test_groups_end_with_a_task_that_trains_the_representation():
    reader, trainer = value(False), answers()
    assert group_by_pass([reader, trainer, trainer]) == [(reader, trainer), (trainer,)]
    assert group_by_pass([trainer, reader, reader]) == [(trainer,), (reader, reader)]
    assert group_by_pass([reader]) == [(reader,)]


@dataclass(frozen=True)
class Chase:
    """Predicts the states of a slowly following copy of the representation: a task with a state."""

    def init(self, key, representation):
        return Head(key, representation.size, 3, representation.size), representation

    def loss(self, params, state, view, key):
        goal = View.of(view.trajectory, state).states
        loss = jnp.mean((params(view.states) - jax.lax.stop_gradient(goal)) ** 2)
        moved = jax.tree.map(lambda old, new: old + 0.25 * (new - old), state, view.representation)
        return loss, jax.lax.stop_gradient(moved), {"loss": loss}


def test_a_task_may_carry_a_state():
    chase = learner(value(False), OptimisedTask("chase", Chase(), optax.sgd(0.1)))
    agent = chase.init(jax.random.key(0))
    representation = agent.modules[REPRESENTATION]
    after, metrics = chase.update(agent, batch(), jax.random.key(1))
    close(after.task_states["chase"], representation)  # the copy moved towards what it is equal to
    again, _ = chase.update(after, batch(), jax.random.key(1))
    expected = jax.tree.map(lambda old, new: old + 0.25 * (new - old), representation, after.modules[REPRESENTATION])
    close(again.task_states["chase"], expected)
    assert set(metrics) == {f"{task}/{name}" for task in ("chase", "value") for name in ("loss", "gradient_norm")}


def test_seeds_together_equal_a_seed_alone():
    both = learner(value(True), answers())
    agents = [both.init(jax.random.key(seed)) for seed in range(3)]
    stacked = jax.tree.map(lambda *leaves: jnp.stack(leaves), *agents)
    batches = jax.tree.map(lambda *leaves: jnp.stack(leaves), *(batch(seed) for seed in range(3)))
    keys = jax.random.split(jax.random.key(1), 3)
    together, _ = jax.jit(jax.vmap(both.update))(stacked, batches, keys)
    single, _ = both.update(agents[2], batch(2), keys[2])
    close(jax.tree.map(lambda leaf: leaf[2], together), single)
