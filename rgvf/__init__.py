"""rgvf: learn state representations from random questions about the future.

    config = rgvf.preset("minatar/Breakout", "rgvf", frames=1_000_000)  # settings that suit the environment
    agent = rgvf.train(config, "runs/first")
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

and, above all of them, two modules:

    rgvf.settings      dataclasses of settings, for tasks of yours
    rgvf.trajectory    the experience that every loss reads

Everything is imported when it is first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rgvf.accelerate import set_compiler_flags

if TYPE_CHECKING:
    # The packages are attributes, too.
    from rgvf import agents as agents
    from rgvf import analysis as analysis
    from rgvf import environments as environments
    from rgvf import evaluation as evaluation
    from rgvf import features as features
    from rgvf import networks as networks
    from rgvf import questions as questions
    from rgvf import runs as runs
    from rgvf import settings as settings
    from rgvf import studies as studies
    from rgvf import tasks as tasks
    from rgvf import trajectory as trajectory
    from rgvf.agents import AgentConfig, Learner
    from rgvf.analysis.agent_film import make_film
    from rgvf.environments import Environment, Step
    from rgvf.evaluation import evaluate, record
    from rgvf.runs import RunConfig, RunError, TrainedAgent, load, preset, resume, train, train_together

    __version__: str

_PACKAGES = {
    "agents": ("AgentConfig", "Learner"),
    "analysis": (),
    "environments": ("Environment", "Step"),
    "evaluation": ("evaluate", "record"),
    "features": (),
    "loops": (),
    "networks": (),
    "questions": (),
    "runs": ("RunConfig", "RunError", "TrainedAgent", "load", "preset", "resume", "train", "train_together"),
    "settings": (),
    "studies": (),
    "tasks": (),
    "trajectory": (),
    "version": ("__version__",),
}
set_compiler_flags()
_HOMES = {name: package for package, names in _PACKAGES.items() for name in names}
_HOMES["make_film"] = "analysis.agent_film"  # `rgvf.analysis` itself imports no JAX

__all__ = [
    "AgentConfig",
    "Environment",
    "Learner",
    "RunConfig",
    "RunError",
    "Step",
    "TrainedAgent",
    "__version__",
    "evaluate",
    "load",
    "make_film",
    "preset",
    "record",
    "resume",
    "train",
    "train_together",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rgvf.{_HOMES[name]}"), name)
    if name in _PACKAGES:
        return import_module(f"rgvf.{name}")
    raise AttributeError(f"module 'rgvf' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*__all__, *_PACKAGES} - {"version"})
