"""What the host loop keeps of its games: what acting carries on, a segment of experience, and the order of games."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, Int, Shaped

from rgvf.loops.seeds import PerSeed
from rgvf.trajectory import Memory


class Carried(NamedTuple):
    """What acting carries from step to step, of some games of one seed: as in `HostState`."""

    stack: Shaped[Array, "b *frame stack"]
    memory: Memory
    last_action: Int[Array, " b"] | None


class GameEnd(NamedTuple):
    """A whole game ended."""

    seed: int
    """Index of the seed."""
    step: int
    """Step of the segment."""
    score: float
    """Unclipped return."""
    length: int
    """Steps of the agent."""


@dataclass
class Segment:
    """The experience of a group of games, step by step."""

    carried: PerSeed[Carried] | None = None
    """To the next step."""
    frames: list[PerSeed[Array]] = field(default_factory=list)
    firsts: list[np.ndarray] = field(default_factory=list)
    actions: list[PerSeed[Array]] = field(default_factory=list)
    rewards: list[np.ndarray] = field(default_factory=list)
    terminals: list[np.ndarray] = field(default_factory=list)

    @property
    def played(self) -> int:
        """Steps for which actions were chosen."""
        return len(self.actions)


def group_count(actors: int) -> int:
    """Into how many groups the games of a seed are divided."""
    return 2 if actors % 2 == 0 else 1


def game_order(values: np.ndarray, groups: int) -> np.ndarray:
    """Values by [seed, actor] in the order of the games: group by group, seed by seed."""
    seeds, actors = values.shape
    return values.reshape(seeds, groups, actors // groups).swapaxes(0, 1).reshape(-1)
