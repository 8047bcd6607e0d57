"""Convolutions over images, and the representation made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key, Shaped

from rgvf.networks.layers import MLP, add_bias, initial_weight
from rgvf.networks.representation import FeedForward
from rgvf.trajectory import unit_scale


class ConvSize(NamedTuple):
    """A convolution of `channels` kernels of `kernel`×`kernel` with a stride, without padding."""

    channels: int
    kernel: int
    stride: int


ATARI = (ConvSize(32, 8, 4), ConvSize(64, 4, 2), ConvSize(64, 3, 1))
"""The layers of Mnih et al. 2015, which the paper uses."""


MAX_PATCH_NUMBERS = 2**13
"""Up to this many numbers in all patches of an image, a convolution is computed as one matrix product."""


def _kernels(key: Key[Array, ""], inputs: int, size: ConvSize) -> tuple[Array, Array]:
    """Initial weights and biases."""
    shape = (size.kernel, size.kernel, inputs, size.channels)
    return initial_weight(key, shape, size.kernel**2 * inputs), jnp.zeros(size.channels)


class Conv(eqx.Module):
    """A convolution over [batch, height, width, channels] without padding.

    Three ways compute the same function. Where the stride divides the kernel, blocks of stride×stride pixels first
    become channels (space-to-depth), so that the stride is 1. Small images are cut into patches and multiplied as one
    matrix: several times as fast inside a compiled loop on a CPU, and fast where weights differ from seed to seed.
    Bytes are taken as 0…1.
    """

    weight: Float[Array, "kernel kernel inputs outputs"]
    bias: Float[Array, " outputs"]
    stride: int = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], inputs: int, size: ConvSize) -> None:
        self.weight, self.bias = _kernels(key, inputs, size)
        self.stride = size.stride

    def __call__(self, x: Shaped[Array, "batch height width inputs"]) -> Float[Array, "batch rows columns outputs"]:
        weight, stride, kernel = self.weight, self.stride, self.weight.shape[0]
        if stride > 1 and kernel % stride == 0:
            height, width = ((n - kernel) // stride * stride + kernel for n in x.shape[1:3])
            x = _blocks(x[:, :height, :width], stride)
            weight, stride = _blocks(jnp.moveaxis(weight, -1, 0), stride), 1
            weight = jnp.moveaxis(weight, 0, -1)
        if stride == 1:
            rows, columns = (n - weight.shape[0] + 1 for n in x.shape[1:3])
            if rows * columns * weight[..., 0].size <= MAX_PATCH_NUMBERS:
                patches = unit_scale(_patches(x, weight.shape[0], rows, columns))  # bytes are fewer before than after
                return add_bias(patches @ weight.reshape(-1, weight.shape[-1]), self.bias)
        axes = ("NHWC", "HWIO", "NHWC")
        x = jax.lax.conv_general_dilated(unit_scale(x), weight, (stride, stride), "VALID", dimension_numbers=axes)
        return add_bias(x, self.bias)


def _patches(
    x: Shaped[Array, "n height width c"], kernel: int, rows: int, columns: int
) -> Shaped[Array, "n rows columns patch"]:
    """Every place's kernel×kernel pixels: first those side by side, then those below each other, which is faster."""
    x = jnp.concatenate([x[:, :, j : j + columns] for j in range(kernel)], axis=-1)
    return jnp.concatenate([x[:, i : i + rows] for i in range(kernel)], axis=-1)


def _blocks(x: Shaped[Array, "n height width c"], size: int) -> Shaped[Array, "n rows columns block"]:
    n, height, width, channels = x.shape
    tiles = x.reshape(n, height // size, size, width // size, size, channels)
    return tiles.transpose(0, 1, 3, 2, 4, 5).reshape(n, height // size, width // size, size**2 * channels)


class Deconv(eqx.Module):
    """A transposed convolution over [..., rows, columns, channels] without padding: n ↦ (n − 1)·stride + kernel."""

    weight: Float[Array, "kernel kernel inputs outputs"]
    bias: Float[Array, " outputs"]
    stride: int = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], inputs: int, size: ConvSize) -> None:
        self.weight, self.bias = _kernels(key, inputs, size)
        self.stride = size.stride

    def __call__(self, x: Float[Array, "batch rows columns inputs"]) -> Float[Array, "batch height width outputs"]:
        strides = (self.stride, self.stride)
        return add_bias(jax.lax.conv_transpose(x, self.weight, strides, "VALID"), self.bias)


class ConvRepresentation(FeedForward):
    """An image through convolutions with a ReLU after each, flattened, then dense layers if there are any.

    Bytes are taken as 0…1.
    """

    convolutions: tuple[Conv, ...]
    dense: MLP
    flat: int = eqx.field(static=True)
    """Numbers that the convolutions give."""

    def __init__(
        self,
        key: Key[Array, ""],
        observation_shape: tuple[int, int, int],
        convolutions: Sequence[ConvSize] = ATARI,
        dense: Sequence[int] = (),
    ) -> None:
        height, width, channels = observation_shape
        *keys, dense_key = jax.random.split(key, len(convolutions) + 1)
        layers: list[Conv] = []
        for layer_key, size in zip(keys, convolutions, strict=True):
            if min(height, width) < size.kernel:
                raise ValueError(
                    f"an image of {observation_shape[0]}×{observation_shape[1]} is too small for these convolutions"
                )
            layers.append(Conv(layer_key, channels, size))
            height, width = ((n - size.kernel) // size.stride + 1 for n in (height, width))
            channels = size.channels
        self.flat = height * width * channels
        self.convolutions = tuple(layers)
        self.dense = MLP(dense_key, self.flat, dense)

    @property
    def size(self) -> int:
        """Length of a state vector."""
        return self.dense.layers[-1].bias.shape[-1] if self.dense.layers else self.flat

    def __call__(self, observation: Shaped[Array, "*batch height width channels"]) -> Float[Array, "*batch size"]:
        """States of observations."""
        *batch, height, width, channels = observation.shape
        x = observation.reshape(-1, height, width, channels)
        for convolution in self.convolutions:
            x = jax.nn.relu(convolution(x))
        return self.dense(x.reshape(*batch, -1))
