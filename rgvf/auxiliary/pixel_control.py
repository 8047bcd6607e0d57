"""Pixel control: learn how to change each part of the screen (Jaderberg et al. 2016), on the agent's own experience."""

from __future__ import annotations

from dataclasses import dataclass

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.auxiliary.protocol import Metrics, View
from rgvf.auxiliary.returns import masked_mean, segment_returns
from rgvf.features import PixelChange
from rgvf.networks import ConvSize, Deconv, Dense, Representation

CHANNELS, KERNEL, STRIDE = 32, 4, 2


class PixelQ(eqx.Module):
    """Action values of every cell: Q = V + A − mean over actions of A, each deconvolved from one small picture."""

    hidden: Dense
    value: Deconv
    advantage: Deconv
    rows: int = eqx.field(static=True)
    columns: int = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], inputs: int, rows: int, columns: int, n_actions: int) -> None:
        """`rows` and `columns` of the hidden picture."""
        keys = jax.random.split(key, 3)
        self.hidden = Dense(keys[0], inputs, rows * columns * CHANNELS)
        self.value = Deconv(keys[1], CHANNELS, ConvSize(1, KERNEL, STRIDE))
        self.advantage = Deconv(keys[2], CHANNELS, ConvSize(n_actions, KERNEL, STRIDE))
        self.rows, self.columns = rows, columns

    def __call__(self, states: Float[Array, "T B inputs"]) -> Float[Array, "T B cells actions"]:
        hidden = jax.nn.relu(self.hidden(states)).reshape(-1, self.rows, self.columns, CHANNELS)
        advantage = self.advantage(hidden)
        q = self.value(hidden) + advantage - advantage.mean(-1, keepdims=True)
        return q.reshape(*states.shape[:-1], -1, q.shape[-1])


@dataclass(frozen=True)
class PixelControlTask:
    """n-step Q-learning of the change in every cell, as if each were a reward.

    Targets run to the end of the segment and are bootstrapped there with the largest action value; loss ½·squared error
    of the taken action, summed over cells, averaged over steps.
    """

    cells: PixelChange
    n_actions: int
    discount: float = 0.9

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[PixelQ, None]:
        rows, columns = ((n - KERNEL) // STRIDE + 1 for n in (self.cells.rows, self.cells.columns))
        return PixelQ(key, representation.size, rows, columns, self.n_actions), None

    def loss(
        self, params: PixelQ, state: None, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], None, Metrics]:
        del key
        trajectory = view.trajectory
        q = params(view.states)
        best = jax.lax.stop_gradient(q[1:].max(-1))
        target = segment_returns(trajectory, self.cells(trajectory.transitions), best, self.discount)
        taken = jnp.take_along_axis(q[:-1], trajectory.action[..., None, None], axis=-1)[..., 0]
        loss = masked_mean(0.5 * jnp.sum((target - taken) ** 2, axis=-1), trajectory)
        return loss, state, {"loss": loss}
