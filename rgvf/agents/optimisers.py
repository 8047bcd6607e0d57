"""The paper's optimisers for agents that act: one for the main task, one for each auxiliary task."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float


class LearningRate(NamedTuple):
    """The learning rate as an array of the agent, so that agents with different rates share a compiled update."""

    rate: Float[Array, ""]


def main_optimiser(rate: float, decay: float, epsilon: float, clip: float) -> optax.GradientTransformation:
    """RMSProp with ε inside the root, after clipping the gradient's global norm."""
    return optax.chain(
        optax.clip_by_global_norm(clip),
        optax.scale_by_rms(decay, epsilon, eps_in_sqrt=True),
        _scale_by_carried_rate(rate),
    )


def auxiliary_optimiser(rate: float, decay: float, epsilon: float) -> optax.GradientTransformation:
    """RMSProp with bias correction (Adam without momentum), ε inside the root; no clipping."""
    return optax.chain(
        optax.scale_by_rms(decay, epsilon, eps_in_sqrt=True, bias_correction=True),
        _scale_by_carried_rate(rate),
    )


def _scale_by_carried_rate(rate: float) -> optax.GradientTransformation:
    def update(updates: Any, state: Any, params: Any = None) -> tuple[Any, Any]:
        del params
        return jax.tree.map(lambda leaf: -state.rate * leaf, updates), state

    return optax.GradientTransformation(lambda params: LearningRate(jnp.float32(rate)), update)
