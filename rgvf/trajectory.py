"""The experience that everything learns from: T steps of B environments side by side."""

from __future__ import annotations

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Shaped


class Transition(NamedTuple):
    """O_t, A_t, R_{t+1}, O_{t+1}, with any leading axes."""

    observation: Shaped[Array, "*batch *observation"]
    action: Int[Array, "*batch"]
    reward: Float[Array, "*batch"]
    next_observation: Shaped[Array, "*batch *observation"]


class Trajectory(NamedTuple):
    """A segment of experience, time first. `Tp1` in a shape means T + 1.

    Environments reset on the step after an episode's end. That *reset step* ignores its action and yields the first
    observation of the next episode. So `observation[t + 1]` is always what followed `observation[t]`, the true last
    observation of an episode included. The reset step itself is not `valid`.
    """

    observation: Shaped[Array, "Tp1 B *observation"]
    action: Int[Array, "T B"]
    reward: Float[Array, "T B"]
    terminal: Bool[Array, "T B"]
    """The step ended its episode for good; a truncated episode is not terminal."""
    first: Bool[Array, "Tp1 B"]
    """The observation is the first of its episode."""

    @property
    def valid(self) -> Bool[Array, "T B"]:
        """False for reset steps, which lead into a new episode; losses must not see them."""
        return ~self.first[1:]

    @property
    def last_in_segment(self) -> Bool[Array, "T B"]:
        """True where no later step of the same episode is in the segment: returns must bootstrap there."""
        reset = self.first[1:]
        return jnp.concatenate([reset[1:], jnp.ones_like(reset[:1])])

    def discounts(self, discount: float) -> Float[Array, "T B"]:
        """The discount after each step: 0 after a terminal one."""
        return jnp.where(self.terminal, 0.0, discount)

    @property
    def transitions(self) -> Transition:
        """All T·B transitions, with leading axes [T, B]."""
        return Transition(self.observation[:-1], self.action, self.reward, self.observation[1:])


def unit_scale(observation: Shaped[Array, "..."]) -> Float[Array, "..."]:
    """Bytes become 0…1; other numbers stay as they are."""
    if observation.dtype == jnp.uint8:
        return observation.astype(jnp.float32) / 255
    return observation.astype(jnp.float32)
