"""The experience that everything learns from: T steps of B environments side by side."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Bool, Float, Int, Shaped

Memory: TypeAlias = Any
"""What a representation keeps of the past: a pytree of arrays with a leading axis of environments. `()`: nothing."""
NO_ACTION = -1
"""The last action where there is none. Its one-hot vector is zero."""
UNKNOWN_ACTION = -2
"""The last action after an observation, until the agent has acted."""


class Percept(NamedTuple):
    """What an agent gets at a step, with any leading axes. The last two are for representations with memory only."""

    observation: Shaped[Array, "*batch *observation"]
    first: Bool[Array, "*batch"]
    """The observation is the first of its episode."""
    last_action: Int[Array, "*batch"] | None = None
    """The action that led to the observation; `NO_ACTION` where the observation is the first."""
    last_reward: Float[Array, "*batch"] | None = None
    """The reward that came with the observation, as learned from; 0 where the observation is the first."""


class Past(NamedTuple):
    """What an agent with memory has from before an observation, of each of B environments; others have nothing."""

    memory: Memory = ()
    last_action: Int[Array, "*batch"] | None = None
    last_reward: Float[Array, "*batch"] | None = None

    def __repr__(self) -> str:
        if self.last_action is None:
            return "<past, no memory>"
        games = max(1, np.size(self.last_action))
        numbers = sum(map(np.size, jax.tree.leaves(self.memory))) // games
        return f"<past, {games} game{'s' * (games != 1)}, memory of {numbers:,} numbers{' each' * (games != 1)}>"

    @classmethod
    def new(cls, memory: Memory, batch: int) -> Past:
        """Before anything has happened, with the initial memory of a representation."""
        return cls().after(memory, jnp.full(batch, NO_ACTION), jnp.zeros(batch))

    def after(self, memory: Memory, action: Int[Array, "*batch"], reward: Shaped[Array, "*batch"]) -> Past:
        """The past one step later: the memory is newer, and the action gave the reward."""
        if not jax.tree.leaves(memory):
            return self
        return Past(memory, action.astype(jnp.int32), reward.astype(jnp.float32))

    def acted(self, action: int | Int[Any, "*batch"]) -> Past:
        """The same, where another action was taken last. Of several calls after an observation the last one counts."""
        if self.last_action is None:
            return self
        try:
            actions = jnp.asarray(action)
        except (TypeError, ValueError):
            actions = None  # text, for example
        if actions is None or not jnp.issubdtype(actions.dtype, jnp.integer):
            raise TypeError(f"an action is the index of one, a whole number, not {action!r}")
        if not isinstance(actions, Tracer) and (actions < 0).any():
            raise ValueError(f"the first action is 0; there is no action {action!r}")
        if actions.size != self.last_action.size:
            given = f"{self.last_action.size}, not {actions.size}"
            raise ValueError(f"pass as many actions as the past has games: {given}")
        return self._replace(last_action=actions.astype(jnp.int32).reshape(-1))

    def seen(self, memory: Memory) -> Past:
        """After an observation, when neither the next action nor its reward is known."""
        if self.last_action is None:
            return self
        return Past(memory, jnp.full_like(self.last_action, UNKNOWN_ACTION))

    def without_reward(self) -> Past:
        """The same before the reward of the last action is known. It gives no percept with a past until it is."""
        return self._replace(last_reward=None)

    def percept(self, observation: Shaped[Array, "*batch *observation"], first: Bool[Array, "*batch"]) -> Percept:
        """What the agent gets when it sees the observation. An episode that begins has nothing before it."""
        if self.last_action is None or self.last_reward is None:
            return Percept(observation, first)
        action = jnp.where(first, NO_ACTION, self.last_action)
        return Percept(observation, first, action, jnp.where(first, 0.0, self.last_reward))


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
    past: Past = Past()
    """What the agent had from before the first observation, when it acted."""

    @property
    def percepts(self) -> Percept:
        """What the agent got at each step, with leading axes [T + 1, B]."""
        past = self.past
        if past.last_action is not None and past.last_reward is not None:
            action = jnp.concatenate([past.last_action[None], self.action])
            past = Past(past.memory, action, jnp.concatenate([past.last_reward[None], self.reward]))
        return past.percept(self.observation, self.first)

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
