"""The auxiliary tasks by name. A new task is a file with its settings, and a line here."""

from __future__ import annotations

from typing import Any, TypeVar

from rgvf.messages import unknown
from rgvf.tasks.curl import CURLSettings
from rgvf.tasks.fixed_questions import GivenQuestions, MultiHorizonValues, RewardPrediction, TerminationPrediction
from rgvf.tasks.pixel_control import PixelControlSettings
from rgvf.tasks.random_questions import (
    ActionValues,
    ActionValuesNoActions,
    DiscountedSums,
    NoActions,
    RandomAndActionValues,
    RandomQuestions,
    Shallow,
)

T = TypeVar("T")
TASKS: dict[str, type[Any]] = {
    settings.name: settings
    for settings in (
        RandomQuestions,
        NoActions,
        Shallow,
        DiscountedSums,
        ActionValues,
        ActionValuesNoActions,
        RandomAndActionValues,
        MultiHorizonValues,
        RewardPrediction,
        TerminationPrediction,
        GivenQuestions,
        PixelControlSettings,
        CURLSettings,
    )
}
"""The settings of each task (`TaskSettings`), by its name."""
RENAMED = {"rgvf-action-values": RandomAndActionValues.name}
"""Names that tasks had before."""


def register(settings: type[T]) -> type[T]:
    """Make a task known by its name, in `AgentConfig` and in saved runs; also usable as a decorator.

    Raises:
        ValueError: the name is taken by another task, or has a character that names may not have.
    """
    name = getattr(settings, "name", "")
    if not name or not name.replace("-", "").replace("_", "").isalnum():
        raise ValueError(f"the task name {name!r} must be letters, digits, - and _")
    known = TASKS.get(name, settings)
    if (known.__module__, known.__qualname__) != (settings.__module__, settings.__qualname__):
        raise ValueError(f"there is a task {name!r} already")
    TASKS[name] = settings  # the same class may be defined again, in a notebook
    return settings


def find_task(name: str) -> type[Any]:
    """The settings of the task of this name. ValueError with the nearest name where there is none."""
    if name in RENAMED:
        raise ValueError(f"the task {name!r} is called {RENAMED[name]!r} now; runs with the old name cannot be loaded")
    if name not in TASKS:
        hint = "A task of yours is known once the module that registers it is imported."
        raise ValueError(f"{unknown('task', name, TASKS, cutoff=0.4)} {hint}")
    return TASKS[name]
