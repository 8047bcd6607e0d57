"""The on-device loop: environment, rollout and update inside one compiled program, seeds as a vmapped axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.agents import Agent
from rgvf.auxiliary import Metrics
from rgvf.environments.protocol import Environment, step_or_reset
from rgvf.training.loop import RECENT
from rgvf.trajectory import Trajectory

T = TypeVar("T")


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


class Tally(NamedTuple):
    """Scores of whole games."""

    score: Float[Array, " B"]
    """Unclipped return of each game that is being played."""
    recent: Float[Array, " recent"]
    """Those of games that have ended: game i stands at i mod `RECENT`."""
    games: Int[Array, ""]
    """How many have ended."""

    def add(self, reward: Float[Array, "T B"], over: Bool[Array, "T B"]) -> Tally:
        """Take note of a segment."""

        def one_step(score: Float[Array, " B"], now: tuple[Array, Array]) -> tuple[Array, Array]:
            total = score + now[0]
            return jnp.where(now[1], 0.0, total), total

        score, totals = jax.lax.scan(one_step, self.score, (reward, over))
        number = self.games + jnp.cumsum(over.reshape(-1)) - 1
        games = self.games + jnp.sum(over)
        kept = over.reshape(-1) & (number >= games - RECENT)  # of very many only the last: each place is written once
        place = jnp.where(kept, number % RECENT, RECENT)
        return Tally(score, self.recent.at[place].set(totals.reshape(-1), mode="drop"), games)

    def newest(self, n: int) -> list[float]:
        """The last n scores, oldest first, or as many as are kept."""
        recent, games = np.asarray(self.recent), int(self.games)
        return [float(recent[i % RECENT]) for i in range(games - min(n, RECENT), games)]


class Training(NamedTuple):
    """All that a training run carries from one update to the next."""

    agent: Agent
    actors: Actors
    tally: Tally
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
    clip_rewards: float = 0.0
    """Rewards are cut to ± this for learning; 0: not at all."""

    @property
    def frames_per_update(self) -> int:
        return self.actors * self.steps

    def start(self, agent: Agent, key: Key[Array, ""]) -> Training:
        """Put a new agent into new environments."""
        actor_key, key = jax.random.split(key)
        state, observation = jax.vmap(self.environment.reset)(jax.random.split(actor_key, self.actors))
        started = jnp.ones(self.actors, bool)
        tally = Tally(jnp.zeros(self.actors), jnp.zeros(RECENT), jnp.int32(0))
        return Training(agent, Actors(state, observation, started, ~started), tally, key)

    def advance(self, training: Training, updates: Int[Array, ""]) -> Training:
        """Carry on for a number of updates."""
        return jax.lax.fori_loop(0, updates, lambda _, t: self._update(t)[0], training)

    def advance_noting(
        self, training: Training, updates: Int[Array, ""], most: int
    ) -> tuple[Training, dict[str, Float[Array, " most"]]]:
        """The same, with the metrics of each update; `updates` may not be more than `most`."""
        return repeat_noting(self._update, training, updates, most)

    def _update(self, training: Training) -> tuple[Training, Metrics]:
        training, trajectory, key = self.play(training)
        agent, metrics = self.update(training.agent, trajectory, key)
        return training._replace(agent=agent), metrics

    def play(self, training: Training) -> tuple[Training, Trajectory, Key[Array, ""]]:
        """A segment of experience to learn from, and the key to do it with. The agent stays as it is."""
        rollout_key, update_key, key = jax.random.split(training.key, 3)
        actors, trajectory, over = self.rollout(training.agent, training.actors, rollout_key)
        tally = training.tally.add(trajectory.reward, over)
        if self.clip_rewards:
            trajectory = trajectory._replace(reward=jnp.clip(trajectory.reward, -self.clip_rewards, self.clip_rewards))
        return Training(training.agent, actors, tally, key), trajectory, update_key

    def rollout(
        self, agent: Agent, actors: Actors, key: Key[Array, ""]
    ) -> tuple[Actors, Trajectory, Bool[Array, "T B"]]:
        """Let the policy act for a segment, and say with which steps an episode ended.

        An environment whose episode has ended resets instead of stepping.
        """

        def one_step(actors: Actors, key: Key[Array, ""]) -> tuple[Actors, tuple[Any, ...]]:
            policy_key, environment_key = jax.random.split(key)
            action = self.policy(agent, actors.observation, policy_key)
            keys = jax.random.split(environment_key, self.actors)
            state, step = jax.vmap(partial(step_or_reset, self.environment))(actors.state, actors.ended, action, keys)
            following = Actors(state, step.observation, first=actors.ended, ended=step.terminal | step.truncated)
            lived = (actors.observation, action, step.reward, step.terminal, actors.first)
            return following, (*lived, following.ended)

        last, (observation, action, reward, terminal, first, over) = jax.lax.scan(
            one_step, actors, jax.random.split(key, self.steps)
        )
        observation = jnp.concatenate([observation, last.observation[None]])
        first = jnp.concatenate([first, last.first[None]])
        return last, Trajectory(observation, action, reward, terminal, first), over


def repeat_noting(update: Callable[[T], tuple[T, Any]], start: T, updates: Int[Array, ""], most: int) -> tuple[T, Any]:
    """Apply an update again and again; what it tells is kept with the number of the update as the first axis.

    There are `most` places; those after `updates` stay 0.
    """
    told = jax.eval_shape(update, start)[1]
    empty = jax.tree.map(lambda each: jnp.zeros((most, *each.shape), each.dtype), told)

    def one(i: Int[Array, ""], carry: tuple[T, Any]) -> tuple[T, Any]:
        state, new = update(carry[0])
        return state, jax.tree.map(lambda kept, each: kept.at[i].set(each), carry[1], new)

    return jax.lax.fori_loop(0, updates, one, (start, empty))
