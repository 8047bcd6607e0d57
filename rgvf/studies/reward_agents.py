"""The agents of the study `minatar-reward`, and the settings that are searched for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from rgvf.agents import STOPPED, AgentConfig
from rgvf.tasks import (
    ActionValues,
    ActionValuesNoActions,
    MultiHorizonValues,
    RandomAndActionValues,
    RandomQuestions,
    TaskSettings,
)

BASELINE = "a2c"
"""The agent whose mean in a game is the unit."""
TWO_TASKS, ONE_NETWORK = "rgvf+action-values", "random-and-action-values"
"""The combination in both forms."""
COMBINATION = f"{TWO_TASKS}{STOPPED}"
_ABLATED: Mapping[str, TaskSettings] = {
    f"{TWO_TASKS}-no-actions": ActionValuesNoActions(),
    f"{TWO_TASKS}-depth-0": ActionValues(depth=0),
    f"{TWO_TASKS}-depth-1": ActionValues(depth=1),
}
ABLATIONS = tuple(f"{name}{STOPPED}" for name in _ABLATED)
"""Of the questions about reward in the combination. Depth 0: values only; depth 1: those after single actions."""
TASKS: Mapping[str, tuple[TaskSettings, ...]] = {
    BASELINE: (),
    "rgvf": (RandomQuestions(),),
    "mhvp": (MultiHorizonValues(),),
    "action-values": (ActionValues(),),
    TWO_TASKS: (RandomQuestions(), ActionValues()),
    ONE_NETWORK: (RandomAndActionValues(),),
    **{name: (RandomQuestions(), reward) for name, reward in _ABLATED.items()},
}
"""What each agent learns beside A2C."""
SEARCHED = (
    BASELINE,
    *(f"{name}{STOPPED}" for name in ("rgvf", "mhvp", "action-values", TWO_TASKS, ONE_NETWORK)),
    TWO_TASKS,
    ONE_NETWORK,
)
"""The agents that have a search. An ablation has the settings of what it is an ablation of."""
AGENTS = (*SEARCHED, *ABLATIONS)

CAVEAT = (
    "The form of the questions about reward was chosen on these five games, at 3 million steps with seeds 0 to 4; "
    "only the seeds here are new."
)
"""Where results of the combination are reported, they come with this."""

SIZES: Mapping[str, Mapping[str, Any]] = {
    "narrow": {"kernels": (16,), "dense": (128,), "hidden": 128},
    "wide": {"kernels": (32,), "dense": (512,), "hidden": 512},
}
"""Of the representation and the heads."""
RATES = (1e-3, 2e-3, 4e-3, 8e-3)


class Setting(NamedTuple):
    """What is searched for an agent, and then fixed for all games."""

    size: str
    learning_rate: float

    def __str__(self) -> str:
        return f"{self.size}-{self.learning_rate:g}"


SETTINGS = tuple(Setting(size, rate) for size in SIZES for rate in RATES)
"""Every agent that is searched tries all of them."""
BEYOND: Mapping[str, tuple[Setting, ...]] = {
    BASELINE: (Setting("wide", 1.6e-2), Setting("wide", 3.2e-2)),
    TWO_TASKS: (Setting("wide", 2.5e-4), Setting("wide", 5e-4)),
}
"""Where an agent's best rate was the smallest or largest of them, the next ones beyond it."""


def settings_of(agent: str) -> tuple[Setting, ...]:
    """All that the search tries for an agent, by size and rate."""
    return tuple(sorted((*SETTINGS, *BEYOND.get(agent, ()))))


def agent_config(agent: str, setting: Setting) -> AgentConfig:
    """The agent of this name in `AGENTS`."""
    tasks, stopped = TASKS[agent.removesuffix(STOPPED)], agent.endswith(STOPPED)
    sizes = SIZES[setting.size]
    return AgentConfig(tasks, stop_gradient=stopped, learning_rate=setting.learning_rate, **sizes)


def score(returns: Iterable[float]) -> float:
    """What the search maximises: the geometric mean of an agent's mean returns in the games of the search."""
    return float(np.exp(np.mean([np.log(max(each, 1e-6)) for each in returns])))
