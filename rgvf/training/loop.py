"""What a run needs of a loop, whether games live inside the compiled program or in worker processes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from rgvf.agents import World
from rgvf.auxiliary import Metrics
from rgvf.training.packs import Pack

RECENT = 100
"""Games that the reported return is the mean of."""


class Progress(NamedTuple):
    """What some updates brought."""

    updates: int
    losses: Pack[Metrics]
    """By name: a number for each update, in order, and perhaps more after them; may still be on the device."""
    scores: list[list[float]]
    """For each seed, the unclipped returns of the whole games that ended, in order; of many only the last `RECENT`."""
    games: list[int]
    """For each seed, how many games ended."""


class Loop(Protocol):
    """Experience and updates, seed by seed side by side."""

    world: World

    @property
    def frames_per_update(self) -> int:
        """Of each seed."""
        ...

    def start(self, seeds: Sequence[int]) -> Any:
        """New agents in new environments: the state of the loop."""
        ...

    def advance(self, state: Any, updates: int) -> tuple[Any, Progress]:
        """At least one update, and at most so many."""
        ...

    def save(self, state: Any) -> dict[str, np.ndarray]:
        """Everything that the future depends on. The agent of seed i stands under `.agent[i]`."""
        ...

    def restore(self, state: Any, arrays: Mapping[str, np.ndarray]) -> Any:
        """The state that `save` was given. CheckpointError or ValueError where the arrays are not of such a loop."""
        ...

    def close(self) -> None: ...
