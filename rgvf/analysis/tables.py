"""Tables that compare runs: means over seeds with intervals, and differences to the first."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rgvf.analysis.run_groups import RunGroup, with_metric
from rgvf.analysis.statistics import NOTHING, difference_interval, mean_interval, show, show_estimate
from rgvf.errors import UserError

FEW_SEEDS = 5
"""With fewer, a bootstrap interval is clearly too narrow."""


class Row(NamedTuple):
    """One number for each seed of a group, and how it was got."""

    label: str
    samples: np.ndarray
    frames: Sequence[int]
    how: str = ""
    """Rows are compared with the first row that was got in the same way."""


class Table(NamedTuple):
    """A table for people."""

    rows: list[tuple[str, ...]]
    """The header first."""
    notes: list[str]
    """What the numbers are, and where to be careful."""


def compare_training(groups: Sequence[RunGroup], metric: str = "return") -> Table:
    """A metric over the last tenth of training.

    Raises:
        ValueError: no run has the metric, or the runs are of different environments.
    """
    env = _one_environment(groups)
    found, notes = with_metric(groups, metric)
    rows = [Row(group.label, group.final(metric), group.frames) for group in found]
    table = _table(rows, metric, f"{env}: {metric} over the last tenth of training")
    return table._replace(notes=table.notes + notes)


def compare_evaluations(groups: Sequence[RunGroup]) -> Table:
    """Scores of whole games that `rgvf evaluate` has played, of the newest agent of each seed.

    Raises:
        ValueError: the runs are of different environments.
        UserError: no run was evaluated.
    """
    env = _one_environment(groups)
    rows, missing = [], []
    for group in groups:
        found = _evaluations(group)
        missing += [] if found else [group.label]
        rows += [Row(group.label, np.array(means), frames, how) for how, (means, frames) in found.items()]
    if not rows:
        folder = next(iter(groups[0].folders.values()))
        raise UserError(f"none of these runs was evaluated yet; rgvf evaluate {folder} plays whole games")
    table = _table(rows, "score", f"{env}: mean score of whole games")
    return table._replace(notes=table.notes + [f"Not evaluated: {', '.join(missing)}."] * bool(missing))


def _one_environment(groups: Sequence[RunGroup]) -> str:
    envs = list(dict.fromkeys(group.env for group in groups))
    if len(envs) > 1:
        raise ValueError(
            f"these runs are of different environments ({', '.join(envs)}); compare those of one environment at a time"
        )
    return envs[0]


def _table(rows: Sequence[Row], measure: str, what: str) -> Table:
    means = [abs(float(row.samples.mean())) for row in rows]
    largest = max((mean for mean in means if math.isfinite(mean)), default=0.0)
    digits = int(np.clip(2 - math.floor(math.log10(largest)), 0, 6)) if largest else 1
    games, several = any(row.how for row in rows), len({row.label for row in rows}) > 1
    header = ("agent", *(("games",) if games else ()), "seeds", "frames", f"{measure}, mean ± standard error")
    header += ("95 % interval", *((f"difference to {rows[0].label}", "95 % interval") if several else ()))
    table = [header]
    for row in rows:
        base = next(each for each in rows if each.how == row.how)
        cells = [row.label, *([row.how] if games else []), str(len(row.samples)), _span(row.frames)]
        cells += [show_estimate(row.samples, digits), _show_interval(mean_interval(row.samples), digits)]
        if several and base is not row and base.label == rows[0].label:
            difference = float(row.samples.mean() - base.samples.mean())
            cells += [("+" if difference >= 0 else "") + show(difference, digits)]
            cells += [_show_interval(difference_interval(base.samples, row.samples), digits)]
        elif several:
            cells += ["", ""]
        table.append(tuple(cells))
    return Table(table, [f"{what}; bootstrap intervals over seeds, each agent resampled on its own.", *_cautions(rows)])


def _cautions(rows: Sequence[Row]) -> list[str]:
    notes = []
    if any(len(row.samples) == 1 for row in rows):
        notes.append(f"{NOTHING}: one seed says nothing about the uncertainty.")
    if any(1 < len(row.samples) < FEW_SEEDS for row in rows):
        notes.append(f"With fewer than {FEW_SEEDS} seeds these intervals are too narrow.")
    if len({frames for row in rows for frames in row.frames}) > 1:
        notes.append("Not all have been trained for the same number of frames.")
    return notes


def _span(frames: Sequence[int]) -> str:
    low, high = min(frames), max(frames)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _show_interval(ends: tuple[float, float], digits: int) -> str:
    return f"{show(ends[0], digits)} to {show(ends[1], digits)}" if math.isfinite(sum(ends)) else NOTHING


def _evaluations(group: RunGroup) -> dict[str, tuple[list[float], list[int]]]:
    """By how games were played: the mean score of each seed that was evaluated, and its frames."""
    found: dict[str, tuple[list[float], list[int]]] = {}
    for seed, folder in group.folders.items():
        mine = [each for each in _read_evaluation(folder) if each["seed"] == seed]
        for how in dict.fromkeys(_how(each) for each in mine):
            same = [each for each in mine if _how(each) == how]
            newest = max(each["frames"] for each in same)
            scores = [score for each in same if each["frames"] == newest for score in each["returns"]]
            means, frames = found.setdefault(how, ([], []))
            means.append(float(np.mean(scores)))
            frames.append(newest)
    return found


def _how(result: Mapping[str, Any]) -> str:
    sticky = f", sticky {result['sticky']:g}" if result["sticky"] else ""
    return f"{'greedy' if result['greedy'] else 'sampled'}{sticky}"


def _read_evaluation(folder: Path) -> list[dict[str, Any]]:
    path = folder / "evaluation.json"
    if not path.exists():
        return []
    try:
        results = json.loads(path.read_text(encoding="utf-8"))["results"]
        for each in results:
            _ = each["seed"], each["frames"], each["greedy"], float(each["sticky"]), np.mean(each["returns"])
    except (ValueError, TypeError, LookupError):
        raise UserError(f"{path} is damaged; rgvf evaluate {folder} plays the games again") from None
    return results
