"""Statistics and figures of results: arrays in, figures out."""

from rgvf.analysis.plots import Scatter, heat_maps, intervals, learning_curves, learning_panels, scatter_panels
from rgvf.analysis.statistics import (
    Estimate,
    clearly_lower,
    estimate,
    interquartile_mean,
    interval,
    line_of_best_fit,
    resampled_interquartile_means,
    slope_interval,
    standard_error,
)

__all__ = [
    "Estimate",
    "Scatter",
    "clearly_lower",
    "estimate",
    "heat_maps",
    "interquartile_mean",
    "interval",
    "intervals",
    "learning_curves",
    "learning_panels",
    "line_of_best_fit",
    "resampled_interquartile_means",
    "scatter_panels",
    "slope_interval",
    "standard_error",
]
