"""Features: scalar functions f(O_t, A_t, O_{t+1}) of a transition, which questions are about.

A feature is a module with `names`, and maps a `Transition` of any leading axes to one number per name.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from rgvf.features.basic import Constant, Reward, Touch
from rgvf.features.pixels import PixelChange
from rgvf.features.random import RandomLinear, RandomPatches
from rgvf.trajectory import Transition

__all__ = [
    "Chosen",
    "Constant",
    "Feature",
    "Features",
    "Paddable",
    "PixelChange",
    "RandomLinear",
    "RandomPatches",
    "Reward",
    "Touch",
]


class Feature(Protocol):
    @property
    def names(self) -> tuple[str, ...]: ...

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]: ...


@runtime_checkable
class Paddable(Feature, Protocol):
    def padded(self, n: int) -> Feature:
        """The same with n numbers; what is added means nothing."""
        ...


class Features(eqx.Module):
    """Several features side by side."""

    parts: tuple[Feature, ...]

    def __init__(self, parts: Sequence[Feature]) -> None:
        self.parts = tuple(parts)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.names)

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        return jnp.concatenate([part(transition) for part in self.parts], axis=-1)


class Chosen(eqx.Module):
    """Some of a feature's numbers, in an order of one's own."""

    whole: Feature
    names: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        columns = {name: column for column, name in enumerate(self.whole.names)}
        return self.whole(transition)[..., jnp.array([columns[name] for name in self.names])]
