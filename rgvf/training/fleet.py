"""Several runs in one compiled program.

A few agents leave most of a GPU idle: a step of their games takes about as long as one of ten times as many. So the
games of all runs are stepped together, and agents that learn by the same program are updated together. Each agent stays
what it is alone.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

from rgvf.agents import Agent, acting_part
from rgvf.auxiliary import Metrics
from rgvf.training.compiled import CHUNK, CompiledLoop
from rgvf.training.device import Training, repeat_noting
from rgvf.training.loop import Progress
from rgvf.training.packs import seeds_are_listed, spread


class Fleet:
    """Loops in one environment, with the same actors, steps and clipping of rewards.

    Args:
        programs: for each loop, what its agents have in common with those of others that can learn with them.
    """

    def __init__(self, loops: Sequence[CompiledLoop], programs: Sequence[Hashable]) -> None:
        self.loops, self.programs = loops, programs
        self._advance = spread(self._many_updates, consumes_first=True, shared=1)

    def advance(self, states: Sequence[Any], updates: int) -> list[tuple[Any, Progress]]:
        """At least one update of every run, as many for all, and at most so many."""
        if seeds_are_listed():  # a CPU is busy with one agent
            return [loop.advance(state, updates) for loop, state in zip(self.loops, states, strict=True)]
        updates = min(updates, CHUNK)
        before = [loop.tallies(state) for loop, state in zip(self.loops, states, strict=True)]
        states, losses = self._advance(tuple(states), jnp.int32(updates))
        together = zip(self.loops, before, states, losses, strict=True)
        return [(state, loop.progress(tallies, state, told, updates)) for loop, tallies, state, told in together]

    def _many_updates(
        self, trainings: tuple[Training, ...], updates: Int[Array, ""]
    ) -> tuple[tuple[Training, ...], tuple[Metrics, ...]]:
        keys = [(program, _form(training)) for program, training in zip(self.programs, trainings, strict=True)]
        programs, merged = _merge(keys, trainings)
        learn = [jax.vmap(self.loops[members[0]].loop.update) for members in programs]
        merged, metrics = repeat_noting(lambda each: self._one_update(each, learn), tuple(merged), updates, CHUNK)
        told = jax.tree.map(lambda by_update: jnp.swapaxes(by_update, 0, 1), metrics)  # by agent first
        return tuple(_separate(programs, merged, trainings)), tuple(_separate(programs, told, trainings))

    def _one_update(
        self, trainings: tuple[Training, ...], learn: Sequence[Callable[..., tuple[Agent, Metrics]]]
    ) -> tuple[tuple[Training, ...], tuple[Metrics, ...]]:
        players = [training._replace(agent=acting_part(training.agent)) for training in trainings]
        alike, playing = _merge([_form(player.agent) for player in players], players)
        played = [jax.vmap(self.loops[0].loop.play)(each) for each in playing]
        after: list[Training] = []
        metrics: list[Metrics] = []
        for training, (player, *experience), update in zip(
            trainings, _separate(alike, played, players), learn, strict=True
        ):
            agent, told = update(training.agent, *experience)
            after.append(player._replace(agent=agent))
            metrics.append(told)
        return tuple(after), tuple(metrics)


def _form(tree: Any) -> Any:
    """What arrays must have in common to be laid side by side."""
    leaves, structure = jax.tree.flatten(tree)
    return structure, tuple((leaf.shape[1:], leaf.dtype) for leaf in leaves)


def _merge(keys: Sequence[Any], values: Sequence[Any]) -> tuple[list[list[int]], list[Any]]:
    """Values with the same key, side by side along their first axis; and which they were."""
    members: dict[Any, list[int]] = {}
    for i, key in enumerate(keys):
        members.setdefault(key, []).append(i)
    chosen = list(members.values())
    return chosen, [jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *(values[i] for i in c)) for c in chosen]


def _separate(members: Sequence[Sequence[int]], merged: Sequence[Any], sizes: Sequence[Any]) -> list[Any]:
    """Undo `_merge`: as many along the first axis for each as `sizes` has."""
    parts: dict[int, Any] = {}
    for chosen, value in zip(members, merged, strict=True):
        start = 0
        for i in chosen:
            stop = start + jax.tree.leaves(sizes[i])[0].shape[0]
            parts[i] = jax.tree.map(lambda leaf, a=start, b=stop: leaf[a:b], value)
            start = stop
    return [parts[i] for i in range(len(parts))]
