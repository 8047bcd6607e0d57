"""Returns over a segment of experience."""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from rgvf.trajectory import Trajectory


def segment_returns(
    trajectory: Trajectory,
    cumulant: Float[Array, "T B *extra"],
    next_value: Float[Array, "T B *extra"],
    discount: float,
) -> Float[Array, "T B *extra"]:
    """G_t = C_{t+1} + γ · (G_{t+1}, or v_{t+1} where the segment or a truncated episode ends there, or 0).

    0 follows a terminal step. What a dummy step gets has no meaning.
    """
    dummy = trajectory.first[1:]
    cut = jnp.concatenate([dummy[1:], jnp.ones_like(dummy[:1])])  # nothing of this episode follows in the segment

    def backwards(following: Float[Array, "B *extra"], now: tuple[Array, Array, Array, Array]):
        gained, terminal, is_cut, value = now
        following = jnp.where(is_cut, value, following)
        total = gained + discount * jnp.where(terminal, 0.0, following)
        return total, total

    extra = tuple(range(2, cumulant.ndim))
    ends = jnp.expand_dims(trajectory.terminal, extra), jnp.expand_dims(cut, extra)
    return jax.lax.scan(backwards, next_value[-1], (cumulant, *ends, next_value), reverse=True)[1]


def masked_mean(x: Float[Array, "T B"], trajectory: Trajectory) -> Float[Array, ""]:
    """The mean over all steps, where those that are not valid count as 0."""
    return jnp.mean(jnp.where(trajectory.valid, x, 0.0))
