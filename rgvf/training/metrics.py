"""What a run reports on its way: scores of whole games and means of the losses, seed by seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rgvf.auxiliary import Metrics
from rgvf.training.host import GameEnd
from rgvf.training.packs import Pack, unpack_array

RECENT = 100
"""Games that the reported return is the mean of."""


class RunningMetrics:
    """Means since the last report, and the last games of each seed. All of it goes into checkpoints."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = seeds
        self._recent: list[deque[float]] = [deque(maxlen=RECENT) for _ in seeds]
        self._games = [0 for _ in seeds]
        self._sums: dict[str, np.ndarray] = {}
        self._count = 0
        self._pending: list[Mapping[str, Any] | Sequence[Mapping[str, Any]]] = []

    def add(self, losses: Pack[Metrics], ends: Sequence[GameEnd]) -> None:
        """Take note of an update. Losses stay on the device until they are asked for."""
        self._pending.append(losses)
        for end in ends:
            self._recent[end.seed].append(end.score)
            self._games[end.seed] += 1

    def _settle(self) -> None:
        for losses in self._pending:
            by_name = losses if isinstance(losses, Mapping) else _transposed(losses)
            for name, values in by_name.items():
                told = unpack_array(values).astype(np.float64)
                self._sums[name] = self._sums[name] + told if name in self._sums else told
            self._count += 1
        self._pending = []

    def report(self) -> list[dict[str, Any]]:
        """A line for each seed; the means start anew."""
        self._settle()
        lines = []
        for i, seed in enumerate(self.seeds):
            recent = self._recent[i]
            line: dict[str, Any] = {"seed": seed, "return": float(np.mean(recent)) if recent else None}
            line["games"] = self._games[i]
            lines.append(line | {name: float(total[i]) / self._count for name, total in self._sums.items()})
        self._sums, self._count = {}, 0
        return lines

    def to_json(self) -> dict[str, Any]:
        self._settle()
        return {
            "recent": [list(recent) for recent in self._recent],
            "games": self._games,
            "sums": {name: total.tolist() for name, total in self._sums.items()},
            "count": self._count,
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        self._recent = [deque(recent, maxlen=RECENT) for recent in data["recent"]]
        self._games = list(data["games"])
        self._sums = {name: np.array(total) for name, total in data["sums"].items()}
        self._count, self._pending = data["count"], []


def _transposed(losses: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [each[name] for each in losses] for name in losses[0]}
