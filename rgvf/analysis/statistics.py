"""Means over seeds and how sure they are."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Estimate(NamedTuple):
    """A mean over seeds and its standard error (0 where there is one seed only)."""

    mean: float
    standard_error: float


def estimate(samples: np.ndarray) -> Estimate:
    """Mean and standard error of one number per seed."""
    return Estimate(float(np.mean(samples)), float(standard_error(samples)))


def standard_error(samples: np.ndarray) -> np.ndarray:
    """Standard error of the mean along the first axis."""
    n = len(samples)
    return np.std(samples, axis=0, ddof=1) / math.sqrt(n) if n > 1 else np.zeros(np.shape(samples)[1:])


def clearly_lower(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a is below b by more than two standard errors of the mean difference, seed by seed.

    Runs of one seed that see the same experience share its luck; differences within a seed leave that out.
    """
    difference = estimate(b - a)
    return difference.mean > 2 * difference.standard_error


def interquartile_mean(samples: np.ndarray) -> float:
    """The mean of the middle half of all samples; those at its two ends count in part, so that it is exactly half."""
    ordered = np.sort(np.ravel(samples))
    n = len(ordered)
    edges = np.arange(n + 1) / n
    weight = np.clip(np.minimum(edges[1:], 0.75) - np.maximum(edges[:-1], 0.25), 0.0, None)
    return float(np.sum(weight * ordered) / np.sum(weight))


def interquartile_interval(scores: np.ndarray) -> tuple[float, float]:
    """A 95 % interval for the interquartile mean of scores [games, seeds]; seeds are drawn anew within each game."""
    return _interval(lambda rng: interquartile_mean(_drawn_anew(rng, scores)))


def stratified_bootstrap(a: np.ndarray, b: np.ndarray, resamples: int = 2000) -> tuple[float, float]:
    """A 95 % interval for the difference of the interquartile means of a and b, both [games, seeds].

    Seeds are drawn anew within each game, for a and b each on its own.
    """
    return _interval(
        lambda rng: interquartile_mean(_drawn_anew(rng, a)) - interquartile_mean(_drawn_anew(rng, b)), resamples
    )


def line_of_best_fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and height at 0 of the line with the least squared distance in y."""
    offset = x - x.mean()
    slope = float(offset @ y / (offset @ offset))
    return slope, float(y.mean() - slope * x.mean())


def slope_interval(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """A 95 % interval for the slope of the line of best fit; points are drawn anew."""
    if np.ptp(x) == 0:
        raise ValueError("a slope needs points at different places")

    def drawn(rng: np.random.Generator) -> float:
        chosen = rng.integers(len(x), size=len(x))
        while np.ptp(x[chosen]) == 0:
            chosen = rng.integers(len(x), size=len(x))
        return line_of_best_fit(x[chosen], y[chosen])[0]

    return _interval(drawn)


def _drawn_anew(rng: np.random.Generator, scores: np.ndarray) -> np.ndarray:
    games, seeds = scores.shape
    return np.take_along_axis(scores, rng.integers(seeds, size=(games, seeds)), axis=1)


def _interval(drawn: Callable[[np.random.Generator], float], resamples: int = 2000) -> tuple[float, float]:
    """The middle 95 % of what is drawn."""
    rng = np.random.default_rng(0)
    low, high = np.percentile([drawn(rng) for _ in range(resamples)], [2.5, 97.5])
    return float(low), float(high)
