"""The on-device loop: environment, rollout and update inside one compiled program, seeds as a vmapped axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key, Shaped

from rgvf.agents import Agent
from rgvf.auxiliary import Metrics
from rgvf.environments import Environment
from rgvf.trajectory import Trajectory


class Policy(Protocol):
    """Chooses an action for each of B observations."""

    def __call__(
        self, agent: Agent, observation: Shaped[Array, "B *observation"], key: Key[Array, ""], /
    ) -> Int[Array, " B"]: ...


class Update(Protocol):
    """Learns from one batch of experience: `Learner.update`."""

    def __call__(self, agent: Agent, trajectory: Trajectory, key: Key[Array, ""], /) -> tuple[Agent, Metrics]: ...


class Actors(NamedTuple):
    """B environments, each between two steps."""

    state: Any
    observation: Shaped[Array, "B *observation"]
    first: Bool[Array, " B"]
    ended: Bool[Array, " B"]
    """The observation is the last of its episode: the next step resets."""


class Training(NamedTuple):
    """All that a training run carries from one update to the next."""

    agent: Agent
    actors: Actors
    key: Key[Array, ""]


def uniform_policy(n_actions: int) -> Policy:
    """Every action with the same probability, whatever is seen."""

    def act(agent: Agent, observation: Shaped[Array, "B *observation"], key: Key[Array, ""]) -> Int[Array, " B"]:
        del agent
        return jax.random.randint(key, observation.shape[:1], 0, n_actions)

    return act


@dataclass(frozen=True)
class DeviceLoop:
    """Training as pure functions, to be jitted and vmapped over seeds."""

    environment: Environment
    policy: Policy
    update: Update
    actors: int
    steps: int
    """Steps of each actor between two updates."""

    @property
    def frames_per_update(self) -> int:
        return self.actors * self.steps

    def start(self, agent: Agent, key: Key[Array, ""]) -> Training:
        """Put a new agent into new environments."""
        actor_key, key = jax.random.split(key)
        state, observation = jax.vmap(self.environment.reset)(jax.random.split(actor_key, self.actors))
        started = jnp.ones(self.actors, bool)
        return Training(agent, Actors(state, observation, started, ~started), key)

    def advance(self, training: Training, updates: Int[Array, ""]) -> Training:
        """Carry on for a number of updates."""
        return jax.lax.fori_loop(0, updates, lambda _, t: self._update(t), training)

    def _update(self, training: Training) -> Training:
        rollout_key, update_key, key = jax.random.split(training.key, 3)
        actors, trajectory = self.rollout(training.agent, training.actors, rollout_key)
        agent, _ = self.update(training.agent, trajectory, update_key)
        return Training(agent, actors, key)

    def rollout(self, agent: Agent, actors: Actors, key: Key[Array, ""]) -> tuple[Actors, Trajectory]:
        """Let the policy act for a segment; an environment whose episode has ended resets instead of stepping."""

        def one_step(actors: Actors, key: Key[Array, ""]) -> tuple[Actors, tuple[Any, ...]]:
            policy_key, environment_key = jax.random.split(key)
            action = self.policy(agent, actors.observation, policy_key)
            keys = jax.random.split(environment_key, self.actors)
            fresh_state, fresh_observation = jax.vmap(self.environment.reset)(keys)
            next_state, step = jax.vmap(self.environment.step)(actors.state, action, keys)
            pick = jax.vmap(jnp.where, (0, 0, 0))
            following = Actors(
                state=jax.tree.map(lambda a, b: pick(actors.ended, a, b), fresh_state, next_state),
                observation=pick(actors.ended, fresh_observation, step.observation),
                first=actors.ended,
                ended=(step.terminal | step.truncated) & ~actors.ended,
            )
            reward = jnp.where(actors.ended, 0.0, step.reward)
            return following, (actors.observation, action, reward, step.terminal & ~actors.ended, actors.first)

        last, (observation, action, reward, terminal, first) = jax.lax.scan(
            one_step, actors, jax.random.split(key, self.steps)
        )
        observation = jnp.concatenate([observation, last.observation[None]])
        first = jnp.concatenate([first, last.first[None]])
        return last, Trajectory(observation, action, reward, terminal, first)
