"""The host loop: environments step in worker processes, the device acts and updates.

Several seeds share the process: each has its own parameters, keys and environments, and is the same run that it would
be alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.agents import REPRESENTATION, Agent, Learner, World
from rgvf.agents.build import MAIN
from rgvf.auxiliary import Metrics
from rgvf.environments.host import HostSpec
from rgvf.environments.workers import Workers
from rgvf.training.packs import Pack, across_seeds, by_seed, pack, pack_array, unpack_array
from rgvf.trajectory import Trajectory


class HostState(NamedTuple):
    """All that a run carries from one update to the next, but the environments themselves; a pack of seeds each."""

    agent: Pack[Agent]
    stack: Pack[Shaped[Array, "B *observation stack"]]
    """The observations before the newest, as the agent is shown them: zero before the episode began."""
    key: Pack[Key[Array, ""]]


class GameEnd(NamedTuple):
    """A whole game came to its end."""

    seed: int
    """Which of the seeds, counted from 0."""
    step: int
    """In which step of the segment."""
    score: float
    """Unclipped return."""
    length: int
    """In steps of the agent."""


def world_of(spec: HostSpec) -> World:
    """What the agent is shown: a stack of images becomes the channels of one."""
    shape = spec.observation_shape
    if len(shape) == 2:
        return World((*shape, spec.stack), spec.actions, stacked=spec.stack > 1)
    if spec.stack > 1:
        raise ValueError(f"only images without channels can be stacked, not observations of shape {shape}")
    return World(shape, spec.actions)


class HostLoop:
    """Training in environments that are not part of the compiled program."""

    def __init__(
        self, workers: Workers, learners: Sequence[Learner], actors: int, steps: int, clip_rewards: float
    ) -> None:
        self.workers = workers
        self.learners = learners
        self.actors = actors
        self.steps = steps
        self.spec = workers.spec
        self._stacks = len(self.spec.observation_shape) == 2
        self._clip = clip_rewards
        self._act = across_seeds(self._act_one)
        self._update = across_seeds(self._update_one, consumes_first=True)

    @property
    def frames_per_update(self) -> int:
        """Of each seed."""
        return self.actors * self.steps * self.spec.frames_per_step

    def start(self, seeds: Sequence[int]) -> HostState:
        """New agents in new environments."""
        keys = [jax.random.key(seed) for seed in seeds]
        agents = [each.init(jax.random.fold_in(key, 0)) for each, key in zip(self.learners, keys, strict=True)]
        depth = self.spec.stack - 1 if self._stacks else 0
        stack = jnp.zeros((self.actors, *self.spec.observation_shape, depth), self.spec.observation_dtype)
        self.workers.reset()
        return HostState(pack(agents), pack([stack] * len(keys)), pack([jax.random.fold_in(key, 1) for key in keys]))

    def advance(self, state: HostState) -> tuple[HostState, Pack[Metrics], list[GameEnd]]:
        """One segment of experience and the update that learns from it."""
        shape = (len(self.learners), self.actors)
        stack, key = state.stack, state.key
        frames: list[Pack[Array]] = []
        firsts: list[np.ndarray] = []
        actions: list[Pack[Array]] = []
        rewards = np.empty((self.steps, *shape), np.float32)
        terminals = np.empty((self.steps, *shape), bool)
        ends: list[GameEnd] = []
        now = self.workers.current()
        for t in range(self.steps):
            frame, first = self._to_device(now.observation), now.first.reshape(shape).copy()
            action, stack, key = self._act(state.agent, stack, frame, pack_array(first), key)
            self.workers.send(unpack_array(action).reshape(-1))
            frames.append(frame)
            firsts.append(first)
            actions.append(action)
            now = self.workers.receive()
            rewards[t] = now.reward.reshape(shape)
            terminals[t] = now.terminal.reshape(shape)
            for i in np.flatnonzero(now.game_over):
                score, length = float(now.game_return[i]), int(now.game_length[i])
                ends.append(GameEnd(int(i) // self.actors, t, score, length))
        frames.append(self._to_device(now.observation))
        firsts.append(now.first.reshape(shape).copy())
        if self._clip:
            rewards = np.clip(rewards, -self._clip, self._clip)
        rest = (pack_array(np.moveaxis(x, 1, 0)) for x in (np.stack(firsts), rewards, terminals))
        agent, key, metrics = self._update(state.agent, state.stack, by_seed(frames), by_seed(actions), *rest, key)
        return HostState(agent, stack, key), metrics, ends

    def _to_device(self, observation: np.ndarray) -> Pack[Array]:
        # A copy of our own: the workers write into theirs while the device may still read.
        mine = observation.reshape(len(self.learners), self.actors, *self.spec.observation_shape).copy()
        return pack_array(mine)

    def _act_one(
        self,
        agent: Agent,
        stack: Shaped[Array, "B *observation stack"],
        frame: Shaped[Array, "B *observation"],
        first: Bool[Array, " B"],
        key: Key[Array, ""],
    ) -> tuple[Int[Array, " B"], Shaped[Array, "B *observation stack"], Key[Array, ""]]:
        shown = self._show(stack, frame, first)
        logits, _ = agent.modules[MAIN](agent.modules[REPRESENTATION].step(shown))
        action_key, key = jax.random.split(key)
        stack = shown[..., 1:] if self._stacks else stack
        return jax.random.categorical(action_key, logits), stack, key

    def _show(self, stack: Array, frame: Array, first: Array) -> Shaped[Array, "B *observation"]:
        """What the agent sees: the newest observation after those before it, of the same episode."""
        if not self._stacks:
            return frame
        kept = jnp.where(first[:, None, None, None], jnp.zeros_like(stack), stack)
        return jnp.concatenate([kept, frame[..., None]], axis=-1)

    def _update_one(
        self,
        agent: Agent,
        stack: Shaped[Array, "B *observation stack"],
        frames: tuple[Shaped[Array, "B *observation"], ...],
        actions: tuple[Int[Array, " B"], ...],
        first: Bool[Array, "T+1 B"],
        reward: Float[Array, "T B"],
        terminal: Bool[Array, "T B"],
        key: Key[Array, ""],
    ) -> tuple[Agent, Key[Array, ""], Metrics]:
        shown: list[Array] = []
        for t, frame in enumerate(frames):
            shown.append(self._show(stack, frame, first[t]))
            stack = shown[-1][..., 1:] if self._stacks else stack
        trajectory = Trajectory(jnp.stack(shown), jnp.stack(actions), reward, terminal, first)
        update_key, key = jax.random.split(key)
        agent, metrics = self.learners[0].update(agent, trajectory, update_key)
        return agent, key, metrics
