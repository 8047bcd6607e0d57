"""What a run reports on its way: scores of whole games and means of the losses, seed by seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rgvf.auxiliary import Metrics
from rgvf.training.loop import RECENT, Progress
from rgvf.training.packs import Pack


class RunningMetrics:
    """Means since the last report, and the last games of each seed. All of it goes into checkpoints."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = seeds
        self._recent: list[deque[float]] = [deque(maxlen=RECENT) for _ in seeds]
        self._games = [0 for _ in seeds]
        self._sums: dict[str, np.ndarray] = {}
        self._count = 0
        self._pending: list[Progress] = []

    def add(self, progress: Progress) -> None:
        """Take note of some updates. Losses stay on the device until they are asked for."""
        self._pending.append(progress)
        for i, scores in enumerate(progress.scores):
            self._recent[i].extend(scores)
            self._games[i] += progress.games[i]

    def _settle(self) -> None:
        for progress in self._pending:
            for name, told in _by_name(progress.losses).items():
                each = told.reshape(len(self.seeds), -1).astype(np.float64)[:, : progress.updates]
                for update in each.T:  # one by one: what they add up to must not depend on how they came
                    self._sums[name] = self._sums[name] + update if name in self._sums else update
            self._count += progress.updates
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


def _by_name(losses: Pack[Metrics]) -> dict[str, np.ndarray]:
    """Arrays with the seed as their first axis."""
    if isinstance(losses, Mapping):
        return {name: np.asarray(told) for name, told in losses.items()}
    return {name: np.stack([np.asarray(each[name]) for each in losses]) for name in losses[0]}
