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
