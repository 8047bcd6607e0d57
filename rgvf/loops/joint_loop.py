"""The joint loop: several runs in one compiled program.

A few agents leave most of a GPU idle. So the environments of all runs are stepped together, and agents that learn by
the same program are updated together, padded to one size if need be. Each agent learns what it would learn alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from rgvf.agents import Agent, actor_of
from rgvf.loops.device_loop import MAX_UPDATES, DeviceLoop, DeviceState, empty_metrics, write_metrics
from rgvf.loops.loop import MetricsOfUpdates, Progress
from rgvf.loops.padding import common_sizes, pad_agent, unpad_agent
from rgvf.loops.seeds import StackedSeeds, over_devices

States = tuple[DeviceState, ...]


class JointLoop:
    """Device loops in one environment, with the same actors, steps, rewards to learn from, and policy.

    Args:
        loops: one for each run.
        programs: for each loop, what its agents must share with others to be updated together.
    """

    def __init__(self, loops: Sequence[DeviceLoop], programs: Sequence[Hashable]) -> None:
        if len({(loop.actors, loop.steps, loop.rewards, loop.policy) for loop in loops}) > 1:
            raise ValueError("loops are joined only with the same actors, steps, rewards and policy")
        self.loops, self.programs = loops, programs
        self._stacked = all(isinstance(loop.seeds, StackedSeeds) for loop in loops)
        self._advance = over_devices(self._updates, donate_first=True, shared=1)

    def advance(self, states: Sequence[Any], updates: int) -> list[tuple[Any, Progress]]:
        """At least one update of every run, the same number for all, and at most so many."""
        if not self._stacked or len(self.loops) == 1:  # a CPU is busy with one agent
            return [loop.advance(state, updates) for loop, state in zip(self.loops, states, strict=True)]
        updates = min(updates, MAX_UPDATES)
        before = [loop.scores(state) for loop, state in zip(self.loops, states, strict=True)]
        states, metrics = self._advance(tuple(states), jnp.int32(updates))
        together = zip(self.loops, before, states, metrics, strict=True)
        return [(state, loop.progress(scores, state, logged, updates)) for loop, scores, state, logged in together]

    def _updates(self, states: States, updates: Int[Array, ""]) -> tuple[States, tuple[MetricsOfUpdates, ...]]:
        padded = self._pad(states)
        keys = [(program, _form(state)) for program, state in zip(self.programs, padded, strict=True)]
        members, merged = _merge(keys, padded)
        update = [jax.vmap(self.loops[group[0]].update) for group in members]

        def one_update(i: Any, carry: tuple[States, Any]) -> tuple[States, Any]:
            states, metrics = self._one_update(carry[0], update)
            return states, write_metrics(carry[1], i, metrics)

        _, shapes = jax.eval_shape(one_update, 0, (tuple(merged), None))
        initial = tuple(merged), empty_metrics(shapes)
        after, metrics = jax.lax.fori_loop(0, updates, one_update, initial)
        by_agent = jax.tree.map(lambda by_update: jnp.swapaxes(by_update, 0, 1), metrics)
        separate = _separate(members, after, states)
        unpadded = [
            each._replace(agent=jax.vmap(unpad_agent)(each.agent, original.agent))
            for each, original in zip(separate, states, strict=True)
        ]
        return tuple(unpadded), tuple(_separate(members, by_agent, states))

    def _pad(self, states: States) -> States:
        """Agents of one program get question networks of one size."""
        padded = list(states)
        for program in set(self.programs):
            members = [i for i, each in enumerate(self.programs) if each == program]
            sizes = common_sizes([states[i].agent for i in members])
            for i in members if sizes else ():
                pad = jax.vmap(partial(pad_agent, sizes=sizes))
                padded[i] = states[i]._replace(agent=pad(states[i].agent))
        return tuple(padded)

    def _one_update(
        self, states: States, update: Sequence[Callable[..., tuple[Agent, MetricsOfUpdates]]]
    ) -> tuple[States, tuple[MetricsOfUpdates, ...]]:
        actors = [state._replace(agent=actor_of(state.agent)) for state in states]
        members, merged = _merge([_form(actor.agent) for actor in actors], actors)
        played = [jax.vmap(self.loops[0].play)(each) for each in merged]
        after: list[DeviceState] = []
        metrics: list[MetricsOfUpdates] = []
        experience = _separate(members, played, actors)
        for state, (actor, trajectory, key), learn in zip(states, experience, update, strict=True):
            agent, logged = learn(state.agent, trajectory, key)
            after.append(actor._replace(agent=agent))
            metrics.append(logged)
        return tuple(after), tuple(metrics)


def _form(tree: Any) -> Any:
    """What arrays must have in common to be concatenated along the seed axis."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, tuple((leaf.shape[1:], leaf.dtype) for leaf in leaves)


def _merge(keys: Sequence[Any], values: Sequence[Any]) -> tuple[list[list[int]], list[Any]]:
    """Values with the same key, concatenated along their first axis; and which they were."""
    members: dict[Any, list[int]] = {}
    for i, key in enumerate(keys):
        members.setdefault(key, []).append(i)
    groups = list(members.values())
    return groups, [jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *(values[i] for i in g)) for g in groups]


def _separate(members: Sequence[Sequence[int]], merged: Sequence[Any], sizes: Sequence[Any]) -> list[Any]:
    """Undo `_merge`: each part is as long along the first axis as `sizes` has it."""
    parts: dict[int, Any] = {}
    for group, value in zip(members, merged, strict=True):
        start = 0
        for i in group:
            stop = start + jax.tree.leaves(sizes[i])[0].shape[0]
            parts[i] = jax.tree.map(lambda leaf, a=start, b=stop: leaf[a:b], value)
            start = stop
    return [parts[i] for i in range(len(parts))]
