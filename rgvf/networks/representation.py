"""Representations: from what the agent gets to the state S_t.

A representation is a module with the `size` of its state vector and two views of one function: `step`, for acting, from
one percept of each environment; `unroll`, for learning, from a whole segment. What it keeps from step to step is its
memory. A feed-forward representation has none: it is a function of the observation.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import equinox as eqx
from jaxtyping import Array, Float, Key, Shaped

from rgvf.networks.layers import MLP
from rgvf.trajectory import Memory, Percept, unit_scale


@runtime_checkable
class Representation(Protocol):
    """Maps what an agent gets to state vectors S_t; a pytree."""

    @property
    def size(self) -> int:
        """Length of a state vector."""
        ...

    def initial_memory(self, batch: int) -> Memory:
        """The memory of so many environments before anything has happened; `()` where there is none."""
        ...

    def step(self, memory: Memory, percept: Percept) -> tuple[Memory, Float[Array, "B size"]]:
        """The next memory and the states, for acting. Memory starts anew where the percept is an episode's first."""
        ...

    def unroll(self, memory: Memory, percepts: Percept) -> Float[Array, "Tp1 B size"]:
        """States of a whole segment, for learning: those of T + 1 steps from the memory before the first."""
        ...


class FeedForward(eqx.Module):
    """A representation without memory. A subclass has `size` and `__call__`; the rest follows."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Length of a state vector."""

    @abstractmethod
    def __call__(self, observation: Shaped[Array, "*batch *observation"]) -> Float[Array, "*batch size"]:
        """States of observations with any leading axes."""

    def initial_memory(self, batch: int) -> tuple[()]:
        """There is none."""
        del batch
        return ()

    def step(self, memory: Memory, percept: Percept) -> tuple[Memory, Float[Array, "*batch size"]]:
        """States of the observations."""
        return memory, self(percept.observation)

    def unroll(self, memory: Memory, percepts: Percept) -> Float[Array, "Tp1 B size"]:
        """States of a whole segment, all at once."""
        del memory
        return self(percepts.observation)


class DenseRepresentation(FeedForward):
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

    def __call__(self, observation: Shaped[Array, "*batch *observation"]) -> Float[Array, "*batch size"]:
        """States of observations."""
        batch = observation.shape[: observation.ndim - self.observation_rank]
        return self.mlp(unit_scale(observation.reshape(*batch, -1)))
