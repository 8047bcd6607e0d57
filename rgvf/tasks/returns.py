"""Returns and temporal-difference errors, as functions of arrays with time first.

Names follow rlax: `r_t`, `discount_t` and `v_t` are at times 1 … T, so element t of `r_t` is R_{t+1}, what the step
from S_t to S_{t+1} gave.
"""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

RELATIVE_ERROR = "relative_error"
"""The name of this metric of a task that answers questions. It is NaN where no target varies."""


def n_step_returns(
    r_t: Float[Array, "T B *extra"],
    discount_t: Float[Array, "T B"],
    v_t: Float[Array, "T B *extra"],
    bootstrap_t: Bool[Array, "T B"],
) -> Float[Array, "T B *extra"]:
    """Returns to the end of the segment, or to wherever they must bootstrap.

        G_t = R_{t+1} + γ_{t+1} · (v(S_{t+1}) if bootstrap_{t+1} else G_{t+1}), for t = 0 … T − 1

    Args:
        r_t: rewards, or any other cumulants.
        discount_t: γ, or 0 after a terminal step.
        v_t: values of the states that the steps lead to.
        bootstrap_t: true where nothing of the episode follows in the segment (`Trajectory.last_in_segment`); the last
            step of the segment always bootstraps.
    """
    extra = tuple(range(2, r_t.ndim))

    def backwards(
        following: Float[Array, "B *extra"], step: tuple[Array, Array, Array, Array]
    ) -> tuple[Float[Array, "B *extra"], Float[Array, "B *extra"]]:
        reward, discount, value, bootstrap = step
        total = reward + discount * jnp.where(bootstrap, value, following)
        return total, total

    per_step = jnp.expand_dims(discount_t, extra), v_t, jnp.expand_dims(bootstrap_t, extra)
    return jax.lax.scan(backwards, v_t[-1], (r_t, *per_step), reverse=True)[1]


def masked_mean(x: Float[Array, "T B"], valid: Bool[Array, "T B"]) -> Float[Array, ""]:
    """(1 / T·B) Σ x over the valid steps. Steps that are not valid count as 0 and stay in the denominator."""
    return jnp.mean(jnp.where(valid, x, 0.0))


def td_loss(
    answers: Float[Array, "*batch n"], target: Float[Array, "*batch n"], learns: Bool[Array, "*batch #n"]
) -> Float[Array, ""]:
    """½ Σ_i (target_i − answer_i)² over the nodes i that learn, averaged over steps. Targets carry no gradient."""
    error = jnp.where(learns, jax.lax.stop_gradient(target) - answers, 0.0)
    return 0.5 * jnp.sum(error**2) / math.prod(answers.shape[:-1])


def td_loss_and_relative_error(
    answers: Float[Array, "T_plus_1 B n"], target: Float[Array, "T B n"], learns: Bool[Array, "T B #n"]
) -> tuple[Float[Array, ""], Float[Array, ""]]:
    """`td_loss`, and √(Σ (target − answer)² / Σ (target − mean target of the node)²) over the nodes that learn.

    1: no better than the mean of each target; 0: perfect. NaN where no target varies: there is nothing to compare with.
    Targets bootstrap from the task's own answers, so a small error says that these agree from step to step, not that
    they are right.

    Answers and targets are the largest arrays of an update, so all sums are written such that a GPU needs few passes.

    Args:
        answers: to all observations of the segment, also the last, which has no target.
        target: carries no gradient.
        learns: which nodes learn from a step.
    """
    steps = math.prod(target.shape[:-1])
    sum_type = jnp.float32 if jnp.finfo(target.dtype).bits < 32 else target.dtype
    target = jax.lax.stop_gradient(target)
    count = jnp.sum(jnp.broadcast_to(learns, target.shape), (0, 1), dtype=sum_type)
    mean = jnp.sum(jnp.where(learns, target, 0.0), (0, 1), dtype=sum_type) / jnp.maximum(count, 1)
    last = ((0, 1), (0, 0), (0, 0))  # a step more: as long as the answers, as their gradient is
    target, learns = jnp.pad(target, last).astype(sum_type), jnp.pad(learns, last)
    error = jnp.where(learns, target - answers.astype(sum_type), 0.0)
    deviation = jnp.where(learns, target - mean[None, None], 0.0)
    sums = {
        "squared error": jnp.sum(error**2, (0, 1)),
        "deviation": jnp.sum(deviation, (0, 1)),
        "squared deviation": jnp.sum(deviation**2, (0, 1)),
    }
    sums = jax.lax.optimization_barrier(sums)  # else one of them becomes a sum over all, which is a pass of its own
    squared_error = jnp.sum(sums["squared error"])
    variation = jnp.sum(_variation(sums["deviation"], sums["squared deviation"], count))
    relative = jax.lax.stop_gradient(squared_error) / jnp.where(variation > 0, variation, 1.0)
    return 0.5 * squared_error / steps, jnp.where(variation > 0, jnp.sqrt(relative), jnp.nan)


def _variation(
    deviation: Float[Array, " n"], squared_deviation: Float[Array, " n"], count: Float[Array, " n"]
) -> Float[Array, " n"]:
    """Σ (target − mean)² of each node, from sums of deviations from a number near the mean.

    0 where targets do not vary: what is left then is rounding, at most count · ε of the squares.
    """
    variation = squared_deviation - deviation**2 / jnp.maximum(count, 1)
    rounding = jnp.minimum(count * jnp.finfo(variation.dtype).eps, 0.5) * squared_deviation
    return jnp.where(variation > rounding, variation, 0.0)
