"""Training runs: their configuration, their folder, and the functions that train and load agents."""

from rgvf.runs.config import MAY_CHANGE, WHAT_MAY_CHANGE, RunConfig
from rgvf.runs.folder import InUseError, RunError, RunFolder
from rgvf.runs.presets import AUTO, MINATAR_RATES, MINATAR_WIDE_RATES, PRESETS, find_preset, preset
from rgvf.runs.progress import RunListener, RunProgress
from rgvf.runs.train import default_folder, resume, train, train_together
from rgvf.runs.trained_agent import TrainedAgent, load

__all__ = [
    "AUTO",
    "MAY_CHANGE",
    "MINATAR_RATES",
    "MINATAR_WIDE_RATES",
    "PRESETS",
    "WHAT_MAY_CHANGE",
    "InUseError",
    "RunConfig",
    "RunError",
    "RunFolder",
    "RunListener",
    "RunProgress",
    "TrainedAgent",
    "default_folder",
    "find_preset",
    "load",
    "preset",
    "resume",
    "train",
    "train_together",
]
