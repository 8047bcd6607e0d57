"""Layers: the paper's initial weights, and a stack of dense layers."""

from __future__ import annotations

import math
from collections.abc import Sequence

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key


def initial_weight(key: Key[Array, ""], shape: tuple[int, ...], fan_in: int) -> Float[Array, "..."]:
    """Normal with deviation 1/√fan-in, cut at two deviations, not re-scaled."""
    return jax.random.truncated_normal(key, -2.0, 2.0, shape) / math.sqrt(fan_in)


def add_bias(x: Float[Array, "*batch n"], bias: Float[Array, " n"]) -> Float[Array, "*batch n"]:
    """x + bias along the last axis."""
    return x + jax.lax.expand_dims(bias, range(x.ndim - 1))


class Dense(eqx.Module):
    """x ↦ x·W + b, with zero initial biases."""

    weight: Float[Array, "inputs outputs"]
    bias: Float[Array, " outputs"]

    def __init__(self, key: Key[Array, ""], inputs: int, outputs: int) -> None:
        self.weight = initial_weight(key, (inputs, outputs), inputs)
        self.bias = jnp.zeros(outputs)

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        return add_bias(x @ self.weight, self.bias)


class MLP(eqx.Module):
    """Dense layers with a ReLU after each."""

    layers: tuple[Dense, ...]

    def __init__(self, key: Key[Array, ""], inputs: int, sizes: Sequence[int]) -> None:
        keys = jax.random.split(key, len(sizes))
        self.layers = tuple(Dense(k, i, o) for k, i, o in zip(keys, (inputs, *sizes), sizes, strict=False))

    def __call__(self, x: Float[Array, "*batch inputs"]) -> Float[Array, "*batch outputs"]:
        for layer in self.layers:
            x = jax.nn.relu(layer(x))
        return x


class Head(eqx.Module):
    """One hidden layer with a ReLU, then a linear output; linear altogether where there are 0 hidden units."""

    hidden: Dense | None
    output: Dense

    def __init__(self, key: Key[Array, ""], inputs: int, hidden: int, outputs: int) -> None:
        hidden_key, output_key = jax.random.split(key)
        self.hidden = Dense(hidden_key, inputs, hidden) if hidden else None
        self.output = Dense(output_key, hidden or inputs, outputs)

    def padded(self, outputs: int) -> Head:
        """The same head with more outputs; those added are 0."""
        more = outputs - self.output.bias.shape[-1]
        output = jax.tree.map(lambda leaf: jnp.pad(leaf, [(0, 0)] * (leaf.ndim - 1) + [(0, more)]), self.output)
        return eqx.tree_at(lambda head: head.output, self, output)

    def __call__(
        self, states: Float[Array, "*batch inputs"], gradient_scale: float | Float[Array, ""] = 1.0
    ) -> Float[Array, "*batch outputs"]:
        """The output; the gradient that flows back from the output layer is multiplied by `gradient_scale`."""
        activations = states if self.hidden is None else jax.nn.relu(self.hidden(states))
        return self.output(scale_gradient(activations, gradient_scale))


def scale_gradient(x: Float[Array, "..."], scale: float | Float[Array, ""]) -> Float[Array, "..."]:
    """x, whose gradient is multiplied by scale. None flows into the scale."""
    scale = jax.lax.stop_gradient(scale)
    return scale * x + jax.lax.stop_gradient((1 - scale) * x)
