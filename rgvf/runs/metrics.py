"""What a run reports: scores of whole games and means of the losses, for each seed."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rgvf.loops import MAX_SCORES, MetricsOfUpdates, PerSeed, Progress
from rgvf.tasks import RELATIVE_ERROR


class RunningMetrics:
    """Means since the last report, and the last games of each seed. All of it goes into checkpoints."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = seeds
        self._recent: list[deque[float]] = [deque(maxlen=MAX_SCORES) for _ in seeds]
        self._lengths: list[deque[int]] = [deque(maxlen=MAX_SCORES) for _ in seeds]
        self._games = [0 for _ in seeds]
        self._sums: dict[str, np.ndarray] = {}
        self._count = 0
        self._without: dict[str, np.ndarray] = {}  # updates that gave no value, where there were any
        self._pending: list[Progress] = []
        self.first_bad: tuple[str, int, float] | None = None
        """Name, seed and value of the first metric that is not finite, but for those that may lack a value."""

    def add(self, progress: Progress) -> None:
        """Add some updates. Losses stay on the device until they are needed."""
        self._pending.append(progress)
        for i, scores in enumerate(progress.scores):
            self._recent[i].extend(score for score, _ in scores)
            self._lengths[i].extend(length for _, length in scores)
            self._games[i] += progress.games[i]

    def _collect(self) -> None:
        for progress in self._pending:
            by_name = _by_name(progress.metrics)
            self._check_finite(by_name, progress.updates)
            for name, values in by_name.items():
                each = values.reshape(len(self.seeds), -1).astype(np.float64)[:, : progress.updates]
                nothing = np.isnan(each)
                for update in np.where(nothing, 0.0, each).T:  # one by one: batches must not change the rounding
                    self._sums[name] = self._sums[name] + update if name in self._sums else update
                if nothing.any():
                    self._without[name] = self._without.get(name, 0) + nothing.sum(1)
            self._count += progress.updates
        self._pending = []

    def _check_finite(self, by_name: Mapping[str, np.ndarray], updates: int) -> None:
        """Remember the first metric that is not finite: of the earliest update, losses first."""
        bad: list[tuple[int, bool, int, str, int, float]] = []
        for order, (name, values) in enumerate(by_name.items()):
            each = values.reshape(len(self.seeds), -1)[:, :updates]
            is_loss = name.endswith("loss")
            is_wrong = np.isinf(each) if name.endswith(RELATIVE_ERROR) else ~np.isfinite(each)
            wrong = np.argwhere(is_wrong.T)  # by update, then by seed
            if len(wrong):
                update, seed = wrong[0].tolist()
                bad.append((update, not is_loss, order, name, self.seeds[seed], float(each[seed, update])))
        if bad and self.first_bad is None:
            self.first_bad = min(bad)[3:]

    def report(self) -> list[dict[str, Any]]:
        """A line for each seed. Means are over the updates since the last report that gave a value; None: no update."""
        self._collect()
        lines = []
        for i, seed in enumerate(self.seeds):
            recent = self._recent[i]
            line: dict[str, Any] = {"seed": seed, "return": float(np.mean(recent)) if recent else None}
            line["length"] = float(np.mean(self._lengths[i])) if recent else None
            line["games"] = self._games[i]
            lines.append(line | {name: self._mean(name, i) for name in self._sums})
        self._sums, self._count, self._without = {}, 0, {}
        return lines

    def _mean(self, name: str, seed: int) -> float | None:
        count = self._count - int(self._without[name][seed] if name in self._without else 0)
        return float(self._sums[name][seed]) / count if count else None

    def to_json(self) -> dict[str, Any]:
        """Everything, for a checkpoint."""
        self._collect()
        return {
            "recent": [list(recent) for recent in self._recent],
            "lengths": [list(lengths) for lengths in self._lengths],
            "games": self._games,
            "sums": {name: total.tolist() for name, total in self._sums.items()},
            "count": self._count,
            "without": {name: count.tolist() for name, count in self._without.items()},
        }

    def restore(self, data: Mapping[str, Any]) -> None:
        """Continue from what `to_json` gave."""
        self._recent = [deque(recent, maxlen=MAX_SCORES) for recent in data["recent"]]
        self._lengths = [deque(lengths, maxlen=MAX_SCORES) for lengths in data["lengths"]]
        self._games = list(data["games"])
        self._sums = {name: np.array(total) for name, total in data["sums"].items()}
        self._without = {name: np.array(count) for name, count in data["without"].items()}
        self._count, self._pending = data["count"], []


def _by_name(metrics: PerSeed[MetricsOfUpdates]) -> dict[str, np.ndarray]:
    """Arrays with a leading seed axis."""
    if isinstance(metrics, Mapping):
        return {name: np.asarray(values) for name, values in metrics.items()}
    return {name: np.stack([np.asarray(each[name]) for each in metrics]) for name in metrics[0]}
