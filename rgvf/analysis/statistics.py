"""Means over seeds and how sure they are."""

from __future__ import annotations

import math
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


def stratified_bootstrap(
    a: np.ndarray, b: np.ndarray, *, resamples: int = 2000, confidence: float = 0.95
) -> tuple[float, float]:
    """An interval for the difference of the interquartile means of a and b, both [games, seeds].

    Seeds are drawn anew within each game, for a and b each on its own.
    """
    rng = np.random.default_rng(0)

    def drawn(scores: np.ndarray) -> float:
        games, seeds = scores.shape
        chosen = rng.integers(seeds, size=(games, seeds))
        return interquartile_mean(np.take_along_axis(scores, chosen, axis=1))

    differences = [drawn(a) - drawn(b) for _ in range(resamples)]
    tail = 50 * (1 - confidence)
    low, high = np.percentile(differences, [tail, 100 - tail])
    return float(low), float(high)
