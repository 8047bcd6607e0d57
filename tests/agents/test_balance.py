"""The learned balance between auxiliary tasks."""

import dataclasses
import math
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import REPRESENTATION, AgentConfig, Balance
from rgvf.tasks import ActionValues, RandomQuestions
from tests.helpers import SMALL_IMAGE, learner_of, trajectory

TASKS = [RandomQuestions(depth=2, repeat=2), ActionValues(depth=2, repeat=2)]
NAMES = ("rgvf", "action-values")
BALANCED = AgentConfig(TASKS, stop_gradient=True, hidden=8, learning_rate=1e-3, learn_balance=True)
PLAIN = dataclasses.replace(BALANCED, learn_balance=False)


@cache
def learner_and_update(config):
    learner = learner_of(config, SMALL_IMAGE)
    return learner, jax.jit(learner.update)


def with_errors(**errors):
    return Balance({task.replace("_", "-"): jnp.float32(each) for task, each in errors.items()})


def test_tasks_weigh_as_much_as_they_are_explained():
    weights = with_errors(rgvf=0.7, action_values=0.4).weights
    np.testing.assert_allclose(weights["action-values"], 1.0)
    np.testing.assert_allclose(weights["rgvf"], 0.5, rtol=1e-6)


def test_all_weigh_the_same_at_first_and_where_nothing_is_explained():
    assert all(weight == 1 for weight in Balance.of(NAMES).weights.values())
    weights = with_errors(rgvf=1.0, action_values=1.0).weights
    assert len({float(weight) for weight in weights.values()}) == 1


def test_a_task_whose_targets_have_not_varied_takes_no_weight_from_the_others():
    """Such as the prediction of a reward that has not come yet."""
    balance = Balance.of(("rgvf", "action-values", "reward-prediction"))
    for _ in range(1000):
        for task, error in (("rgvf", 0.65), ("action-values", 0.3), ("reward-prediction", math.nan)):
            balance = balance.observe(task, jnp.float32(error))
    weights = {task: float(weight) for task, weight in balance.weights.items()}
    assert weights == pytest.approx({"rgvf": 0.5, "action-values": 1.0, "reward-prediction": 1.0}, rel=1e-3)


def test_no_weight_falls_below_the_floor():
    assert with_errors(rgvf=1.0, action_values=0.1).weights["rgvf"] == pytest.approx(1 / 16)


def test_errors_are_running_means_of_at_most_one_and_skip_batches_without_a_value():
    balance, slow = Balance.of(NAMES), 0.0
    for each in (0.5, math.nan, 3.0, 0.25):
        balance = balance.observe("rgvf", jnp.float32(each))
        slow = slow if math.isnan(each) else 0.99 * slow + 0.01 * min(each, 1.0)
    assert float(balance.error["rgvf"]) == pytest.approx(slow, rel=1e-5)
    assert balance.error["action-values"] == 0


def leaves_close(a, b):
    return all(np.allclose(x, y, atol=1e-6) for x, y in zip(*map(jax.tree.leaves, (a, b)), strict=True))


@pytest.mark.medium
def test_weights_scale_what_a_task_does_to_the_representation_and_nothing_else():
    """Three updates that differ only in the weight of the last task: φ + w · step, with one step for all w."""
    learner, update = learner_and_update(BALANCED)
    _, plain_update = learner_and_update(PLAIN)
    agent, batch, key = learner.init(jax.random.key(0)), trajectory(SMALL_IMAGE, 0), jax.random.key(1)
    plain, _ = plain_update(agent._replace(balance=None), batch, key)
    steps = []
    for error in (0.5, 0.75):
        balance = with_errors(rgvf=1e-6, action_values=error)
        after, metrics = update(agent._replace(balance=balance), batch, key)
        assert all(leaves_close(after.modules[task], plain.modules[task]) for task in ("a2c", *NAMES))
        assert leaves_close(after.optimiser_states, plain.optimiser_states)
        assert metrics["rgvf/weight"] == 1
        weight = float(metrics["action-values/weight"])
        assert weight == pytest.approx(1 - error, abs=0.01)
        whole, part = plain.modules[REPRESENTATION], after.modules[REPRESENTATION]
        steps.append(jax.tree.map(lambda a, b, w=weight: (a - b) / (1 - w), whole, part))
    assert leaves_close(*steps)
    assert max(float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(steps[0])) > 1e-4


@pytest.mark.medium
def test_the_balance_follows_the_metric_that_is_logged():
    learner, update = learner_and_update(BALANCED)
    agent, slow, metrics = learner.init(jax.random.key(0)), dict.fromkeys(NAMES, 0.0), {}
    for seed in range(3):
        agent, metrics = update(agent, trajectory(SMALL_IMAGE, seed), jax.random.key(seed))
        slow = {task: e + 0.01 * (min(1.0, float(metrics[f"{task}/relative_error"])) - e) for task, e in slow.items()}
    assert agent.balance is not None
    for task in NAMES:
        assert float(agent.balance.error[task]) == pytest.approx(slow[task], rel=1e-4)
    explained = {task: 1 - e for task, e in slow.items()}
    expected = explained["action-values"] / max(explained.values())
    assert float(metrics["action-values/weight"]) == pytest.approx(expected, rel=1e-4)


def test_agents_with_and_without_a_learned_balance_do_not_share_a_program():
    assert BALANCED.program != PLAIN.program


def test_it_needs_two_tasks_that_answer_questions():
    for agent, count in (("rgvf", 1), ("rgvf+curl", 1), ("curl+pixel-control", 0)):
        with pytest.raises(ValueError, match=f"answer questions, and {agent.replace('+', '.')} has {count}"):
            AgentConfig(agent, learn_balance=True)
    assert AgentConfig("rgvf+curl+mhvp", learn_balance=True).learn_balance
