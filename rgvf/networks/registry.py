"""Representations by name. A new one is a function here and a line in `REPRESENTATIONS`."""

from __future__ import annotations

from collections.abc import Callable

from jaxtyping import Array, Key

from rgvf.networks.conv import ConvRepresentation, ConvSize
from rgvf.networks.representation import DenseRepresentation, Representation
from rgvf.spec import EnvironmentSpec

Make = Callable[[EnvironmentSpec, Key[Array, ""]], Representation]
"""(spec, key) → representation."""


def _small_conv(spec: EnvironmentSpec, key: Key[Array, ""]) -> Representation:
    return ConvRepresentation(key, spec.image_shape("representation small-conv"), (ConvSize(16, 3, 1),), (128,))


REPRESENTATIONS: dict[str, Make] = {
    "conv": lambda spec, key: ConvRepresentation(key, spec.image_shape("representation conv")),
    "small-conv": _small_conv,
    "mlp": lambda spec, key: DenseRepresentation(key, spec.observation_shape, (64, 64)),
}
"""What makes each representation, of (spec, key). Add your own here."""


def make_representation(kind: str, spec: EnvironmentSpec, key: Key[Array, ""]) -> Representation:
    """The representation of this name; "auto" chooses one by the shape of observations."""
    if kind == "auto":
        kind = "mlp" if not spec.is_image else "small-conv" if spec.is_small_image else "conv"
    return REPRESENTATIONS[kind](spec, key)
