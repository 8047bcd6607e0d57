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


def relative_error(
    loss: Float[Array, ""], target: Float[Array, "T B n"], learns: Bool[Array, "T B n"]
) -> Float[Array, ""]:
    """√(Σ (target − answer)² / Σ (target − mean target of the node)²) over the nodes that learn, from their `td_loss`.

    1: no better than the mean of each target; 0: perfect. NaN where no target varies: there is nothing to compare with.
    Targets bootstrap from the task's own answers, so a small error says that these agree from step to step, not that
    they are right.
    """
    largest = jnp.max(target, (0, 1), where=learns, initial=-jnp.inf, keepdims=True)
    kept = jnp.where(learns, target - largest, 0.0)  # about one of them: a large mean would cost digits
    total, squares, count = jnp.sum(kept, (0, 1)), jnp.sum(kept**2, (0, 1)), jnp.sum(learns, (0, 1))
    spread = jnp.sum(squares - total**2 / jnp.maximum(count, 1).astype(total.dtype))
    steps = math.prod(target.shape[:-1])
    return jnp.where(spread > 0, jnp.sqrt(2 * steps * loss / jnp.where(spread > 0, spread, 1.0)), jnp.nan)
