"""Returns, masked means and TD losses, against plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.tasks import masked_mean, n_step_returns, td_loss, td_loss_and_relative_error
from tests.helpers import VECTOR, trajectory

T, B = 6, 3


def episodes(spec=VECTOR):
    """Environment 0 runs through; 1 terminates at t = 1; 2 is truncated at t = 2. A reset step follows each end."""
    return trajectory(spec, steps=T, environments=B, terminal=[(1, 1)], first=[(3, 1), (4, 2)])


def slow_returns(batch, values, discount):
    """Forwards from every step, reward by reward, until something ends the sum; NaN for reset steps."""
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
                if s + 1 == T or batch.first[s + 2, b]:  # the segment ends, or the episode was truncated here
                    total += weight * float(values[s + 1, b])
                    break
                s += 1
            returns[t, b] = total
    return returns


def test_returns_equal_a_plain_loop():
    batch = episodes()
    values = jnp.asarray(np.random.default_rng(1).normal(size=(T + 1, B)), jnp.float32)
    expected = slow_returns(batch, values, 0.9)
    returns = np.asarray(n_step_returns(batch.reward, batch.discounts(0.9), values[1:], batch.last_in_segment))
    valid = ~np.isnan(expected)
    np.testing.assert_array_equal(valid, batch.valid)
    assert valid.sum() == T * B - 2
    np.testing.assert_allclose(returns[valid], expected[valid], rtol=1e-4)


def test_returns_by_hand():
    # Rewards 1, 2, 4 and then the value 8, at discount ½: 1 + 1 + 1 + 1; 2 + 2 + 2; 4 + 4.
    flat = trajectory(VECTOR, environments=1, reward=[[1.0], [2.0], [4.0]])
    values = jnp.array([[0.0], [0.0], [8.0]])
    returns = n_step_returns(flat.reward, flat.discounts(0.5), values, flat.last_in_segment)
    np.testing.assert_allclose(returns[:, 0], [4, 6, 8])


def test_returns_of_several_cumulants_are_those_of_each():
    batch = episodes()
    rng = np.random.default_rng(2)
    cumulants, values = jnp.asarray(rng.normal(size=(2, T, B, 4)), jnp.float32)
    discounts, bootstrap = batch.discounts(0.9), batch.last_in_segment
    together = n_step_returns(cumulants, discounts, values, bootstrap)
    for k in range(4):
        alone = n_step_returns(cumulants[..., k], discounts, values[..., k], bootstrap)
        np.testing.assert_allclose(together[..., k], alone, rtol=1e-6)


def test_reset_steps_count_as_zero_in_a_mean():
    x, valid = jnp.array([[1.0, 2.0], [jnp.nan, 5.0]]), jnp.array([[True, True], [False, True]])
    assert masked_mean(x, valid) == 2.0  # (1 + 2 + 0 + 5) / 4


def test_td_loss_and_its_gradient_by_hand():
    answers, target = jnp.array([[1.0, 2.0], [3.0, 4.0]]), jnp.array([[2.0, 9.0], [1.0, 4.5]])
    learns = jnp.array([[True, False], [True, True]])
    # ½ · (1² + 2² + ½²) over two steps.
    np.testing.assert_allclose(td_loss(answers, target, learns), 0.5 * 5.25 / 2)
    by_answers, by_target = jax.grad(td_loss, (0, 1))(answers, target, learns)
    np.testing.assert_allclose(by_answers, [[-0.5, 0.0], [1.0, -0.25]])
    np.testing.assert_array_equal(by_target, 0)


def with_last(answers):
    """Answers to one observation more, which has no target."""
    return jnp.concatenate([jnp.asarray(answers), jnp.full_like(answers[:1], 1e6)])


def relative_error(answers, target, learns):
    answers, target = jnp.asarray(answers, jnp.float32), jnp.asarray(target, jnp.float32)
    return td_loss_and_relative_error(with_last(answers), target, jnp.asarray(learns))[1]


def test_the_loss_of_a_segment_is_the_td_loss_and_so_is_its_gradient():
    rng = np.random.default_rng(0)
    answers, target = jnp.asarray(rng.normal(size=(2, 6, 3, 4)), jnp.float32)
    learns = jnp.asarray(rng.random((6, 3, 4)) < 0.6)
    scale = lambda loss: 3 * loss  # noqa: E731 - the gradient must follow what comes after
    expected, slopes = jax.value_and_grad(lambda answers: scale(td_loss(answers, target, learns)))(answers)
    segment = lambda answers, target: scale(td_loss_and_relative_error(answers, target, learns)[0])  # noqa: E731
    found, (by_answers, by_target) = jax.value_and_grad(segment, (0, 1))(with_last(answers), target)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    np.testing.assert_allclose(by_answers[:-1], slopes, rtol=1e-6)
    np.testing.assert_array_equal(by_answers[-1], 0)
    np.testing.assert_array_equal(by_target, 0)
    direction = jnp.asarray(rng.normal(size=(7, 3, 4)), jnp.float32)
    slope = lambda answers: jnp.sum(direction * jax.grad(segment)(answers, target))  # noqa: E731
    curvature = 3 * np.where(learns, direction[:-1], 0) / 18  # the loss is quadratic
    np.testing.assert_allclose(jax.grad(slope)(with_last(answers))[:-1], curvature, rtol=1e-6)
    along = jax.jvp(lambda answers: segment(answers, target), (with_last(answers),), (direction,))[1]
    np.testing.assert_allclose(along, np.sum(by_answers * direction), rtol=1e-5)


def test_relative_error_is_the_error_in_units_of_the_spread_of_the_targets():
    rng = np.random.default_rng(0)
    answers, target = rng.normal(size=(2, 6, 3, 4)).astype(np.float32)
    target += np.arange(4, dtype=np.float32)  # each node has its own mean
    learns = rng.random((6, 3, 4)) < 0.6
    error = spread = 0.0
    for node in range(4):
        mine = target[..., node][learns[..., node]].astype(float)
        error += ((mine - answers[..., node][learns[..., node]]) ** 2).sum()
        spread += ((mine - mine.mean()) ** 2).sum()
    np.testing.assert_allclose(relative_error(answers, target, learns), np.sqrt(error / spread), rtol=1e-5)
    for unlearned in (np.nan, np.inf, 1e30):
        elsewhere = np.where(learns, target, unlearned)
        np.testing.assert_allclose(relative_error(answers, elsewhere, learns), np.sqrt(error / spread), rtol=1e-5)
    everything = np.ones((6, 3, 4), bool)
    far = 1000 + rng.normal(size=(6, 3, 4)).astype(np.float32)  # a large mean, a small spread
    by_mean = np.broadcast_to(far.mean((0, 1)), far.shape)
    np.testing.assert_allclose(relative_error(by_mean, far, everything), 1, rtol=1e-3)
    assert np.isnan(relative_error(np.zeros((6, 3, 4)), np.ones((6, 3, 4)), everything))


def test_where_no_target_that_is_learned_varies_there_is_no_relative_error():
    """Also where others vary, which are not learned."""
    rng = np.random.default_rng(0)
    for steps in (20, 200):
        for _ in range(50):
            learns = rng.random((steps, 16, 1)) < 1 / 3
            target = np.where(learns, rng.normal(), rng.normal(size=(steps, 16, 1)))
            assert np.isnan(relative_error(np.ones((steps, 16, 1)), target, learns))
    assert np.isnan(relative_error(np.zeros((20, 16, 1)), np.ones((20, 16, 1)), np.zeros((20, 16, 1), bool)))


def test_a_rare_event_far_from_all_other_targets_counts():
    """Whether it is in the first step or a later one."""
    for step in (0, 7):
        target = np.random.default_rng(1).normal(scale=1e-3, size=(20, 16, 1))
        target[step, 3] = 100.0
        learns = np.ones(target.shape, bool)
        np.testing.assert_allclose(relative_error(np.full_like(target, target.mean()), target, learns), 1, rtol=1e-4)


@pytest.mark.parametrize(("kind", "steps"), [("bfloat16", 20), ("float16", 200), ("float32", 300_000)])
def test_the_relative_error_of_short_numbers_and_of_many_steps(kind, steps):
    """The error of 0 is the spread: means are near 0."""
    target = jnp.asarray(np.random.default_rng(2).normal(size=(steps, 16, 2)), kind)
    learns, answers = jnp.ones(target.shape, bool), jnp.zeros((steps + 1, 16, 2), kind)
    loss, error = td_loss_and_relative_error(answers, target, learns)
    np.testing.assert_allclose(error, 1, rtol=0.01)
    np.testing.assert_allclose(loss, 1, rtol=0.2)
    for value in (1.1, 1000.0):
        still = jnp.full(target.shape, value, kind)
        assert np.isnan(td_loss_and_relative_error(answers, still, learns)[1])
