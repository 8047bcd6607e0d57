"""Statistics and figures of results; `run_groups` and `tables` read the folders of runs."""

from rgvf.analysis.maps import Scatter, heat_maps, scatter_panels
from rgvf.analysis.plots import Band, Line, intervals, learning_panels
from rgvf.analysis.run_groups import RunGroup, read_runs
from rgvf.analysis.statistics import (
    Estimate,
    clearly_lower,
    difference_interval,
    estimate,
    final,
    interquartile_mean,
    interval,
    line_of_best_fit,
    mean_interval,
    resampled_interquartile_means,
    show,
    show_estimate,
    slope_interval,
    standard_error,
)
from rgvf.analysis.styles import Style, agent_style, styles

__all__ = [
    "Band",
    "Estimate",
    "Line",
    "RunGroup",
    "Scatter",
    "Style",
    "agent_style",
    "clearly_lower",
    "difference_interval",
    "estimate",
    "final",
    "heat_maps",
    "interquartile_mean",
    "interval",
    "intervals",
    "learning_panels",
    "line_of_best_fit",
    "mean_interval",
    "read_runs",
    "resampled_interquartile_means",
    "scatter_panels",
    "show",
    "show_estimate",
    "slope_interval",
    "standard_error",
    "styles",
]
