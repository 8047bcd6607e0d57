"""Means over seeds, and their uncertainty."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

NOTHING = "–"
"""In tables, for what the data does not tell."""
RESAMPLES = 10_000


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
    return _interval_of_means(samples)


def difference_interval(a: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """A 95 % bootstrap interval for the mean of b minus that of a, each resampled on its own."""
    return _interval_of_means(b, a)


def _interval_of_means(samples: np.ndarray, base: np.ndarray | None = None) -> tuple[float, float]:
    if len(samples) < 2 or (base is not None and len(base) < 2):
        return math.nan, math.nan
    rng = np.random.default_rng(0)
    means = _resampled_means(rng, samples)
    return interval(means if base is None else means - _resampled_means(rng, base))


def _resampled_means(rng: np.random.Generator, samples: np.ndarray) -> np.ndarray:
    return samples[rng.integers(len(samples), size=(RESAMPLES, len(samples)))].mean(1)


def clearly_lower(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether a is below b by more than two standard errors of the mean difference, seed by seed.

    Runs with the same seed see the same experience; paired differences remove what they have in common.
    """
    difference = estimate(b - a)
    return difference.mean > 2 * difference.standard_error


def interquartile_mean(samples: np.ndarray) -> float:
    """The mean of the middle half of all samples; those at its two ends count in part, so that it is exactly half."""
    return float(_middle_half(np.ravel(samples)[None])[0])


def resampled_interquartile_means(
    scores: Mapping[str, np.ndarray], unit: str, resamples: int = 2000
) -> dict[str, np.ndarray]:
    """Bootstrap samples of interquartile means, in units of the mean score of `unit` in each game.

    Seeds are resampled within each game, for each agent separately. The unit is resampled too, so that its own
    uncertainty counts; sample i of every agent has the same unit.

    Args:
        scores: of each agent, [games, seeds].

    Returns:
        Of each agent, [resamples].
    """
    rng = np.random.default_rng(0)
    samples = {name: _resample(rng, each, resamples) for name, each in scores.items()}
    one = samples[unit].mean(-1, keepdims=True)
    one = np.where(one > 0, one, scores[unit].mean(-1, keepdims=True))  # where only zeros were sampled
    return {name: _middle_half((each / one).reshape(resamples, -1)) for name, each in samples.items()}


def interval(samples: np.ndarray) -> tuple[float, float]:
    """The middle 95 % of bootstrap samples."""
    low, high = np.percentile(samples, [2.5, 97.5])
    return float(low), float(high)


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


def _middle_half(samples: np.ndarray) -> np.ndarray:
    """Interquartile means along the last axis."""
    ordered = np.sort(samples, axis=-1)
    n = ordered.shape[-1]
    edges = np.arange(n + 1) / n
    weight = np.clip(np.minimum(edges[1:], 0.75) - np.maximum(edges[:-1], 0.25), 0.0, None)
    return ordered @ weight / np.sum(weight)


def _resample(rng: np.random.Generator, scores: np.ndarray, resamples: int) -> np.ndarray:
    """[resamples, games, seeds]"""
    games, seeds = scores.shape
    chosen = rng.integers(seeds, size=(resamples, games, seeds))
    return np.take_along_axis(scores[None], chosen, axis=-1)
