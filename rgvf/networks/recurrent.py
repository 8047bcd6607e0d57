"""A representation with memory: a gated recurrent unit (GRU) on top of a feed-forward one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

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
        _, z, n, _ = _gates(h @ self.recurrent, self.bias, input_gates)
        return n + z * (h - n)

    def unroll(
        self, h: Float[Array, "B size"], input_gates: Float[Array, "T B gates"], first: Bool[Array, "T B"]
    ) -> Float[Array, "T B size"]:
        """T steps; where `first`, h is 0 before the step."""
        return _unroll(self.recurrent, self.bias, h, input_gates, first)


Gates: TypeAlias = tuple[Array, Array, Array, Array]
"""r, z, n and h·U_n + c."""


def _gates(
    product: Float[Array, "*batch gates"], bias: Float[Array, " size"], input_gates: Float[Array, "*batch gates"]
) -> Gates:
    """What h·U and the input make of the gates."""
    x_r, x_z, x_n = jnp.split(input_gates, GATES, axis=-1)
    h_r, h_z, h_n = jnp.split(product, GATES, axis=-1)
    r, z, h_n = jax.nn.sigmoid(x_r + h_r), jax.nn.sigmoid(x_z + h_z), add_bias(h_n, bias)
    return r, z, jnp.tanh(x_n + r * h_n), h_n


def _scan(step: Callable[..., Any], carry: Array, xs: Any, *, reverse: bool = False) -> tuple[Array, Array]:
    unroll = 1 if jax.default_backend() == "cpu" else UNROLLED
    return jax.lax.scan(step, carry, xs, reverse=reverse, unroll=unroll)


@jax.custom_vjp
def _unroll(
    recurrent: Float[Array, "size gates"],
    bias: Float[Array, " size"],
    h: Float[Array, "B size"],
    input_gates: Float[Array, "T B gates"],
    first: Bool[Array, "T B"],
) -> Float[Array, "T B size"]:
    """A GRU over a segment.

    Differentiated as it stands, the gradient of U would be added up step by step, and written at each. Here the way
    back finds only the gradient of each h, and all others follow from these at once.
    """

    def step(h: Float[Array, "B size"], at: tuple[Array, Array]) -> tuple[Float[Array, "B size"], Array]:
        x, begins = at
        h = jnp.where(begins[:, None], 0.0, h)
        _, z, n, _ = _gates(h @ recurrent, bias, x)
        h = n + z * (h - n)
        return h, h

    return _scan(step, h, (input_gates, first))[1]


def _unroll_forward(*arguments: Any) -> tuple[Array, tuple[Any, ...]]:
    states = _unroll(*arguments)
    return states, (*arguments, states)


def _unroll_backward(kept: tuple[Any, ...], gradients: Float[Array, "T B size"]) -> tuple[Any, ...]:
    recurrent, bias, h, input_gates, first, states = kept
    before = jnp.concatenate([h[None], states[:-1]])
    before = jnp.where(first[..., None], 0.0, before)
    r, z, n, h_n = _gates(before @ recurrent, bias, input_gates)
    # The gradients of what r, z and n are functions of, for a gradient 1 of the step's result.
    to_n = (1 - z) * (1 - n**2)
    to_r, to_z = to_n * h_n * r * (1 - r), (before - n) * z * (1 - z)
    to_product = jnp.concatenate([to_r, to_z, to_n * r], axis=-1)

    def step(later: Float[Array, "B size"], at: tuple[Array, ...]) -> tuple[Float[Array, "B size"], Array]:
        gradient, z, to_product, begins = at
        gradient += later
        earlier = gradient * z + (jnp.tile(gradient, GATES) * to_product) @ recurrent.T
        return jnp.where(begins[:, None], 0.0, earlier), gradient

    to_h, gradients = _scan(step, jnp.zeros_like(h), (gradients, z, to_product, first), reverse=True)
    of_product = jnp.tile(gradients, GATES) * to_product
    of_inputs = jnp.tile(gradients, GATES) * jnp.concatenate([to_r, to_z, to_n], axis=-1)
    of_recurrent = jnp.einsum("tbi,tbj->ij", before, of_product)
    of_bias = of_product[..., -bias.shape[-1] :].sum((0, 1))
    return of_recurrent, of_bias, to_h, of_inputs, None


_unroll.defvjp(_unroll_forward, _unroll_backward)


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
        h = self.gru(jnp.where(percept.first[:, None], 0.0, memory), self._input_gates(percept))
        return h, h

    def unroll(self, memory: Float[Array, "B size"], percepts: Percept) -> Float[Array, "Tp1 B size"]:
        """T + 1 steps of the GRU. Gradients go back to the segment's start, and no further."""

        # All that does not depend on h is done for the whole segment, before the scan.
        return self.gru.unroll(jax.lax.stop_gradient(memory), self._input_gates(percepts), percepts.first)

    def _input_gates(self, percept: Percept) -> Float[Array, "*batch gates"]:
        assert percept.last_action is not None
        assert percept.last_reward is not None
        action = jax.nn.one_hot(percept.last_action, self.n_actions)  # NO_ACTION: zeros
        parts = [self.torso(percept.observation), action, percept.last_reward[..., None]]
        return self.gru.inputs(jnp.concatenate(parts, axis=-1))
