"""Games in worker processes: `pool` and `connections` are the learner's side, `process` the worker's."""

from rgvf.environments.workers.connections import WorkerError
from rgvf.environments.workers.launch import available_cores, check_processes
from rgvf.environments.workers.memory import TimeSteps
from rgvf.environments.workers.pool import Workers

__all__ = ["TimeSteps", "WorkerError", "Workers", "available_cores", "check_processes"]
