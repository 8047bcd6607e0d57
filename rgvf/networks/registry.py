"""Representations by name. A new one is a function here and a line in `REPRESENTATIONS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import jax
from jaxtyping import Array, Key

from rgvf.networks.conv import ATARI, ConvRepresentation, ConvSize
from rgvf.networks.recurrent import Recurrent
from rgvf.networks.representation import DenseRepresentation, FeedForward, Representation
from rgvf.spec import EnvironmentSpec

SMALL = (ConvSize(16, 3, 1),)
"""One convolution, for images of few pixels such as MinAtar's."""


class Sizes(NamedTuple):
    """Sizes of a representation; where there are none, it has its own."""

    kernels: tuple[int, ...] = ()
    """Number of kernels of each convolution."""
    dense: tuple[int, ...] = ()
    """Units of each dense layer."""
    memory: int = 0
    """Units of the memory; 0: none are given."""


DEFAULT_SIZES = Sizes()

Make = Callable[[EnvironmentSpec, Key[Array, ""], Sizes], Representation]
"""(spec, key, sizes) → representation."""


def _conv(spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes) -> FeedForward:
    layers = _with_kernels(ATARI, sizes.kernels, "conv")
    return ConvRepresentation(key, spec.image_shape("representation conv"), layers, sizes.dense)


def _small_conv(spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes) -> FeedForward:
    layers = _with_kernels(SMALL, sizes.kernels, "small-conv")
    return ConvRepresentation(key, spec.image_shape("representation small-conv"), layers, sizes.dense or (128,))


def _mlp(spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes) -> FeedForward:
    if sizes.kernels:
        raise ValueError("the representation mlp has no convolutions, so kernels cannot be set")
    return DenseRepresentation(key, spec.observation_shape, sizes.dense or (64, 64))


_TORSOS: dict[str, Callable[[EnvironmentSpec, Key[Array, ""], Sizes], FeedForward]] = {
    "conv": _conv,
    "small-conv": _small_conv,
    "mlp": _mlp,
}


def _torso_for(spec: EnvironmentSpec) -> str:
    """The name of the feed-forward representation that observations of this shape call for."""
    return "mlp" if not spec.is_image else "small-conv" if spec.is_small_image else "conv"


def _gru(spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes) -> Representation:
    torso_key, gru_key = jax.random.split(key)
    name = _torso_for(spec)
    units = 512 if name == "conv" else 128
    dense = sizes.dense or ((512,) if name == "conv" else ())  # the others have dense layers of their own
    torso = _TORSOS[name](spec, torso_key, Sizes(sizes.kernels, dense))
    return Recurrent(gru_key, torso, len(spec.actions), sizes.memory or units)


REPRESENTATIONS: dict[str, Make] = {**_TORSOS, "gru": _gru}
"""What makes each representation, of (spec, key, sizes). Add your own here."""


def make_representation(
    kind: str, spec: EnvironmentSpec, key: Key[Array, ""], sizes: Sizes = DEFAULT_SIZES
) -> Representation:
    """The representation of this name; "auto" chooses one by the shape of observations, without memory."""
    name = _torso_for(spec) if kind == "auto" else kind
    made = REPRESENTATIONS[name](spec, key, sizes)
    if sizes.memory and not has_memory(made):
        raise ValueError(f"the representation {name} has no memory, so memory cannot be set; gru has one")
    return made


def has_memory(representation: Representation) -> bool:
    """Whether a representation keeps anything from step to step."""
    return bool(jax.tree.leaves(jax.eval_shape(lambda: representation.initial_memory(1))))


def _with_kernels(layers: Sequence[ConvSize], kernels: Sequence[int], name: str) -> list[ConvSize]:
    if not kernels:
        return list(layers)
    if len(kernels) != len(layers):
        count = f"{len(layers)} convolution{'s' * (len(layers) > 1)}"
        raise ValueError(f"the representation {name} has {count}, so kernels needs as many numbers, not {len(kernels)}")
    return [layer._replace(channels=n) for layer, n in zip(layers, kernels, strict=True)]
