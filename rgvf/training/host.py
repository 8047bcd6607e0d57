"""The host loop: environments step in worker processes, the device acts and updates.

Several seeds share the process: each has its own parameters, keys and environments, and is the same run that it would
be alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.agents import REPRESENTATION, Agent, Learner, acting_part
from rgvf.agents.build import MAIN
from rgvf.auxiliary import Metrics
from rgvf.environments.shared import Batch
from rgvf.environments.workers import Workers
from rgvf.training.checkpoint import fill, named_arrays
from rgvf.training.loop import Progress
from rgvf.training.packs import Pack, across_seeds, by_seed, listed, pack, pack_array, pick, unpack_array
from rgvf.training.worlds import world_of
from rgvf.trajectory import Trajectory

_ENVIRONMENT = "environment/"  # where a checkpoint has the state of each game


class HostState(NamedTuple):
    """All that a run carries from one update to the next, but the environments themselves; a pack of seeds each."""

    agent: Pack[Agent]
    stack: Pack[Shaped[Array, "B *observation stack"]]
    """The observations before the newest as the agent is shown them: zero before the episode began."""
    key: Pack[Key[Array, ""]]


class _GameEnd(NamedTuple):
    """A whole game came to its end."""

    seed: int
    """Which of the seeds, counted from 0."""
    step: int
    """In which step of the segment."""
    score: float
    """Unclipped return."""


class HostLoop:
    """Training in environments that are not part of the compiled program.

    The actors take turns in groups: while the environments of some step, the device chooses actions for another. Which
    group is ready first changes nothing in what it does.
    """

    def __init__(
        self, workers: Workers, learners: Sequence[Learner], actors: int, steps: int, clip_rewards: float
    ) -> None:
        """`workers` run the environments in the order of `environment_order`, in as many groups as `group_count`."""
        self.workers = workers
        self.learners = learners
        self.actors = actors
        self.steps = steps
        self.spec = workers.spec
        self.world = world_of(workers.spec)
        self.groups = len(workers.groups)
        self._shape = (len(learners), actors // self.groups)  # seeds and environments of a group
        self._stacks = len(self.spec.observation_shape) == 2
        self._clip = clip_rewards
        self._open = across_seeds(self._open_one)
        self._act = [across_seeds(partial(self._act_one, group)) for group in range(self.groups)]
        self._update = across_seeds(self._update_one, consumes_first=True)

    @property
    def frames_per_update(self) -> int:
        """Of each seed."""
        return self.actors * self.steps * self.spec.frames_per_step

    def start(self, seeds: Sequence[int]) -> HostState:
        """New agents in new environments."""
        keys = [jax.random.key(seed) for seed in seeds]
        agents = [each.init(jax.random.fold_in(key, 0)) for each, key in zip(self.learners, keys, strict=True)]
        self._actor = jax.tree.structure(acting_part(agents[0]))
        depth = self.spec.stack - 1 if self._stacks else 0
        shape = (self.actors, *self.spec.observation_shape, depth)
        stacks = [jnp.zeros(shape, self.spec.observation_dtype) for _ in keys]
        self.workers.reset()
        return HostState(pack(agents), pack(stacks), pack([jax.random.fold_in(key, 1) for key in keys]))

    def advance(self, state: HostState, updates: int = 1) -> tuple[HostState, Progress]:
        """One segment of experience and the update that learns from it, however many `updates` may follow."""
        del updates
        segments = [_Segment() for _ in range(self.groups)]
        stacks, chance, update_key, next_key = self._open(state.stack, state.key)
        actor = _acting_arrays(state.agent)
        ends: list[_GameEnd] = []
        moments = self.workers.current()
        for group, part in enumerate(self.workers.groups):
            segments[group].stack = pick(stacks, group)
            self._play(group, segments[group], moments.part(part), actor, chance)
        for _ in range(self.groups * self.steps):
            group = self.workers.first_done()
            segment, now = segments[group], self.workers.receive(group)
            self._note(segment, now, ends)
            if segment.played < self.steps:
                self._play(group, segment, now, actor, chance)
            else:
                self._show_device(segment, now)
        self.workers.prepare()
        agent, metrics, stack = self._update(state.agent, state.stack, *self._collected(segments), update_key)
        return HostState(agent, stack, next_key), self._progress(metrics, ends)

    def _progress(self, metrics: Pack[Metrics], ends: list[_GameEnd]) -> Progress:
        scores: list[list[float]] = [[] for _ in self.learners]
        for end in sorted(ends):  # in which order they were told depends on timing
            scores[end.seed].append(end.score)
        return Progress(1, metrics, scores, [len(each) for each in scores])

    def save(self, state: HostState) -> dict[str, np.ndarray]:
        arrays = named_arrays(self._listed(state))
        for i, data in enumerate(self.workers.save()):
            arrays[f"{_ENVIRONMENT}{i:05d}"] = np.frombuffer(data, np.uint8)
        return arrays

    def restore(self, state: HostState, arrays: Mapping[str, np.ndarray]) -> HostState:
        filled: Any = fill(self._listed(state), arrays)
        self.workers.restore([arrays[name].tobytes() for name in sorted(arrays) if name.startswith(_ENVIRONMENT)])
        return HostState(*(pack(each) for each in filled))

    def _listed(self, state: HostState) -> HostState:
        return HostState(*(listed(each, len(self.learners)) for each in state))

    def close(self) -> None:
        self.workers.close()

    def _play(self, group: int, segment: _Segment, now: Batch, actor: Any, chance: Pack[Array]) -> None:
        """Choose actions for a group and let its environments step."""
        frame, first = self._show_device(segment, now)
        seeds, size = self._shape
        moment = np.empty((seeds, size + 1), np.int32)  # one small array is sooner on the device than two
        moment[:, 0], moment[:, 1:] = segment.played, first
        action, segment.stack = self._act[group](actor, segment.stack, frame, moment, chance)
        segment.actions.append(action)
        self.workers.send(unpack_array(action).reshape(-1), group)

    def _show_device(self, segment: _Segment, now: Batch) -> tuple[Pack[Array], np.ndarray]:
        """Bring what the environments show to the device, once; the workers overwrite their copy."""
        frame = pack_array(now.observation.reshape(*self._shape, *self.spec.observation_shape).copy())
        first = now.first.reshape(self._shape).copy()
        segment.frames.append(frame)
        segment.firsts.append(first)
        return frame, first

    def _note(self, segment: _Segment, now: Batch, ends: list[_GameEnd]) -> None:
        step = segment.played - 1
        reward = now.reward.reshape(self._shape).copy()
        segment.rewards.append(np.clip(reward, -self._clip, self._clip) if self._clip else reward)
        segment.terminals.append(now.terminal.reshape(self._shape).copy())
        for i in np.flatnonzero(now.game_over):
            ends.append(_GameEnd(int(i) // self._shape[1], step, float(now.game_return[i])))

    def _collected(self, segments: list[_Segment]) -> Iterator[Pack[Any]]:
        """Frames, actions, first flags, rewards and terminals of all groups, as packs."""
        for name in ("frames", "actions"):
            yield by_seed([by_seed(getattr(segment, name)) for segment in segments])
        for name in ("firsts", "rewards", "terminals"):
            across = np.concatenate([np.stack(getattr(segment, name), 1) for segment in segments], axis=-1)
            yield pack_array(across)

    def _open_one(
        self, stack: Shaped[Array, "B *observation stack"], key: Key[Array, ""]
    ) -> tuple[tuple[Array, ...], Float[Array, "T B actions"], Key[Array, ""], Key[Array, ""]]:
        """The stacks of each group; chance for all steps; a key for the update and one for what follows.

        Chance is drawn for all actors of the seed, so that it does not depend on how they are grouped.
        """
        keys = jax.random.split(key, self.steps + 2)
        shape = (self.actors, len(self.spec.actions))
        chance = jax.vmap(lambda key: jax.random.gumbel(key, shape))(keys[:-2])
        return tuple(jnp.split(stack, self.groups)), chance, keys[-2], keys[-1]

    def _act_one(
        self,
        group: int,
        actor: tuple[Array, ...],
        stack: Shaped[Array, "b *observation stack"],
        frame: Shaped[Array, "b *observation"],
        moment: Int[Array, " 1+b"],
        chance: Float[Array, "T B actions"],
    ) -> tuple[Int[Array, " b"], Shaped[Array, "b *observation stack"]]:
        """One step. `moment` holds the step of the segment, and for each environment whether its episode begins.

        This is called for every step: plain arrays, and few of them, are sooner under way than modules.
        """
        modules = jax.tree.unflatten(self._actor, actor).modules
        time, first = moment[0], moment[1:] > 0
        shown = self._show(stack, frame, first)
        logits, _ = modules[MAIN](modules[REPRESENTATION].step(shown))
        size = self._shape[1]
        noise = chance[time, group * size : (group + 1) * size]
        return jnp.argmax(logits + noise, axis=-1), shown[..., 1:] if self._stacks else stack

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
        frames: tuple[tuple[Shaped[Array, "b *observation"], ...], ...],
        actions: tuple[tuple[Int[Array, " b"], ...], ...],
        first: Bool[Array, "T+1 B"],
        reward: Float[Array, "T B"],
        terminal: Bool[Array, "T B"],
        key: Key[Array, ""],
    ) -> tuple[Agent, Metrics, Shaped[Array, "B *observation stack"]]:
        shown, stack = self._unrolled(stack, [jnp.concatenate(step) for step in zip(*frames, strict=True)], first)
        action = jnp.concatenate([jnp.stack(group) for group in actions], axis=1)
        trajectory = Trajectory(shown, action, reward, terminal, first)
        return *self.learners[0].update(agent, trajectory, key), stack

    def _unrolled(self, stack: Array, frames: Sequence[Array], first: Array) -> tuple[Array, Array]:
        """What the agent was shown at every step, [T+1, B, *observation], and the stack before the last."""
        shown: list[Array] = []
        before = stack
        for frame, is_first in zip(frames, first, strict=True):
            before = stack
            shown.append(self._show(stack, frame, is_first))
            stack = shown[-1][..., 1:] if self._stacks else stack
        return jnp.stack(shown), before


@dataclass
class _Segment:
    """What a group of environments went through, step by step."""

    stack: Pack[Array] | None = None
    """As the next step begins."""
    frames: list[Pack[Array]] = field(default_factory=list)
    firsts: list[np.ndarray] = field(default_factory=list)
    actions: list[Pack[Array]] = field(default_factory=list)
    rewards: list[np.ndarray] = field(default_factory=list)
    terminals: list[np.ndarray] = field(default_factory=list)

    @property
    def played(self) -> int:
        """Steps that actions were chosen for."""
        return len(self.actions)


def _acting_arrays(agent: Pack[Agent]) -> Pack[tuple[Array, ...]]:
    """The arrays that are needed for choosing actions."""
    if isinstance(agent, Agent):
        return tuple(jax.tree.leaves(acting_part(agent)))
    return [tuple(jax.tree.leaves(acting_part(each))) for each in agent]


def group_count(actors: int) -> int:
    return 2 if actors % 2 == 0 else 1


def environment_order(values: np.ndarray, groups: int) -> np.ndarray:
    """Values by [seed, actor] in the order of the environments: group by group, seed by seed."""
    seeds, actors = values.shape
    return values.reshape(seeds, groups, actors // groups).swapaxes(0, 1).reshape(-1)
