"""Everything that can be set about an agent. The defaults are the paper's for Atari."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from rgvf.agents.learner import REPRESENTATION
from rgvf.messages import unknown
from rgvf.networks import REPRESENTATIONS
from rgvf.settings import SettingError, check_types, from_data, not_negative, positive, require, to_data
from rgvf.tasks import TASKS, ActorCriticSettings, QuestionSettings, TaskSettings, find_task
from rgvf.tasks.registry import RENAMED

MAIN = ActorCriticSettings.name
"""The main task, and the name of the agent that has no other."""

STOPPED = "-stop-gradient"
"""Ends the label of an agent whose representation is trained by the auxiliary tasks only."""

MAX_UNITS = 65_536
"""Of a layer."""


@dataclass(frozen=True)
class AgentConfig:
    """The agent."""

    tasks: str | TaskSettings | Sequence[str | TaskSettings] = "rgvf"
    """a2c, or the auxiliary tasks of the agent: names joined by + (rgvf+pixel-control), or settings of tasks."""
    stop_gradient: bool = False
    """Train the representation by the auxiliary tasks only."""
    actor_critic: ActorCriticSettings = field(default_factory=ActorCriticSettings)
    learning_rate: float = 7e-4
    """RMSProp learning rate."""
    rms_decay: float = 0.99
    """RMSProp decay of the mean squared gradient."""
    rms_epsilon: float = 1e-5
    """RMSProp epsilon, inside the root."""
    clip_norm: float = 0.5
    """Largest global norm of the main task's gradient; larger gradients are scaled down."""
    c: tuple[float, ...] = (1.0,)
    """Mixing coefficient: multiplies the learning rate of an auxiliary task. One for all tasks, or one for each."""
    learn_balance: bool = False
    """Learn how much each of several tasks that answer questions weighs in the updates of the representation: as much
    as its questions can be answered. Other tasks keep the weight 1."""
    representation: str = "auto"
    """Network of the representation. conv: the paper's, for images from 36×36; small-conv: for smaller images; mlp:
    two layers of 64 units; auto: one of these, chosen by the shape of observations; gru: the same and a memory."""
    kernels: tuple[int, ...] = ()
    """Number of kernels of each convolution of the representation; by default conv 32 64 64, small-conv 16."""
    dense: tuple[int, ...] = ()
    """Units of each dense layer of the representation; by default small-conv 128, mlp 64 64, conv none, and 512 below
    a gru."""
    memory: int = 0
    """Units of the memory of gru; 0: 512 for images from 36×36, otherwise 128."""
    hidden: int = 512
    """Units of the hidden layer of each head."""

    def __post_init__(self) -> None:
        check_types(self)
        object.__setattr__(self, "tasks", _resolve(self.tasks))
        names = self.task_names
        if len(set(names)) < len(names):
            raise ValueError(f"the agent {self.name} names a task twice")
        if self.stop_gradient and not names:
            why = f"nothing would train {MAIN}'s representation"
            raise SettingError("stop_gradient", f"needs an auxiliary task: {why}")
        if len(self.c) > 1 and not names:
            raise SettingError("c", f"is for auxiliary tasks, and {MAIN} has none")
        if len(self.c) not in (1, len(names)):
            each = f"one number, or one for each of {' '.join(names)}"
            raise SettingError("c", f"must be {each}; not {len(self.c)} numbers")
        if not all(map(not_negative, self.c)):
            raise SettingError("c", f"must be at least 0, not {' '.join(map(str, self.c))}")
        if self.representation not in ("auto", *REPRESENTATIONS):
            raise ValueError(unknown("representation", self.representation, ["auto", *REPRESENTATIONS]))
        require(self, f"between 1 and {MAX_UNITS:,}", lambda x: 1 <= x <= MAX_UNITS, "hidden")
        require(self, f"between 0 and {MAX_UNITS:,}", lambda x: 0 <= x <= MAX_UNITS, "memory")
        each = f"between 1 and {MAX_UNITS:,} each"
        require(self, each, lambda sizes: all(1 <= x <= MAX_UNITS for x in sizes), "kernels", "dense")
        require(self, "in [0, 1)", lambda x: 0 <= x < 1, "rms_decay")
        if self.learn_balance and len(self.question_tasks) < 2:
            count = len(self.question_tasks)
            what = f"is for several tasks that answer questions, and {self.name} has {count}"
            raise SettingError("learn_balance", what)
        require(self, "positive", positive, "learning_rate", "rms_epsilon", "clip_norm")

    @property
    def auxiliary(self) -> tuple[TaskSettings, ...]:
        """The settings of the auxiliary tasks, in order: `tasks`, resolved."""
        return cast(tuple[TaskSettings, ...], self.tasks)

    @property
    def task_names(self) -> tuple[str, ...]:
        """The names of the auxiliary tasks."""
        return tuple(settings.name for settings in self.auxiliary)

    @property
    def question_tasks(self) -> tuple[str, ...]:
        """The names of those that answer a question network."""
        return tuple(each.name for each in self.auxiliary if isinstance(each, QuestionSettings))

    @property
    def name(self) -> str:
        """The names of the auxiliary tasks joined by +, or a2c."""
        return "+".join(self.task_names) or MAIN

    @property
    def label(self) -> str:
        """The name, and the mode where it is stop-gradient: rgvf-stop-gradient."""
        return self.name + STOPPED * self.stop_gradient

    @property
    def coefficients(self) -> tuple[float, ...]:
        """c of each auxiliary task."""
        return self.c if len(self.c) == len(self.auxiliary) else self.c * len(self.auxiliary)

    @property
    def program(self) -> Any:
        """What agents must have in common to share one compiled update, apart from the shapes of their arrays.

        The rest they carry as arrays: learning rates, question networks and features.
        """
        plain = {"learning_rate": 1.0, "c": (1.0,), "tasks": "a2c", "stop_gradient": False, "learn_balance": False}
        settings = [each.name if _carries_its_settings(each) else each for each in self.auxiliary]
        return dataclasses.replace(self, **plain), self.stop_gradient, self.learn_balance, tuple(settings)

    def to_data(self) -> dict[str, Any]:
        """The configuration as JSON can hold it."""
        tasks = [{"task": settings.name, **to_data(settings)} for settings in self.auxiliary]
        return {**to_data(self), "tasks": tasks}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> AgentConfig:
        """The configuration that `to_data` wrote; ValueError where the data is anything else."""
        tasks = data.get("tasks")
        if not isinstance(tasks, list):
            raise ValueError(f"expected a list of tasks, not {str(tasks)[:80]}")
        return from_data(cls, {**data, "tasks": [_read_task(each) for each in tasks]})


def _resolve(tasks: str | TaskSettings | Sequence[str | TaskSettings]) -> tuple[TaskSettings, ...]:
    """Names become settings with their defaults."""
    if isinstance(tasks, str):
        tasks = [] if tasks == MAIN else tasks.split("+")
        if "" in tasks:
            raise ValueError("an agent is named a2c, or by its auxiliary tasks joined by +, such as rgvf+curl")
    elif isinstance(tasks, TaskSettings):
        tasks = [tasks]
    resolved: list[TaskSettings] = []
    for each in tasks if isinstance(tasks, list | tuple) else [tasks]:
        name = each if isinstance(each, str) else getattr(each, "name", None)
        if name == MAIN:
            raise ValueError(f"every agent has the task {MAIN}: name only the auxiliary tasks")
        if name == REPRESENTATION:
            raise ValueError(f"a task cannot be named {REPRESENTATION!r}")
        if not isinstance(each, str):
            if isinstance(each, type) or not isinstance(each, TaskSettings) or not dataclasses.is_dataclass(each):
                hint = f"; write {each.__name__}()" if isinstance(each, type) else ""
                raise ValueError(f"a task is a name or an object of settings, not {each!r}{hint}")
            if TASKS.get(each.name) is not type(each):
                raise ValueError(
                    f"the task {each.name!r} is not known; call rgvf.tasks.register({type(each).__name__})"
                )
            resolved.append(each)
        elif each.endswith(STOPPED) and each.removesuffix(STOPPED) in TASKS:
            raise ValueError(f"{each} is {each.removesuffix(STOPPED)} with --stop-gradient, or stop_gradient=True")
        elif each in RENAMED:
            raise ValueError(f"the agent {each} is called {RENAMED[each]} now")
        elif each not in TASKS:
            raise ValueError(unknown("agent", each, [MAIN, *TASKS], cutoff=0.4))
        else:
            resolved.append(TASKS[each]())
    return tuple(resolved)


def _carries_its_settings(settings: TaskSettings) -> bool:
    """Whether all that the settings decide are arrays of the agent. Of a task made in another way that is not known."""
    return isinstance(settings, QuestionSettings) and type(settings).make is QuestionSettings.make


def _read_task(data: Any) -> TaskSettings:
    if not isinstance(data, Mapping) or not isinstance(data.get("task"), str):
        raise ValueError(f"expected the settings of a task, not {str(data)[:80]}")
    return from_data(find_task(data["task"]), {name: value for name, value in data.items() if name != "task"})
