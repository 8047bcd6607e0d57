"""The paper's optimisers for agents that act: one for the main task, one for each auxiliary task."""

from __future__ import annotations

import optax


def main_optimiser(rate: float, decay: float, epsilon: float, clip: float) -> optax.GradientTransformation:
    """RMSProp with ε inside the root, after clipping the gradient's global norm."""
    return optax.chain(
        optax.clip_by_global_norm(clip),
        optax.scale_by_rms(decay, epsilon, eps_in_sqrt=True),
        optax.scale_by_learning_rate(rate),
    )


def auxiliary_optimiser(rate: float, decay: float, epsilon: float) -> optax.GradientTransformation:
    """RMSProp with bias correction (Adam without momentum), ε inside the root; no clipping."""
    return optax.chain(
        optax.scale_by_rms(decay, epsilon, eps_in_sqrt=True, bias_correction=True),
        optax.scale_by_learning_rate(rate),
    )
