"""The device loop: environment, rollout and update in one compiled program ("Anakin" in the Podracer paper)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.agents import REPRESENTATION, Agent, Learner, sample_actions
from rgvf.arrays import fill, named_arrays, raw
from rgvf.environments.environment import Environment, step_or_reset
from rgvf.loops.loop import MetricsOfUpdates, Progress
from rgvf.loops.rewards import Rewards
from rgvf.loops.scores import Scores
from rgvf.loops.seeds import PerSeed, SeedAxis
from rgvf.trajectory import Past, Trajectory

MAX_UPDATES = 200
"""Updates in one call of the compiled program; a run can be stopped between two calls."""
UNROLLED = 5
"""Steps that are compiled together on a GPU, where copies of the environments' states between steps cost time.

Not where resets are costly: such a step is large itself, and would take minutes to compile.
"""


@runtime_checkable
class Policy(Protocol):
    """Chooses an action in each of B states of the representation."""

    def __call__(self, agent: Agent, states: Float[Array, "B size"], key: Key[Array, ""], /) -> Int[Array, " B"]:
        """Action indices."""
        ...


class Actors(NamedTuple):
    """B environments, each between two steps."""

    state: Any
    observation: Shaped[Array, "B *observation"]
    first: Bool[Array, " B"]
    """The observation is the first of its episode."""
    ended: Bool[Array, " B"]
    """The observation is the last of its episode: the next step is a reset step."""
    past: Past = Past()
    """What the agent has from before the observation."""


class DeviceState(NamedTuple):
    """Everything that one seed carries from one update to the next."""

    agent: Agent
    actors: Actors
    scores: Scores
    key: Key[Array, ""]


def uniform_policy(n_actions: int) -> Policy:
    """Every action with the same probability."""

    def act(agent: Agent, states: Float[Array, "B size"], key: Key[Array, ""]) -> Int[Array, " B"]:
        del agent
        return jax.random.randint(key, states.shape[:1], 0, n_actions)

    return act


class DeviceLoop:
    """Training with environment, rollout and update in one compiled program, for several seeds.

    Args:
        environment: in JAX.
        learners: one for each seed; the first one's `update` serves all.
        seeds: the seed axis.
        actors: environments of each seed.
        steps: steps of each environment between two updates.
        rewards: the rewards to learn from.
        policy: chooses the actions; by default the agent's actor samples them.
    """

    def __init__(
        self,
        environment: Environment,
        learners: Sequence[Learner],
        seeds: SeedAxis,
        actors: int,
        steps: int,
        rewards: Rewards = Rewards(),  # noqa: B008 - immutable
        policy: Policy = sample_actions,
    ) -> None:
        self.environment, self.learners, self.seeds, self.policy = environment, learners, seeds, policy
        self.actors, self.steps, self.rewards = actors, steps, rewards
        self.update = learners[0].update
        self._begin = seeds.map(self._begin_one)
        self._advance = seeds.map(self._updates, donate_first=True, shared=1)

    @property
    def frames_per_update(self) -> int:
        """Environment steps of each seed in one update."""
        return self.actors * self.steps

    def begin(self, agents: PerSeed[Agent], keys: PerSeed[Key[Array, "..."]]) -> PerSeed[DeviceState]:
        """Put agents into new environments."""
        (state,) = self._begin(agents, keys)
        return state

    def _begin_one(self, agent: Agent, key: Key[Array, ""]) -> tuple[DeviceState]:
        actor_key, key = jax.random.split(key)
        state, observation = jax.vmap(self.environment.reset)(jax.random.split(actor_key, self.actors))
        first = jnp.ones(self.actors, bool)
        past = Past.new(agent.modules[REPRESENTATION].initial_memory(self.actors), self.actors)
        new = DeviceState(agent, Actors(state, observation, first, ~first, past), Scores.zero(self.actors), key)
        # Copies: one constant may be in several places, and no buffer can be donated twice.
        return (jax.tree.map(jnp.copy, new),)

    def advance(self, state: PerSeed[DeviceState], updates: int) -> tuple[PerSeed[DeviceState], Progress]:
        """At least one update of every seed, and at most `MAX_UPDATES`."""
        updates = min(updates, MAX_UPDATES)
        before = self.scores(state)
        state, metrics = self._advance(state, jnp.int32(updates))
        return state, self.progress(before, state, metrics, updates)

    def _updates(self, state: DeviceState, updates: Int[Array, ""]) -> tuple[DeviceState, MetricsOfUpdates]:
        """So many updates of one seed, and their metrics with a leading axis of `MAX_UPDATES`."""

        def one_update(i: Any, carry: tuple[DeviceState, Any]) -> tuple[DeviceState, Any]:
            state, trajectory, key = self.play(carry[0])
            agent, metrics = self.update(state.agent, trajectory, key)
            return state._replace(agent=agent), write_metrics(carry[1], i, metrics)

        _, metrics = jax.eval_shape(one_update, 0, (state, None))
        return jax.lax.fori_loop(0, updates, one_update, (state, empty_metrics(metrics)))

    def play(self, state: DeviceState) -> tuple[DeviceState, Trajectory, Key[Array, ""]]:
        """A segment of experience to learn from, and the key of the update. The agent stays as it is."""
        rollout_key, update_key, key = jax.random.split(state.key, 3)
        actors, trajectory, over = self.rollout(state.agent, state.actors, rollout_key)
        scores = state.scores.add(trajectory.reward, trajectory.valid, over)
        trajectory = trajectory._replace(reward=self.rewards(trajectory.reward))
        return DeviceState(state.agent, actors, scores, key), trajectory, update_key

    def rollout(
        self, agent: Agent, actors: Actors, key: Key[Array, ""]
    ) -> tuple[Actors, Trajectory, Bool[Array, "T B"]]:
        """Let the policy act for a segment; the last result says which steps ended an episode."""

        def keys_of_step(key: Key[Array, ""]) -> tuple[Key[Array, ""], Key[Array, " B"]]:
            policy_key, environment_key = jax.random.split(key)
            return policy_key, jax.random.split(environment_key, self.actors)

        def one_step(actors: Actors, keys: tuple[Key[Array, ""], Key[Array, " B"]]) -> tuple[Actors, tuple[Any, ...]]:
            policy_key, each = keys
            percept = actors.past.percept(actors.observation, actors.first)
            memory, states = agent.modules[REPRESENTATION].step(actors.past.memory, percept)
            action = self.policy(agent, states, policy_key)
            state, step = jax.vmap(partial(step_or_reset, self.environment))(actors.state, actors.ended, action, each)
            past = actors.past.after(memory, action, self.rewards(step.reward))
            following = Actors(state, step.observation, actors.ended, step.terminal | step.truncated, past)
            ends = jnp.stack([step.terminal, following.ended])  # one array: each is a kernel
            return following, (actors.observation, action, step.reward, ends)

        keys = jax.vmap(keys_of_step)(jax.random.split(key, self.steps))
        is_large = getattr(self.environment, "costly_reset", False)
        unroll = 1 if is_large or jax.default_backend() == "cpu" else UNROLLED
        last, (observation, action, reward, ends) = jax.lax.scan(one_step, actors, keys, unroll=unroll)
        observation = jnp.concatenate([observation, last.observation[None]])
        terminal, over = ends[:, 0], ends[:, 1]
        # What follows the last observation of an episode is the first of the next.
        first = jnp.concatenate([actors.first[None], actors.ended[None], over[:-1]])
        return last, Trajectory(observation, action, reward, terminal, first, actors.past), over

    def progress(
        self, before: list[Scores], state: PerSeed[DeviceState], metrics: PerSeed[MetricsOfUpdates], updates: int
    ) -> Progress:
        """What some updates gave, from the scores before and the state after them."""
        after = self.scores(state)
        games = [int(b.games - a.games) for a, b in zip(before, after, strict=True)]
        return Progress(updates, metrics, [each.newest(n) for each, n in zip(after, games, strict=True)], games)

    def scores(self, state: PerSeed[DeviceState]) -> list[Scores]:
        """The scores of each seed, on the host."""
        if isinstance(state, DeviceState):
            return self.seeds.unstack(jax.tree.map(np.asarray, state.scores))
        return [jax.tree.map(np.asarray, each.scores) for each in state]

    def save(self, state: PerSeed[DeviceState]) -> dict[str, np.ndarray]:
        """All arrays, by field and seed."""
        on_host: Any = jax.tree.map(lambda leaf: np.asarray(raw(leaf)), state)  # each array once, not seed by seed
        return named_arrays(self._by_field(on_host))

    def restore(self, state: PerSeed[DeviceState], arrays: Mapping[str, np.ndarray]) -> PerSeed[DeviceState]:
        """The state that `save` was given."""
        filled = fill(self._by_field(state), arrays)
        return self.seeds.stack([DeviceState(*fields) for fields in zip(*filled, strict=True)])

    def _by_field(self, state: PerSeed[DeviceState]) -> Any:
        """A `DeviceState` whose fields are lists over seeds, as in the host loop."""
        columns: list[Any] = [list(column) for column in zip(*self.seeds.unstack(state), strict=True)]
        return DeviceState(*columns)

    def close(self) -> None:
        """Nothing but memory is held."""


def empty_metrics(metrics: Any) -> Any:
    """Zeros for `MAX_UPDATES` times such metrics, which `write_metrics` fills."""
    return jax.tree.map(lambda each: jnp.zeros((MAX_UPDATES, *each.shape), each.dtype), metrics)


def write_metrics(buffer: Any, i: Any, metrics: Any) -> Any:
    """The buffer with the metrics of update i; without a buffer, the metrics themselves."""
    return metrics if buffer is None else jax.tree.map(lambda kept, each: kept.at[i].set(each), buffer, metrics)
