"""The host loop: games step in worker processes, the device acts and updates ("Sebulba" in the Podracer paper).

Several seeds share the process. Each has its own parameters, keys and games, and learns what it would learn alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.agents import MAIN, REPRESENTATION, Agent, Learner, actor_of
from rgvf.arrays import fill, named_arrays
from rgvf.environments.workers import TimeSteps, Workers
from rgvf.loops.loop import MetricsOfUpdates, Progress
from rgvf.loops.rewards import Rewards
from rgvf.loops.seeds import PerSeed, SeedAxis
from rgvf.loops.segment import Carried, GameEnd, Segment
from rgvf.trajectory import Memory, Past, Trajectory

_GAME = "environment/"  # where a checkpoint keeps the state of each game


class HostState(NamedTuple):
    """Everything that is carried from one update to the next, but for the games; a value per seed each."""

    agent: PerSeed[Agent]
    key: PerSeed[Key[Array, "..."]]
    stack: PerSeed[Shaped[Array, "B *frame stack"]]
    """The frames before the newest: zero before the episode began."""
    memory: PerSeed[Memory]
    """Of the representation, before the newest frame."""
    last_action: PerSeed[Int[Array, " B"] | None]
    """For a representation with memory. The last reward is with the games."""


class HostLoop:
    """Training in games that run in worker processes.

    The actors take turns in groups: while the games of one group step, the device chooses actions for another. Which
    group is ready first changes nothing in what it does.

    Args:
        workers: the games, in the order of `game_order`, in as many groups as `group_count` says.
        learners: one for each seed; the first one's `update` serves all.
        seeds: the seed axis.
        actors: games of each seed.
        steps: steps of each game between two updates.
        rewards: the rewards to learn from.
    """

    def __init__(
        self,
        workers: Workers,
        learners: Sequence[Learner],
        seeds: SeedAxis,
        actors: int,
        steps: int,
        rewards: Rewards = Rewards(),  # noqa: B008 - immutable
    ) -> None:
        self.workers, self.learners, self.seeds = workers, learners, seeds
        self.actors, self.steps, self.rewards = actors, steps, rewards
        self.spec = workers.spec
        self.groups = len(workers.groups)
        self._shape = (len(learners), actors // self.groups)  # seeds, and games of each in a group
        self._begin = seeds.map(self._begin_one)
        self._open = seeds.map(self._open_one)
        self._act = [seeds.map(partial(self._act_one, group)) for group in range(self.groups)]
        self._update = seeds.map(self._update_one, donate_first=True)

    @property
    def frames_per_update(self) -> int:
        """Frames of each seed in one update."""
        return self.actors * self.steps * self.spec.frames_per_step

    def begin(self, agents: PerSeed[Agent], keys: PerSeed[Key[Array, "..."]]) -> HostState:
        """Put agents into new games."""
        some_agent = agents if isinstance(agents, Agent) else agents[0]
        self._actor_structure = jax.tree.structure(actor_of(some_agent))
        carried = self._begin(agents)
        self._has_memory = bool(jax.tree.leaves(carried[1]))
        self.workers.reset_later()
        return HostState(agents, keys, *carried)

    def advance(self, state: HostState, updates: int = 1) -> tuple[HostState, Progress]:
        """One segment of experience and the update that learns from it, whatever `updates` allows."""
        del updates
        segments = [Segment() for _ in range(self.groups)]
        carried = self.seeds.zip(state[2:])
        by_group, noise, update_key, next_key = self._open(carried, state.key)
        actor = self._actor_arrays(state.agent)
        ends: list[GameEnd] = []
        current = self.workers.current()
        for group, part in enumerate(self.workers.groups):
            segments[group].carried = self.seeds.pick(by_group, group)
            self._play(group, segments[group], current.part(part), actor, noise)
        for _ in range(self.groups * self.steps):
            group = self.workers.first_done()
            segment, current = segments[group], self.workers.receive(group)
            self._record(segment, current, ends)
            if segment.played < self.steps:
                self._play(group, segment, current, actor, noise)
            else:
                self._to_device(segment, current)
        self.workers.prepare()
        agent, metrics, *carried = self._update(state.agent, carried, *self._collected(segments), update_key)
        return HostState(agent, next_key, *carried), self._progress(metrics, ends)

    def _progress(self, metrics: PerSeed[MetricsOfUpdates], ends: list[GameEnd]) -> Progress:
        scores: list[list[tuple[float, int]]] = [[] for _ in self.learners]
        for end in sorted(ends):  # the order in which they were received depends on timing
            scores[end.seed].append((end.score, end.length))
        return Progress(1, metrics, scores, [len(each) for each in scores])

    def save(self, state: HostState) -> dict[str, np.ndarray]:
        """All arrays, by field and seed, and the state of every game."""
        arrays = named_arrays(self._listed(state))
        for i, data in enumerate(self.workers.save()):
            arrays[f"{_GAME}{i:05d}"] = np.frombuffer(data, np.uint8)
        return arrays

    def restore(self, state: HostState, arrays: Mapping[str, np.ndarray]) -> HostState:
        """The state that `save` was given; the games continue from theirs."""
        filled: Any = fill(self._listed(state), arrays)
        self.workers.restore([arrays[name].tobytes() for name in sorted(arrays) if name.startswith(_GAME)])
        return HostState(*(self.seeds.stack(each) for each in filled))

    def _listed(self, state: HostState) -> HostState:
        lists: list[Any] = [self.seeds.unstack(each) for each in list[Any](state)]
        return HostState(*lists)

    def close(self) -> None:
        """End the worker processes."""
        self.workers.close()

    def _play(self, group: int, segment: Segment, current: TimeSteps, actor: Any, noise: PerSeed[Array]) -> None:
        """Choose actions for a group and let its games step."""
        frame, first, reward = self._to_device(segment, current)
        seeds, _ = self._shape
        # One small array reaches the device sooner than several.
        parts = (np.full((seeds, 1), segment.played), first, *[reward] * self._has_memory)
        facts = np.concatenate(parts, axis=1, dtype=np.float32)
        action, segment.carried = self._act[group](actor, segment.carried, frame, facts, noise)
        segment.actions.append(action)
        self.workers.send(self.seeds.to_host(action).reshape(-1), group)

    def _to_device(self, segment: Segment, current: TimeSteps) -> tuple[PerSeed[Array], np.ndarray, np.ndarray]:
        """Bring the newest frames to the device, once; the workers overwrite their copy."""
        frame = self.seeds.to_device(current.observation.reshape(*self._shape, *self.spec.frame_shape).copy())
        first = current.first.reshape(self._shape).copy()
        reward = self.rewards(current.reward.reshape(self._shape).copy())
        segment.frames.append(frame)
        segment.firsts.append(first)
        segment.rewards.append(reward)
        return frame, first, reward

    def _record(self, segment: Segment, current: TimeSteps, ends: list[GameEnd]) -> None:
        step = segment.played - 1
        segment.terminals.append(current.terminal.reshape(self._shape).copy())
        for i in np.flatnonzero(current.game_over):
            score, length = float(current.game_return[i]), int(current.game_length[i])
            ends.append(GameEnd(int(i) // self._shape[1], step, score, length))

    def _collected(self, segments: list[Segment]) -> Iterator[PerSeed[Any]]:
        """What acting carries on, frames, actions, first flags, rewards and terminals of all groups."""
        yield self.seeds.zip([segment.carried for segment in segments])
        for name in ("frames", "actions"):
            yield self.seeds.zip([self.seeds.zip(getattr(segment, name)) for segment in segments])
        for name in ("firsts", "rewards", "terminals"):
            across = np.concatenate([np.stack(getattr(segment, name), 1) for segment in segments], axis=-1)
            yield self.seeds.to_device(across)

    def _actor_arrays(self, agent: PerSeed[Agent]) -> PerSeed[tuple[Array, ...]]:
        """The arrays that choosing actions needs."""
        if isinstance(agent, Agent):
            return tuple(jax.tree.leaves(actor_of(agent)))
        return [tuple(jax.tree.leaves(actor_of(each))) for each in agent]

    def _begin_one(self, agent: Agent) -> Carried:
        stack = jnp.zeros((self.actors, *self.spec.frame_shape, self.spec.stack - 1), self.spec.observation_dtype)
        past = Past.new(agent.modules[REPRESENTATION].initial_memory(self.actors), self.actors)
        return Carried(stack, past.memory, past.last_action)

    def _open_one(
        self, carried: tuple[Any, ...], key: Key[Array, ""]
    ) -> tuple[tuple[Carried, ...], Float[Array, "T B actions"], Key[Array, ""], Key[Array, ""]]:
        """What each group carries; Gumbel noise for all steps; the keys of the update and of the next segment.

        Noise is drawn for all actors of the seed, so that it does not depend on how they are grouped.
        """
        keys = jax.random.split(key, self.steps + 2)
        shape = (self.actors, len(self.spec.actions))
        noise = jax.vmap(lambda key: jax.random.gumbel(key, shape))(keys[:-2])
        size = self._shape[1]
        by_group = [jax.tree.map(lambda x, i=i: x[i : i + size], carried) for i in range(0, self.actors, size)]
        return tuple(Carried(*each) for each in by_group), noise, keys[-2], keys[-1]

    def _act_one(
        self,
        group: int,
        actor: tuple[Array, ...],
        carried: Carried,
        frame: Shaped[Array, "b *frame"],
        facts: Float[Array, " n"],
        noise: Float[Array, "T B actions"],
    ) -> tuple[Int[Array, " b"], Carried]:
        """Actions of a group for one step. `facts`: the step; for each game whether its episode begins; last rewards.

        This is called for every step: plain arrays, and few of them, are dispatched sooner than modules.
        """
        modules = jax.tree.unflatten(self._actor_structure, actor).modules
        size = self._shape[1]
        time, first = facts[0].astype(jnp.int32), facts[1 : size + 1] > 0
        observation = self._observe(carried.stack, frame, first)
        past = Past(carried.memory, carried.last_action, facts[size + 1 :])
        memory, states = modules[REPRESENTATION].step(past.memory, past.percept(observation, first))
        logits, _ = modules[MAIN](states)
        action = jnp.argmax(logits + noise[time, group * size : (group + 1) * size], axis=-1)
        stack = observation[..., 1:] if self.spec.is_stacked else carried.stack
        return action, Carried(stack, memory, action if self._has_memory else None)

    def _observe(self, stack: Array, frame: Array, first: Array) -> Shaped[Array, "B *observation"]:
        """What the agent sees: the newest frame after those before it, of the same episode."""
        if not self.spec.is_stacked:
            return frame
        kept = jnp.where(first[:, None, None, None], jnp.zeros_like(stack), stack)
        return jnp.concatenate([kept, frame[..., None]], axis=-1)

    def _update_one(
        self,
        agent: Agent,
        carried: tuple[Any, ...],
        following: tuple[Carried, ...],
        frames: tuple[tuple[Shaped[Array, "b *frame"], ...], ...],
        actions: tuple[tuple[Int[Array, " b"], ...], ...],
        first: Bool[Array, "Tp1 B"],
        reward: Float[Array, "Tp1 B"],
        terminal: Bool[Array, "T B"],
        key: Key[Array, ""],
    ) -> tuple[Any, ...]:
        """The next agent and the metrics, and what all groups carry on."""
        stack, memory, last_action = carried
        observation = self._observe_all(stack, [jnp.concatenate(step) for step in zip(*frames, strict=True)], first)
        action = jnp.concatenate([jnp.stack(group) for group in actions], axis=1)
        past = Past(memory, last_action, reward[0]) if self._has_memory else Past()
        trajectory = Trajectory(observation, action, reward[1:], terminal, first, past)
        joined = jax.tree.map(lambda *groups: jnp.concatenate(groups), *following)
        return *self.learners[0].update(agent, trajectory, key), *joined

    def _observe_all(self, stack: Array, frames: Sequence[Array], first: Array) -> Shaped[Array, "Tp1 B *observation"]:
        """What the agent saw at every step."""
        seen: list[Array] = []
        for frame, is_first in zip(frames, first, strict=True):
            seen.append(self._observe(stack, frame, is_first))
            stack = seen[-1][..., 1:] if self.spec.is_stacked else stack
        return jnp.stack(seen)
