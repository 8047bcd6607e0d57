"""Representations by name. A new one is a function here and a line in `REPRESENTATIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from jaxtyping import Array, Key

from rgvf.networks.conv import ATARI, ConvRepresentation, ConvSize
from rgvf.networks.representation import DenseRepresentation, Representation
from rgvf.spec import EnvironmentSpec

SMALL = (ConvSize(16, 3, 1),)
"""One convolution, for images of few pixels such as MinAtar's."""


class Sizes(NamedTuple):
    """Sizes of a representation; where there are none, it has its own."""

    kernels: tuple[int, ...] = ()
    """Number of kernels of each convolution."""
    dense: tuple[int, ...] = ()
    """Units of each dense layer."""


DEFAULT_SIZES = Sizes()

Make = Callable[[EnvironmentSpec, Key[Array, ""], Sizes], Representation]
"""(spec, key, sizes) → representation."""


def _conv(spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes) -> Representation:
    layers = _with_kernels(ATARI, sizes.kernels, "conv")
    return ConvRepresentation(key, spec.image_shape("representation conv"), layers, sizes.dense)


def _small_conv(spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes) -> Representation:
    layers = _with_kernels(SMALL, sizes.kernels, "small-conv")
    return ConvRepresentation(key, spec.image_shape("representation small-conv"), layers, sizes.dense or (128,))


def _mlp(spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes) -> Representation:
    if sizes.kernels:
        raise ValueError("the representation mlp has no convolutions, so kernels cannot be set")
    return DenseRepresentation(key, spec.observation_shape, sizes.dense or (64, 64))


REPRESENTATIONS: dict[str, Make] = {"conv": _conv, "small-conv": _small_conv, "mlp": _mlp}
"""What makes each representation, of (spec, key, sizes). Add your own here."""


def make_representation(
    kind: str, spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes = DEFAULT_SIZES
) -> Representation:
    """The representation of this name; "auto" chooses one by the shape of observations."""
    if kind == "auto":
        kind = "mlp" if not spec.is_image else "small-conv" if spec.is_small_image else "conv"
    return REPRESENTATIONS[kind](spec, key, sizes)


def _with_kernels(layers: Sequence[ConvSize], kernels: Sequence[int], name: str) -> list[ConvSize]:
    if not kernels:
        return list(layers)
    if len(kernels) != len(layers):
        count = f"{len(layers)} convolution{'s' * (len(layers) > 1)}"
        raise ValueError(f"the representation {name} has {count}, so kernels needs as many numbers, not {len(kernels)}")
    return [layer._replace(channels=n) for layer, n in zip(layers, kernels, strict=True)]
