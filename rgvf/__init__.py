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

`rgvf.load(folder)` gives a trained agent back.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rgvf import agents, analysis, auxiliary, environments, features, networks, questions, studies, training
    from rgvf.training.trained import load

__all__ = [
    "agents",
    "analysis",
    "auxiliary",
    "environments",
    "features",
    "load",
    "networks",
    "questions",
    "studies",
    "training",
]


def __getattr__(name: str) -> Any:
    if name == "load":
        return import_module("rgvf.training.trained").load
    if name in __all__:
        return import_module(f"rgvf.{name}")
    raise AttributeError(f"module 'rgvf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
