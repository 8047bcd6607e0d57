"""Policy evaluation: the value function of a given policy, learned by one-step temporal differences."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.networks import Head, Representation
from rgvf.tasks.protocol import Metrics, View
from rgvf.tasks.returns import td_loss


@dataclass(frozen=True)
class ValueTask:
    """One-step TD: L = ½ (R_{t+1} + γ · v(S_{t+1}) − v(S_t))², averaged over steps; v is 0 after a terminal step."""

    discount: float
    hidden: int

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[Head, None]:
        """A new head with one output; there is no state."""
        return Head(key, representation.size, self.hidden, 1), None

    def loss(
        self, params: Head, state: None, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], None, Metrics]:
        """The loss above."""
        del key
        trajectory = view.trajectory
        values = params(view.states)
        bootstrap = jnp.where(trajectory.terminal[..., None], 0.0, values[1:])
        target = trajectory.reward[..., None] + self.discount * bootstrap
        loss = td_loss(values[:-1], target, trajectory.valid[..., None])
        return loss, state, {"loss": loss}
