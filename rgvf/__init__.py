"""rgvf: learn what to see from random questions about the future.

The rooms of the house are imported when they are first used:

    rgvf.questions     what is asked (NumPy only)
    rgvf.features      what questions are about
    rgvf.networks      representations and heads
    rgvf.auxiliary     tasks that teach the representation
    rgvf.agents        the agent and its update
    rgvf.environments  the worlds
    rgvf.training      the loops
    rgvf.analysis      statistics and pictures
    rgvf.studies       the paper's experiments

`rgvf.train(rgvf.RunConfig(env, rgvf.AgentConfig(name)), folder)` trains an agent, `rgvf.resume(folder)` goes on, and
`rgvf.load(folder)` gives it back.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rgvf import agents, analysis, auxiliary, environments, features, networks, questions, studies, training
    from rgvf.agents import AgentConfig
    from rgvf.training.config import RunConfig
    from rgvf.training.run import resume, train, train_together
    from rgvf.training.trained import load

_HOMES = {
    "AgentConfig": "rgvf.agents",
    "RunConfig": "rgvf.training.config",
    "load": "rgvf.training.trained",
    "resume": "rgvf.training.run",
    "train": "rgvf.training.run",
    "train_together": "rgvf.training.run",
}

__all__ = [
    "AgentConfig",
    "RunConfig",
    "agents",
    "analysis",
    "auxiliary",
    "environments",
    "features",
    "load",
    "networks",
    "questions",
    "resume",
    "studies",
    "train",
    "train_together",
    "training",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in __all__:
        return import_module(f"rgvf.{name}")
    raise AttributeError(f"module 'rgvf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
