"""Training runs: their configuration, their folder, and the functions that train and load agents."""

from rgvf.runs.config import RunConfig
from rgvf.runs.folder import RunError, RunFolder
from rgvf.runs.progress import RunListener, RunProgress
from rgvf.runs.train import MAY_CHANGE, default_folder, resume, train, train_together
from rgvf.runs.trained_agent import TrainedAgent, load

__all__ = [
    "MAY_CHANGE",
    "RunConfig",
    "RunError",
    "RunFolder",
    "RunListener",
    "RunProgress",
    "TrainedAgent",
    "default_folder",
    "load",
    "resume",
    "train",
    "train_together",
]
