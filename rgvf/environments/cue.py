"""A test of memory: what was seen once is needed later."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key

from rgvf.environments.environment import Step
from rgvf.environments.game_names import find_cue


class CueState(NamedTuple):
    """Where the agent is."""

    right: Bool[Array, ""]
    """The cue; otherwise it is left."""
    time: Int[Array, ""]
    """Steps since the cue was seen."""


class Cue:
    """A corridor with a cue at its start and a junction at its end.

    The first observation shows left or right, with equal probability. Nothing is seen in the corridor, and whatever the
    agent does there takes it one step on. At the junction it chooses: +1 in the direction of the cue, −1 in the other.
    Without memory the expected return is 0, with memory it can be 1.

    Args:
        steps: length of the corridor, as a number or as the text of it: the observations between cue and junction.
    """

    actions: tuple[str, ...] = ("left", "right")
    observation_shape: tuple[int, ...] = (3,)
    """The cue left, the cue right, the junction: 1 where it is seen."""

    def __init__(self, steps: int | str) -> None:
        self.steps = int(find_cue(str(steps)))
        self.memory_steps = self.steps + 2

    def reset(self, key: Key[Array, ""]) -> tuple[CueState, Float[Array, " 3"]]:
        """At the start of the corridor."""
        state = CueState(jax.random.bernoulli(key), jnp.int32(0))
        return state, self._observe(state)

    def step(self, state: CueState, action: Int[Array, ""], key: Key[Array, ""]) -> tuple[CueState, Step]:
        """One step on, or the choice at the junction, which ends the episode."""
        del key
        chooses = state.time == self.steps + 1
        is_right = (action == 1) == state.right
        reward = jnp.where(chooses, jnp.where(is_right, 1.0, -1.0), 0.0)
        following = CueState(state.right, state.time + 1)
        return following, Step(self._observe(following), reward, chooses, jnp.zeros((), bool))

    def _observe(self, state: CueState) -> Float[Array, " 3"]:
        cue = state.time == 0
        return jnp.stack([cue & ~state.right, cue & state.right, state.time == self.steps + 1]).astype(jnp.float32)
