"""Games in worker processes: `pool` is the learner's side, `process` the worker's, `memory` what both see."""

from rgvf.environments.workers.launch import available_cores, check_processes
from rgvf.environments.workers.memory import TimeSteps
from rgvf.environments.workers.pool import WorkerError, Workers

__all__ = ["TimeSteps", "WorkerError", "Workers", "available_cores", "check_processes"]
