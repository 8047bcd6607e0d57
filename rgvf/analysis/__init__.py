"""Statistics and pictures of results: arrays in, figures out."""

from rgvf.analysis.plots import heat_maps, learning_curves, learning_panels
from rgvf.analysis.statistics import (
    Estimate,
    clearly_lower,
    estimate,
    interquartile_mean,
    standard_error,
    stratified_bootstrap,
)

__all__ = [
    "Estimate",
    "clearly_lower",
    "estimate",
    "heat_maps",
    "interquartile_mean",
    "learning_curves",
    "learning_panels",
    "standard_error",
    "stratified_bootstrap",
]
