"""rgvf: learn state representations from random questions about the future.

    agent = rgvf.train(rgvf.RunConfig("minatar/Breakout", rgvf.AgentConfig("rgvf"), frames=1_000_000), "runs/first")
    rgvf.evaluate(agent)

The packages, each of which imports only from those above it:

    rgvf.questions     question networks: the language, the generator, TD targets (NumPy only)
    rgvf.features      functions of a transition that questions are about
    rgvf.networks      representations and heads
    rgvf.tasks         what agents learn: the actor-critic, and the auxiliary tasks
    rgvf.agents        the agent and its one update
    rgvf.environments  environments, in JAX and on the host
    rgvf.loops         experience and updates, for several seeds
    rgvf.runs          training runs and their folders
    rgvf.evaluation    scores and recordings of trained agents
    rgvf.analysis      statistics and figures
    rgvf.studies       the paper's experiments

Everything is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rgvf import (
        agents,
        analysis,
        environments,
        evaluation,
        features,
        networks,
        questions,
        runs,
        studies,
        tasks,
    )
    from rgvf.agents import AgentConfig, Learner
    from rgvf.environments import Environment, Step
    from rgvf.evaluation import evaluate, record
    from rgvf.runs import RunConfig, RunError, TrainedAgent, load, resume, train, train_together

__version__ = "0.2.0"

_HOMES = {
    "AgentConfig": "agents",
    "Environment": "environments",
    "Learner": "agents",
    "RunConfig": "runs",
    "RunError": "runs",
    "Step": "environments",
    "TrainedAgent": "runs",
    "evaluate": "evaluation",
    "load": "runs",
    "record": "evaluation",
    "resume": "runs",
    "train": "runs",
    "train_together": "runs",
}

__all__ = [
    "AgentConfig",
    "Environment",
    "Learner",
    "RunConfig",
    "RunError",
    "Step",
    "TrainedAgent",
    "__version__",
    "agents",
    "analysis",
    "environments",
    "evaluate",
    "evaluation",
    "features",
    "load",
    "networks",
    "questions",
    "record",
    "resume",
    "runs",
    "studies",
    "tasks",
    "train",
    "train_together",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rgvf.{_HOMES[name]}"), name)
    if name in __all__:
        return import_module(f"rgvf.{name}")
    raise AttributeError(f"module 'rgvf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
