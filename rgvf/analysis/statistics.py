"""Means over seeds, and their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

NOTHING = "–"
"""In tables, for what the data does not tell."""
RESAMPLES = 10_000
BAND_RESAMPLES = 2000
"""At each point of a curve."""


class Estimate(NamedTuple):
    """A mean over seeds and its standard error (NaN where there is one seed only)."""

    mean: float
    standard_error: float


def estimate(samples: np.ndarray) -> Estimate:
    """Mean and standard error of one number per seed."""
    return Estimate(float(np.mean(samples)), float(standard_error(samples)))


def standard_error(samples: np.ndarray) -> np.ndarray:
    """Standard error of the mean along the first axis; NaN where there is one sample, which says nothing about it."""
    n = len(samples)
    return (
        np.asarray(np.std(samples, axis=0, ddof=1) / math.sqrt(n)) if n > 1 else np.full(np.shape(samples)[1:], np.nan)
    )


def show(value: float, digits: int) -> str:
    """A number for a table."""
    return f"{value:,.{digits}f}" if math.isfinite(value) else NOTHING


def show_estimate(samples: np.ndarray, digits: int = 1) -> str:
    """Mean ± standard error for a table."""
    mean, error = estimate(samples)
    return f"{show(mean, digits)} ± {show(error, digits)}"


def final(values: np.ndarray) -> np.ndarray:
    """The mean over the last tenth of the points, which smooths the noise of single updates: [seeds].

    Points that are NaN do not count; the result is NaN where all are.
    """
    late = values[:, -max(1, values.shape[1] // 10) :]
    there = ~np.isnan(late)
    count = there.sum(1)
    return np.where(count > 0, np.where(there, late, 0.0).sum(1) / np.maximum(count, 1), np.nan)


def mean_interval(samples: np.ndarray) -> tuple[float, float]:
    """A 95 % bootstrap interval for the mean; NaN where there are fewer than two samples."""
    return _interval_of_means(lambda mean: mean, samples)


def mean_band(samples: np.ndarray) -> np.ndarray:
    """95 % bootstrap intervals for the mean of curves [seeds, points], at each point: [2, points]."""
    n = len(samples)
    if n < 2:
        return np.full((2, *samples.shape[1:]), np.nan)
    times = np.random.default_rng(0).multinomial(n, np.full(n, 1 / n), size=BAND_RESAMPLES)
    return interval_ends(times @ samples / n)


def difference_interval(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """A 95 % bootstrap interval for the mean of b minus that of a, each resampled on its own."""
    return _interval_of_means(lambda mean_a, mean_b: mean_b - mean_a, a, b)


def ratio_interval(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """A 95 % bootstrap interval for the mean of b over that of a, each resampled on its own; a is positive."""
    return _interval_of_means(lambda mean_a, mean_b: mean_b / mean_a, a, b)


def _interval_of_means(combine: Callable[..., np.ndarray], *samples: np.ndarray) -> tuple[float, float]:
    if min(map(len, samples)) < 2:
        return math.nan, math.nan
    rng = np.random.default_rng(0)
    return interval(combine(*(_resampled_means(rng, each) for each in samples)))


def _resampled_means(rng: np.random.Generator, samples: np.ndarray) -> np.ndarray:
    return samples[rng.integers(len(samples), size=(RESAMPLES, len(samples)))].mean(1)


def clearly_lower(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a is below b by more than two standard errors of the mean difference, seed by seed.

    Runs with the same seed see the same experience; paired differences remove what they have in common.
    """
    difference = estimate(b - a)
    return difference.mean > 2 * difference.standard_error


def interval(samples: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of bootstrap samples."""
    low, high = interval_ends(samples)
    return float(low), float(high)


def interval_ends(samples: np.ndarray) -> np.ndarray:
    """The same along the first axis, at each point: [2, ...]."""
    return np.percentile(samples, [2.5, 97.5], axis=0)


def line_of_best_fit(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """Slope and height at 0 of the line with the least squared distance in y."""
    offset = x - x.mean()
    slope = float(offset @ y / (offset @ offset))
    return slope, float(y.mean() - slope * x.mean())


def slope_interval(x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """A 95 % interval for the slope of the line of best fit; points are resampled."""
    if np.ptp(x) == 0:
        raise ValueError("a slope needs points with different x")

    rng = np.random.default_rng(0)

    def resampled_slope() -> float:
        chosen = rng.integers(len(x), size=len(x))
        while np.ptp(x[chosen]) == 0:
            chosen = rng.integers(len(x), size=len(x))
        return line_of_best_fit(x[chosen], y[chosen])[0]

    return interval(np.array([resampled_slope() for _ in range(2000)]))
