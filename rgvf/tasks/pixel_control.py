"""Pixel control: learn how to change each part of the screen (Jaderberg et al. 2016), on the agent's own experience."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.features import PixelChange
from rgvf.networks import ConvSize, Deconv, Dense, Representation
from rgvf.settings import check_types, require
from rgvf.spec import EnvironmentSpec
from rgvf.tasks.protocol import Metrics, View
from rgvf.tasks.returns import masked_mean, n_step_returns

CHANNELS, KERNEL, STRIDE = 32, 4, 2


class PixelQ(eqx.Module):
    """Action values of every cell: Q = V + A − mean over actions of A, each deconvolved from one small image."""

    hidden: Dense
    value: Deconv
    advantage: Deconv
    rows: int = eqx.field(static=True)
    columns: int = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], inputs: int, rows: int, columns: int, n_actions: int) -> None:
        """`rows` and `columns` of the hidden image."""
        keys = jax.random.split(key, 3)
        self.hidden = Dense(keys[0], inputs, rows * columns * CHANNELS)
        self.value = Deconv(keys[1], CHANNELS, ConvSize(1, KERNEL, STRIDE))
        self.advantage = Deconv(keys[2], CHANNELS, ConvSize(n_actions, KERNEL, STRIDE))
        self.rows, self.columns = rows, columns

    def __call__(self, states: Float[Array, "T B inputs"]) -> Float[Array, "T B cells actions"]:
        """Q for every cell and action."""
        hidden = jax.nn.relu(self.hidden(states)).reshape(-1, self.rows, self.columns, CHANNELS)
        advantage = self.advantage(hidden)
        q = self.value(hidden) + advantage - advantage.mean(-1, keepdims=True)
        return q.reshape(*states.shape[:-1], -1, q.shape[-1])


@dataclass(frozen=True)
class PixelControlTask:
    """n-step Q-learning of the change in every cell c, as if each were a reward.

    G_t(c) = Σ_{k=1..n} γ^{k−1} · change_{t+k}(c) + γ^n · max_a Q(S_{t+n}, a, c), n steps to the end of the segment
    L = ½ Σ_c (G_t(c) − Q(S_t, A_t, c))², averaged over steps
    """

    settings: PixelControlSettings
    cells: PixelChange
    n_actions: int

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[PixelQ, None]:
        """New action values; there is no state."""
        rows, columns = ((n - KERNEL) // STRIDE + 1 for n in (self.cells.rows, self.cells.columns))
        return PixelQ(key, representation.size, rows, columns, self.n_actions), None

    def loss(
        self, params: PixelQ, state: None, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], None, Metrics]:
        """The loss above."""
        del key
        trajectory = view.trajectory
        q = params(view.states)
        target = n_step_returns(
            r_t=self.cells(trajectory.transitions),
            discount_t=trajectory.discounts(self.settings.discount),
            v_t=jax.lax.stop_gradient(q[1:].max(-1)),
            bootstrap_t=trajectory.last_in_segment,
        )
        taken = jnp.take_along_axis(q[:-1], trajectory.action[..., None, None], axis=-1)[..., 0]
        loss = masked_mean(0.5 * jnp.sum((target - taken) ** 2, axis=-1), trajectory.valid)
        return loss, state, {"loss": loss}


@dataclass(frozen=True)
class PixelControlSettings:
    """Pixel control (Jaderberg et al. 2016): learn to change each part of the screen."""

    name: ClassVar[str] = "pixel-control"

    discount: float = 0.9
    """Discount of the future changes in each cell of the screen."""

    def __post_init__(self) -> None:
        check_types(self)
        require(self, "in [0, 1)", lambda x: 0 <= x < 1, "discount")

    def make(self, spec: EnvironmentSpec, seed: int, hidden: int) -> PixelControlTask:
        """The task for an environment with images."""
        del seed, hidden
        cells = PixelChange(spec.image_shape("pixel-control"), spec.is_stacked)
        return PixelControlTask(self, cells, len(spec.actions))
