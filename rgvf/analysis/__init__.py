"""Statistics and pictures of results: arrays in, figures out."""

from rgvf.analysis.plots import heat_maps, learning_curves
from rgvf.analysis.statistics import Estimate, clearly_lower, estimate, standard_error

__all__ = ["Estimate", "clearly_lower", "estimate", "heat_maps", "learning_curves", "standard_error"]
