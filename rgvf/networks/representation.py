"""Representations: from what was seen to the state S_t.

A representation is a module with the `size` of its state vector and two views of one function: `step`, for acting, from
one batch of observations; `unroll`, for learning, from a whole segment.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import equinox as eqx
from jaxtyping import Array, Float, Key, Shaped

from rgvf.networks.layers import MLP
from rgvf.trajectory import Trajectory, unit_scale


@runtime_checkable
class Representation(Protocol):
    """Maps observations to state vectors S_t; a pytree."""

    @property
    def size(self) -> int:
        """Length of a state vector."""
        ...

    def step(self, observation: Shaped[Array, "*batch *observation"]) -> Float[Array, "*batch size"]:
        """States of single observations, for acting."""
        ...

    def unroll(self, trajectory: Trajectory) -> Float[Array, "Tp1 B size"]:
        """States of a whole segment, for learning."""
        ...


class DenseRepresentation(eqx.Module):
    """The observation, flattened, through dense layers. Bytes are taken as 0…1."""

    mlp: MLP
    observation_rank: int = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], observation_shape: tuple[int, ...], sizes: Sequence[int]) -> None:
        self.mlp = MLP(key, math.prod(observation_shape), sizes)
        self.observation_rank = len(observation_shape)

    @property
    def size(self) -> int:
        """Length of a state vector."""
        return self.mlp.layers[-1].bias.shape[-1]

    def step(self, observation: Shaped[Array, "*batch *observation"]) -> Float[Array, "*batch size"]:
        """States of single observations."""
        batch = observation.shape[: observation.ndim - self.observation_rank]
        return self.mlp(unit_scale(observation.reshape(*batch, -1)))

    def unroll(self, trajectory: Trajectory) -> Float[Array, "Tp1 B size"]:
        """States of a whole segment."""
        return self.step(trajectory.observation)
