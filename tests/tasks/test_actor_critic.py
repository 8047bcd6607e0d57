import equinox as eqx
import jax
import numpy as np
import pytest

from rgvf.networks import DenseRepresentation
from rgvf.spec import EnvironmentSpec
from rgvf.tasks import ActorCriticSettings, ActorCriticTask, View
from tests.tasks.test_returns import B, T, episodes, slow_returns

SHAPE, ACTIONS = (4,), 3


@pytest.fixture(scope="module")
def batch():
    return episodes(EnvironmentSpec(SHAPE, "float32", ("left", "stay", "right")))


@pytest.fixture(scope="module")
def agent():
    representation = DenseRepresentation(jax.random.key(0), SHAPE, (8, 5))
    task = ActorCriticTask(ActorCriticSettings(discount=0.9, entropy=0.02, value_weight=0.5), ACTIONS, hidden=6)
    params, _ = task.init(jax.random.key(1), representation)
    return task, params, representation


def loss_of(agent, batch, params):
    task, _, representation = agent
    view = View.of(batch, representation)
    return task.loss(params, None, view, jax.random.key(0))[0]


def slow_loss(agent, batch, params, fixed_returns, fixed_advantage):
    """Step by step in float64, with returns and the policy's advantages held fixed."""
    task, _, representation = agent
    states = np.asarray(representation(batch.observation), np.float64)
    x = np.maximum(states @ np.asarray(params.hidden.weight, np.float64) + np.asarray(params.hidden.bias), 0)
    logits = x @ np.asarray(params.policy.weight, np.float64) + np.asarray(params.policy.bias)
    values = (x @ np.asarray(params.value.weight, np.float64) + np.asarray(params.value.bias))[..., 0]
    total = 0.0
    for t in range(T):
        for b in range(B):
            if batch.first[t + 1, b]:
                continue
            p = np.exp(logits[t, b] - logits[t, b].max())
            p /= p.sum()
            total -= np.log(p[int(batch.action[t, b])]) * fixed_advantage[t, b]
            total += task.settings.value_weight * 0.5 * (fixed_returns[t, b] - values[t, b]) ** 2
            total += task.settings.entropy * (p * np.log(p)).sum()
    return total / (T * B), values


def test_loss_and_gradient_equal_a_plain_computation(agent, batch):
    task, params, _ = agent
    nothing = np.zeros((T, B))
    _, values = slow_loss(agent, batch, params, nothing, nothing)
    returns = np.nan_to_num(slow_returns(batch, values, task.settings.discount))
    advantage = returns - values[:-1]
    expected, _ = slow_loss(agent, batch, params, returns, advantage)
    np.testing.assert_allclose(loss_of(agent, batch, params), expected, rtol=1e-4)
    gradient = eqx.filter_grad(lambda p: loss_of(agent, batch, p))(params)
    rng, step = np.random.default_rng(2), 1e-4
    for where in (
        lambda p: p.hidden.weight,
        lambda p: p.policy.weight,
        lambda p: p.value.weight,
        lambda p: p.policy.bias,
    ):
        array = np.asarray(where(params), np.float64)
        for _ in range(5):
            place = tuple(int(rng.integers(n)) for n in array.shape)
            two = []
            for sign in (1, -1):
                moved = array.copy()
                moved[place] += sign * step
                two.append(slow_loss(agent, batch, eqx.tree_at(where, params, moved), returns, advantage)[0])
            np.testing.assert_allclose(where(gradient)[place], (two[0] - two[1]) / (2 * step), rtol=1e-2, atol=1e-5)


def test_reset_steps_teach_nothing(agent, batch):
    _, params, _ = agent
    changed = batch._replace(action=batch.action.at[2, 1].set((batch.action[2, 1] + 1) % ACTIONS))
    assert loss_of(agent, batch, params) == loss_of(agent, changed, params)
