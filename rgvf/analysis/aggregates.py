"""Scores of many games and seeds as one number, and how uncertain it is.

After Agarwal et al. (2021), "Deep reinforcement learning at the edge of the statistical precipice". Scores of different
games are normalised first (`reference_scores`). An interval is the middle 95 % of bootstrap samples, in which the seeds
of each game are resampled. One seed has no interval: its ends are NaN. Whatever a NaN goes into is NaN, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from rgvf.analysis.statistics import interval, interval_ends, mean_interval

Statistic = Callable[[np.ndarray], np.ndarray]
"""Makes one number of scores [..., games, seeds]: [...]."""
RESAMPLES = 2000


class Interval(NamedTuple):
    """A number, and the ends of its 95 % interval."""

    low: float
    value: float
    high: float


def median_of_seeds(scores: np.ndarray) -> np.ndarray:
    """The median over games of each seed, averaged over seeds, of scores [..., games, seeds]: as the paper has it."""
    return np.asarray(np.median(scores, axis=-2).mean(-1))


def mean_over_games(scores: np.ndarray) -> np.ndarray:
    """The mean over games of the mean over seeds, of scores [..., games, seeds]."""
    return np.asarray(scores.mean((-2, -1)))


def capped_mean(scores: np.ndarray) -> np.ndarray:
    """The mean of scores [..., games, seeds] of which none counts more than 1. Each run is capped, then averaged."""
    return mean_over_games(np.minimum(scores, 1.0))


def interquartile_mean(scores: np.ndarray) -> np.ndarray:
    """The mean of the middle half of all scores, of games and seeds together: [..., games, seeds] or [samples].

    As in the package rliable, a quarter of n scores is n // 4.
    """
    ordered = np.sort(scores.reshape(*scores.shape[:-2], -1), axis=-1)
    quarter = ordered.shape[-1] // 4
    middle = ordered[..., quarter : ordered.shape[-1] - quarter].mean(-1)
    return np.where(np.isnan(ordered[..., -1]), np.nan, middle)  # a NaN is last, and may have been left out


def over_games(scores: np.ndarray, statistic: Statistic) -> np.ndarray:
    """The statistic of each seed alone, over its games.

    The paper draws these: the mean over seeds is a line, their standard error its band.

    Args:
        scores: [games, seeds] or [games, seeds, points].

    Returns:
        [seeds] or [seeds, points].
    """
    return statistic(np.moveaxis(scores, 0, -1)[..., None])


def bootstrap(
    scores: Mapping[str, np.ndarray], statistic: Statistic, unit: str | None = None, resamples: int = RESAMPLES
) -> dict[str, np.ndarray]:
    """Bootstrap samples of a statistic. Seeds are resampled within each game, for each agent separately.

    Args:
        scores: of each agent, [games, seeds].
        unit: an agent whose mean score in each game the scores are divided by. It is resampled too, so that its own
            uncertainty counts; sample i of every agent has the same unit.

    Returns:
        Of each agent, [resamples].
    """
    rng = np.random.default_rng(0)
    samples = {name: each.ravel()[_chosen(rng, each, resamples)] for name, each in scores.items()}
    if unit is None:
        return {name: statistic(each) for name, each in samples.items()}
    one = samples[unit].mean(-1, keepdims=True)
    one = np.where(one > 0, one, scores[unit].mean(-1, keepdims=True))  # where only zeros were sampled
    return {name: statistic(each / one) for name, each in samples.items()}


def aggregate(scores: np.ndarray, statistic: Statistic, resamples: int = RESAMPLES) -> Interval:
    """A statistic of scores [games, seeds], with its interval."""
    samples = bootstrap({"": scores}, statistic, resamples=resamples)[""]
    return _with_ends(samples, float(statistic(scores)), scores)


def performance_profile(scores: np.ndarray, thresholds: np.ndarray, resamples: int = RESAMPLES) -> np.ndarray:
    """The fraction of runs whose score is above each threshold, with its interval.

    Args:
        scores: [games, seeds].
        thresholds: [thresholds].

    Returns:
        Low ends, fractions and high ends: [3, thresholds].
    """
    runs = scores.reshape(-1, 1)
    above = np.where(np.isnan(runs), np.nan, runs > thresholds)
    chosen = _chosen(np.random.default_rng(0), scores, resamples).reshape(resamples, -1)
    sample = np.arange(resamples)[:, None] * len(runs)
    times = np.bincount((chosen + sample).ravel(), minlength=resamples * len(runs)).reshape(resamples, -1)
    return _stacked(times @ above / len(runs), above.mean(0), scores)


def probability_of_improvement(a: np.ndarray, b: np.ndarray, resamples: int = RESAMPLES) -> Interval:
    """How probable it is that a run of agent `a` beats one of `b` in the same game, averaged over games.

    In each game this is the Mann–Whitney statistic, divided by the number of pairs of runs; a draw counts half.

    Args:
        a: scores [games, seeds], normalised or not.
        b: the same games; the seeds may be more or fewer.
    """
    _check_games(a, b)
    rng = np.random.default_rng(0)
    resampled = [each.ravel()[_chosen(rng, each, resamples)] for each in (a, b)]
    return _with_ends(_share_of_wins(*resampled), float(_share_of_wins(a, b)), a, b)


class Paired(NamedTuple):
    """Two agents compared game by game."""

    better: int
    """Games in which the first has the higher mean over seeds."""
    worse: int
    equal: int
    p_value: float
    """Of the sign test: how probable so uneven a split would be if each game were the toss of a coin."""
    difference: Interval
    """The mean over games of the difference, with an interval from resampled games."""


def compare_by_game(a: np.ndarray, b: np.ndarray) -> Paired:
    """Whether agent `a` is better than `b` over games, each of which counts once.

    Args:
        a: normalised scores [games, seeds].
        b: the same games; the seeds may be more or fewer.
    """
    _check_games(a, b)
    difference = a.mean(-1) - b.mean(-1)
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    low, high = mean_interval(difference)
    p_value = math.nan if np.isnan(difference).any() else sign_test(better, worse)
    equal = int((difference == 0).sum())
    return Paired(better, worse, equal, p_value, Interval(low, float(difference.mean()), high))


def sign_test(better: int, worse: int) -> float:
    """The exact, two-sided p-value of so many wins and losses; draws are left out, as is usual."""
    n = better + worse
    tail = sum(math.comb(n, k) for k in range(min(better, worse) + 1))
    return min(1.0, 2 * tail / 2**n)


def _chosen(rng: np.random.Generator, scores: np.ndarray, resamples: int) -> np.ndarray:
    """Places in the flat scores, of seeds resampled within each game: [resamples, games, seeds]."""
    games, seeds = scores.shape
    return rng.integers(seeds, size=(resamples, games, seeds)) + seeds * np.arange(games)[:, None]


def _share_of_wins(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    wins = (1 + np.sign(a[..., :, None] - b[..., None, :])) / 2
    return np.asarray(wins.mean((-3, -2, -1)))


def _with_ends(samples: np.ndarray, value: float, *scores: np.ndarray) -> Interval:
    low, high = interval(samples) if _several_seeds(*scores) else (math.nan, math.nan)
    return Interval(low, value, high)


def _stacked(samples: np.ndarray, values: np.ndarray, scores: np.ndarray) -> np.ndarray:
    low, high = interval_ends(samples) if _several_seeds(scores) else np.full((2, len(values)), np.nan)
    return np.stack([low, values, high])


def _several_seeds(*scores: np.ndarray) -> bool:
    return all(each.shape[1] > 1 for each in scores)


def _check_games(a: np.ndarray, b: np.ndarray) -> None:
    if len(a) != len(b):
        raise ValueError(f"two agents are compared on the same games; these have {len(a)} and {len(b)}")
