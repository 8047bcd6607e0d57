"""A balance between auxiliary tasks that is learned, by a meta-gradient.

How would the main task's loss on new experience change if a task had weighed more in the last update of the
representation? With the step Δ_k that task k made then, and the gradient g of the main loss L now,

    L(φ + w·Δ_k) has the derivative  g · Δ_k  by w,

so a task whose last step points against g has helped. Only the direction counts, so tasks of any size compare:

    ρ_k ← ρ_k − η · cos(g, Δ_k)
    w_k = exp(ρ_k − max ρ), at least `floor`

The weight w_k multiplies what task k does to the representation, not what it does to its own head. The main task's
gradient sets these few numbers and nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float

TINY = 1e-12


class BalanceState(NamedTuple):
    """What the balance has learned; a pytree."""

    log_weight: dict[str, Float[Array, ""]]
    """ρ, by task."""
    last_step: dict[str, Any]
    """Δ, by task: what it would have done to the representation with weight 1."""

    @property
    def weights(self) -> Mapping[str, Float[Array, ""]]:
        """w, by task."""
        return {task: jnp.exp(each) for task, each in self.log_weight.items()}

    def weigh(self, task: str, step: Any) -> tuple[BalanceState, Any]:
        """Remember the step of a task, and give what is to be done of it."""
        weight = self.weights[task]
        weighed = jax.tree.map(lambda leaf: weight * leaf, step)
        return self._replace(last_step=self.last_step | {task: step}), weighed


@dataclass(frozen=True)
class Balance:
    """Learns a weight for each auxiliary task."""

    rate: float
    """η."""
    floor: float = 1 / 16
    """The smallest weight, so that a task can always come back."""

    def init(self, tasks: tuple[str, ...], representation: Any) -> BalanceState:
        """All weights are 1, and no step has been made."""
        zero = jax.tree.map(jnp.zeros_like, eqx.filter(representation, eqx.is_inexact_array))
        copies = {task: jax.tree.map(lambda leaf: jnp.array(leaf, copy=True), zero) for task in tasks}
        return BalanceState({task: jnp.zeros(()) for task in tasks}, copies)

    def learn(self, state: BalanceState, gradient: Any) -> BalanceState:
        """Compare the last steps with the gradient of the main loss on new experience."""
        norm = optax.tree.norm(gradient)
        moved = {
            task: state.log_weight[task] - self.rate * _cosine(gradient, norm, step)
            for task, step in state.last_step.items()
        }
        highest = jnp.max(jnp.stack(list(moved.values())))
        lowest = math.log(self.floor)
        return state._replace(log_weight={task: jnp.maximum(each - highest, lowest) for task, each in moved.items()})


def _cosine(gradient: Any, norm: Float[Array, ""], step: Any) -> Float[Array, ""]:
    """Of the angle between the two; 0 where one of them is 0."""
    length = norm * optax.tree.norm(step)
    return jnp.asarray(optax.tree.vdot(gradient, step)) / jnp.maximum(length, TINY)
