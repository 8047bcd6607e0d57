"""The learned balance between auxiliary tasks."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import MAIN, REPRESENTATION, AgentConfig
from rgvf.agents.balance import Balance
from rgvf.tasks import ActionValues, RandomQuestions, View
from tests.helpers import SMALL_IMAGE, learner_of, trajectory

TASKS = [RandomQuestions(depth=2, repeat=2), ActionValues(depth=2, repeat=2)]
NAMES = ("rgvf", "action-values")


def config(rate=0.1):
    return AgentConfig(TASKS, stop_gradient=True, hidden=8, learning_rate=1e-3, balance_rate=rate)


@cache
def learner_and_update():
    learner = learner_of(config(), SMALL_IMAGE)
    return learner, jax.jit(learner.update)


def test_a_step_against_the_gradient_gains_weight():
    balance = Balance(rate=0.5)
    state = balance.init(("good", "bad", "neither"), jnp.zeros(2))
    steps = {"good": jnp.array([-3.0, 0.0]), "bad": jnp.array([5.0, 0.0]), "neither": jnp.array([0.0, 7.0])}
    state = balance.learn(state._replace(last_step=steps), jnp.array([0.2, 0.0]))
    weights = state.weights
    np.testing.assert_allclose(weights["good"], 1.0)
    np.testing.assert_allclose(weights["neither"], np.exp(-0.5), rtol=1e-6)
    np.testing.assert_allclose(weights["bad"], np.exp(-1.0), rtol=1e-6)
    for _ in range(50):
        state = balance.learn(state, jnp.array([0.2, 0.0]))
    np.testing.assert_allclose(state.weights["bad"], 1 / 16, rtol=1e-6)


def test_nothing_is_learned_from_no_step_or_no_gradient():
    balance = Balance(rate=0.5)
    state = balance.init(NAMES, jnp.zeros(2))
    for gradient in (jnp.ones(2), jnp.zeros(2)):
        assert all(weight == 1 for weight in balance.learn(state, gradient).weights.values())


@pytest.mark.medium
def test_the_weight_is_moved_along_the_derivative_of_the_main_loss():
    """By forward differentiation: the main loss on new experience, if a task had weighed a little more before."""
    learner, update = learner_and_update()
    agent = learner.init(jax.random.key(0))
    for seed in range(3):
        agent, _ = update(agent, trajectory(SMALL_IMAGE, seed), jax.random.key(seed))
    new = trajectory(SMALL_IMAGE, 9)
    assert agent.balance is not None

    def main_loss(representation):
        view = View(new, representation, representation.unroll(new))
        return learner.tasks[0].task.loss(agent.modules[MAIN], None, view, jax.random.key(0))[0]

    representation = agent.modules[REPRESENTATION]
    gradient = eqx.filter_grad(main_loss)(representation)
    norm = np.sqrt(sum(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(gradient)))
    after, _ = update(agent, new, jax.random.key(3))
    assert after.balance is not None
    moved = {}
    for task in NAMES:
        step = agent.balance.last_step[task]
        length = np.sqrt(sum(float(jnp.sum(leaf**2)) for leaf in jax.tree.leaves(step)))
        _, derivative = eqx.filter_jvp(main_loss, (representation,), (step,))
        cosine = float(derivative) / (norm * length)
        moved[task] = float(agent.balance.log_weight[task]) - 0.1 * cosine
    for task in NAMES:
        expected = moved[task] - max(moved.values())
        assert float(after.balance.log_weight[task]) == pytest.approx(expected, abs=1e-5)
    assert min(float(each) for each in after.balance.log_weight.values()) < -1e-4


@pytest.mark.medium
def test_weights_scale_what_a_task_does_to_the_representation_and_nothing_else():
    learner, update = learner_and_update()  # before the first step, no weight is learned
    agent, batch, key = learner.init(jax.random.key(0)), trajectory(SMALL_IMAGE, 0), jax.random.key(1)
    assert agent.balance is not None
    whole, _ = update(agent, batch, key)
    half = {"rgvf": jnp.log(0.5), "action-values": jnp.zeros(())}
    weighted, metrics = update(agent._replace(balance=agent.balance._replace(log_weight=half)), batch, key)
    assert whole.balance is not None
    assert weighted.balance is not None
    assert float(metrics["rgvf/weight"]) == pytest.approx(0.5, rel=1e-5)

    def close(a, b):
        return all(np.allclose(x, y, atol=1e-6) for x, y in zip(*map(jax.tree.leaves, (a, b)), strict=True))

    assert close(weighted.modules["rgvf"], whole.modules["rgvf"])
    assert close(weighted.balance.last_step["rgvf"], whole.balance.last_step["rgvf"])
    assert not close(weighted.modules[REPRESENTATION], whole.modules[REPRESENTATION])
    moved = jax.tree.map(
        lambda start, first, second: start + 0.5 * first + second,
        agent.modules[REPRESENTATION],
        weighted.balance.last_step["rgvf"],
        weighted.balance.last_step["action-values"],
    )
    assert close(weighted.modules[REPRESENTATION], moved)


def test_agents_that_learn_their_balance_share_a_program_with_those_of_their_rate():
    assert config(0.1).program == config(0.1).program
    assert config(0.1).program != config(0.2).program
    assert config(0.1).program != config(0.0).program


def test_it_needs_two_tasks():
    with pytest.raises(ValueError, match="balance_rate is for several auxiliary tasks, and rgvf has 1"):
        AgentConfig("rgvf", balance_rate=0.1)
    with pytest.raises(ValueError, match="balance_rate must be between 0 and 1"):
        AgentConfig("rgvf+curl", balance_rate=-0.1)
