"""Features that need no parameters: the reward, a constant, a bump into a wall."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from rgvf.trajectory import Transition


class Reward(eqx.Module):
    """The reward of the step."""

    @property
    def names(self) -> tuple[str, ...]:
        """The one name."""
        return ("reward",)

    def __call__(self, transition: Transition) -> Float[Array, "*batch 1"]:
        return transition.reward[..., None]


class Constant(eqx.Module):
    """Always 1."""

    @property
    def names(self) -> tuple[str, ...]:
        """The one name."""
        return ("constant",)

    def __call__(self, transition: Transition) -> Float[Array, "*batch 1"]:
        return jnp.ones_like(transition.reward)[..., None]


class Touch(eqx.Module):
    """1 if the move was blocked by a wall, else 0.

    In a grid world where every action moves, a move was blocked exactly if nothing on the screen changed.
    """

    observation_rank: int = eqx.field(static=True, default=3)

    @property
    def names(self) -> tuple[str, ...]:
        """The one name."""
        return ("touch",)

    def __call__(self, transition: Transition) -> Float[Array, "*batch 1"]:
        axes = tuple(range(-self.observation_rank, 0))
        moved = jnp.any(transition.observation != transition.next_observation, axis=axes)
        return (~moved).astype(jnp.float32)[..., None]
