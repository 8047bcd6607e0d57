import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import A2CTask
from rgvf.auxiliary import View
from rgvf.auxiliary.returns import segment_returns
from rgvf.networks import DenseRepresentation
from rgvf.trajectory import Trajectory

T, B, SHAPE, ACTIONS = 6, 3, (4,), 3


@pytest.fixture(scope="module")
def batch():
    """Environment 0 runs through; 1 terminates at t = 1; 2 is truncated at t = 2. A dummy step follows each end."""
    rng = np.random.default_rng(0)
    terminal = np.zeros((T, B), bool)
    terminal[1, 1] = True
    first = np.zeros((T + 1, B), bool)
    first[3, 1] = first[4, 2] = True
    return Trajectory(
        jnp.asarray(rng.normal(size=(T + 1, B, *SHAPE)), jnp.float32),
        jnp.asarray(rng.integers(ACTIONS, size=(T, B)), jnp.int32),
        jnp.asarray(rng.normal(size=(T, B)), jnp.float32),
        jnp.asarray(terminal),
        jnp.asarray(first),
    )


def slow_returns(batch, values, discount):
    """Forwards from every step, reward by reward, until something ends the sum."""
    returns = np.full((T, B), np.nan)
    for b in range(B):
        for t in range(T):
            if batch.first[t + 1, b]:
                continue
            total, weight, s = 0.0, 1.0, t
            while True:
                total += weight * float(batch.reward[s, b])
                weight *= discount
                if batch.terminal[s, b]:
                    break
                if s + 1 == T or batch.first[s + 2, b]:  # the segment ends, or the episode was cut off here
                    total += weight * float(values[s + 1, b])
                    break
                s += 1
            returns[t, b] = total
    return returns


def test_returns(batch):
    values = jnp.asarray(np.random.default_rng(1).normal(size=(T + 1, B)), jnp.float32)
    expected = slow_returns(batch, values, 0.9)
    returns = np.asarray(segment_returns(batch, batch.reward, values[1:], 0.9))
    real = ~np.isnan(expected)
    assert real.sum() == T * B - 2
    np.testing.assert_allclose(returns[real], expected[real], rtol=1e-4)


def test_returns_by_hand():
    # Rewards 1, 2, 4 and then the value 8, at discount ½: 1 + 1 + 1 + 1; 2 + 2 + 2; 4 + 4.
    flat = Trajectory(
        jnp.zeros((4, 1, 1)), jnp.zeros((3, 1), int), jnp.array([[1.0], [2.0], [4.0]]), jnp.zeros((3, 1), bool),
        jnp.zeros((4, 1), bool),
    )  # fmt: skip
    values = jnp.array([[0.0], [0.0], [0.0], [8.0]])
    np.testing.assert_allclose(segment_returns(flat, flat.reward, values[1:], 0.5)[:, 0], [4, 6, 8])


@pytest.fixture(scope="module")
def agent():
    representation = DenseRepresentation(jax.random.key(0), SHAPE, (8, 5))
    task = A2CTask(ACTIONS, discount=0.9, entropy=0.02, value_weight=0.5, hidden=6)
    params, _ = task.init(jax.random.key(1), representation)
    return task, params, representation


def loss_of(agent, batch, params):
    task, _, representation = agent
    view = View(batch, representation, representation.unroll(batch))
    return task.loss(params, None, view, jax.random.key(0))[0]


def slow_loss(agent, batch, params, fixed_returns, fixed_advantage):
    """Step by step in float64, with returns and the policy's advantages held fixed."""
    task, _, representation = agent
    states = np.asarray(representation.unroll(batch), np.float64)
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
            total += task.value_weight * 0.5 * (fixed_returns[t, b] - values[t, b]) ** 2
            total += task.entropy * (p * np.log(p)).sum()
    return total / (T * B), values


def test_loss_and_gradient_equal_a_plain_computation(agent, batch):
    task, params, _ = agent
    nothing = np.zeros((T, B))
    _, values = slow_loss(agent, batch, params, nothing, nothing)
    returns = np.nan_to_num(slow_returns(batch, values, task.discount))
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


def test_dummy_steps_teach_nothing(agent, batch):
    _, params, _ = agent
    changed = batch._replace(action=batch.action.at[2, 1].set((batch.action[2, 1] + 1) % ACTIONS))
    assert loss_of(agent, batch, params) == loss_of(agent, changed, params)
