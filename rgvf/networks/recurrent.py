"""A representation with memory: a gated recurrent unit (GRU) on top of a feed-forward one."""

from __future__ import annotations

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Key

from rgvf.networks.layers import Dense, add_bias
from rgvf.networks.representation import FeedForward
from rgvf.trajectory import Percept

GATES = 3
UNROLLED = 7
"""Steps of a segment that are compiled together on a GPU, where a step is so short that the loop around it counts."""


class GRU(eqx.Module):
    """A gated recurrent unit (Cho et al. 2014; the reset gate acts on the product, as in cuDNN).

        r = σ(x·W_r + h·U_r + b_r)
        z = σ(x·W_z + h·U_z + b_z)
        n = tanh(x·W_n + b_n + r ⊙ (h·U_n + c))
        h ← (1 − z) ⊙ n + z ⊙ h

    The matrices of r, z and n stand side by side. Each U is orthogonal at first, biases are zero.
    """

    inputs: Dense
    """W and b."""
    recurrent: Float[Array, "size gates"]
    """U."""
    bias: Float[Array, " size"]
    """c."""

    def __init__(self, key: Key[Array, ""], inputs: int, size: int) -> None:
        input_key, *keys = jax.random.split(key, 1 + GATES)
        self.inputs = Dense(input_key, inputs, GATES * size)
        orthogonal = jax.nn.initializers.orthogonal()
        self.recurrent = jnp.concatenate([orthogonal(each, (size, size)) for each in keys], axis=-1)
        self.bias = jnp.zeros(size)

    @property
    def size(self) -> int:
        """Length of h."""
        return self.bias.shape[-1]

    def __call__(self, h: Float[Array, "B size"], input_gates: Float[Array, "B gates"]) -> Float[Array, "B size"]:
        """One step. `input_gates` is what the input does, `inputs(x)`: it can be computed for many steps at once."""
        x_r, x_z, x_n = jnp.split(input_gates, GATES, axis=-1)
        h_r, h_z, h_n = jnp.split(h @ self.recurrent, GATES, axis=-1)
        r, z = jax.nn.sigmoid(x_r + h_r), jax.nn.sigmoid(x_z + h_z)
        n = jnp.tanh(x_n + r * add_bias(h_n, self.bias))
        return n + z * (h - n)


class Recurrent(eqx.Module):
    """The paper's representation for DeepMind Lab: a feed-forward torso, then a GRU. Its h is both memory and state.

    The GRU is fed the torso's output, the last action (one-hot) and the last reward. Where an episode begins, h is
    0 and there is no last action or reward.
    """

    torso: FeedForward
    gru: GRU
    n_actions: int = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], torso: FeedForward, n_actions: int, size: int) -> None:
        self.torso, self.n_actions = torso, n_actions
        self.gru = GRU(key, torso.size + n_actions + 1, size)

    @property
    def size(self) -> int:
        """Length of a state vector."""
        return self.gru.size

    def initial_memory(self, batch: int) -> Float[Array, "batch size"]:
        """Zeros."""
        return jnp.zeros((batch, self.size))

    def step(
        self, memory: Float[Array, "B size"], percept: Percept
    ) -> tuple[Float[Array, "B size"], Float[Array, "B size"]]:
        """One step of the GRU."""
        h = self._step(memory, self._input_gates(percept), percept.first)
        return h, h

    def unroll(self, memory: Float[Array, "B size"], percepts: Percept) -> Float[Array, "Tp1 B size"]:
        """T + 1 steps of the GRU. Gradients go back to the segment's start, and no further."""

        def one_step(
            h: Float[Array, "B size"], at: tuple[Float[Array, "B gates"], Bool[Array, " B"]]
        ) -> tuple[Float[Array, "B size"], Float[Array, "B size"]]:
            h = self._step(h, *at)
            return h, h

        # All that does not depend on h is done for the whole segment, before the scan.
        inputs = self._input_gates(percepts), percepts.first
        unroll = 1 if jax.default_backend() == "cpu" else UNROLLED
        _, states = jax.lax.scan(one_step, jax.lax.stop_gradient(memory), inputs, unroll=unroll)
        return states

    def _step(
        self, h: Float[Array, "B size"], input_gates: Float[Array, "B gates"], first: Bool[Array, " B"]
    ) -> Float[Array, "B size"]:
        return self.gru(jnp.where(first[:, None], 0.0, h), input_gates)

    def _input_gates(self, percept: Percept) -> Float[Array, "*batch gates"]:
        assert percept.last_action is not None
        assert percept.last_reward is not None
        action = jax.nn.one_hot(percept.last_action, self.n_actions)  # NO_ACTION: zeros
        parts = [self.torso(percept.observation), action, percept.last_reward[..., None]]
        return self.gru.inputs(jnp.concatenate(parts, axis=-1))
