"""Policy evaluation: the value function of a given policy, learned by one-step temporal differences."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.auxiliary.gvf import td_loss
from rgvf.auxiliary.protocol import Metrics, View
from rgvf.networks import Head, Representation


@dataclass(frozen=True)
class ValueTask:
    """v(S_t) → R_{t+1} + γ·v(S_{t+1}); loss ½·squared error, averaged over steps."""

    discount: float = 0.98
    hidden: int = 32

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[Head, None]:
        return Head(key, representation.size, self.hidden, 1), None

    def loss(
        self, params: Head, state: None, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], None, Metrics]:
        del key
        trajectory = view.trajectory
        values = params(view.states)
        bootstrap = jnp.where(trajectory.terminal[..., None], 0.0, values[1:])
        target = trajectory.reward[..., None] + self.discount * bootstrap
        loss = td_loss(values[:-1], target, trajectory.valid[..., None])
        return loss, state, {"loss": loss}
