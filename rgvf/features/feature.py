"""What a feature is, and features made of other features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from rgvf.trajectory import Transition


@runtime_checkable
class Feature(Protocol):
    """Scalar functions f_k(O_t, A_t, O_{t+1}) of a transition, each with a name; a pytree."""

    @property
    def names(self) -> tuple[str, ...]:
        """A name for each number."""
        ...

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        """One number for each name, for a transition with any leading axes."""
        ...


@runtime_checkable
class Paddable(Feature, Protocol):
    """A feature that can be given more numbers, so that agents with fewer and more features share a program."""

    def padded(self, n: int) -> Feature:
        """The same feature with n numbers; those added have no meaning."""
        ...


class Features(eqx.Module):
    """Several features, concatenated."""

    parts: tuple[Feature, ...]

    def __init__(self, parts: Sequence[Feature]) -> None:
        self.parts = tuple(parts)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all parts, in order."""
        return tuple(name for part in self.parts for name in part.names)

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        return jnp.concatenate([part(transition) for part in self.parts], axis=-1)


class Selected(eqx.Module):
    """Some of a feature's numbers, by name and in any order."""

    whole: Feature
    names: tuple[str, ...] = eqx.field(static=True)

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        columns = {name: column for column, name in enumerate(self.whole.names)}
        return self.whole(transition)[..., jnp.array([columns[name] for name in self.names])]
