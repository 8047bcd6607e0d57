"""What a run needs of a loop, wherever its environments run, and how a loop starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Array, Float

from rgvf.agents import Learner
from rgvf.loops.seeds import PerSeed, SeedAxis, on_host
from rgvf.seeding import Purpose, key_for

MetricsOfUpdates: TypeAlias = dict[str, Float[Array, "..."]]
"""Metrics by name: a number, or where a call makes several updates one for each, in order; there may be unused places
behind them."""


class Progress(NamedTuple):
    """What some updates gave."""

    updates: int
    metrics: PerSeed[MetricsOfUpdates]
    """May still be on the device."""
    scores: list[list[tuple[float, int]]]
    """For each seed, the unclipped return and the steps of each game that ended, in order; of many only the last
    `MAX_SCORES`."""
    games: list[int]
    """For each seed, how many games ended."""


@runtime_checkable
class Loop(Protocol):
    """Experience and updates for several seeds."""

    seeds: SeedAxis
    learners: Sequence[Learner]
    """One for each seed."""

    @property
    def frames_per_update(self) -> int:
        """Of each seed."""
        ...

    def begin(self, agents: PerSeed[Any], keys: PerSeed[Any]) -> Any:
        """Put agents into new environments: the state of the loop."""
        ...

    def advance(self, state: Any, updates: int) -> tuple[Any, Progress]:
        """At least one update, and at most so many."""
        ...

    def save(self, state: Any) -> dict[str, np.ndarray]:
        """Everything that the future depends on. The agent of seed i stands under `.agent[i]`."""
        ...

    def restore(self, state: Any, arrays: Mapping[str, np.ndarray]) -> Any:
        """The state that `save` was given. ValueError where the arrays do not belong to such a loop."""
        ...

    def close(self) -> None:
        """Release what the loop holds."""
        ...


def start(loop: Loop) -> Any:
    """New agents in new environments, one for each seed: the initial state of the loop."""
    seeds = loop.seeds
    pairs = list(zip(loop.learners, seeds.seeds, strict=True))
    with on_host():
        agents = [learner.init(key_for(seed, Purpose.AGENT)) for learner, seed in pairs]
        keys = [key_for(seed, Purpose.ACTORS) for _, seed in pairs]
    return loop.begin(seeds.stack(agents), seeds.stack(keys))
