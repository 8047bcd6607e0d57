"""What a task is: two functions, `init` and `loss`, and a frozen dataclass of settings that makes it.

The main task (an actor-critic, or the value of a given policy) and the auxiliary tasks obey the same protocol, so one
`Learner.update` trains them all.
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias, runtime_checkable

from jaxtyping import Array, Float, Key

from rgvf.networks import Representation
from rgvf.spec import EnvironmentSpec
from rgvf.trajectory import Trajectory

Params: TypeAlias = Any
"""The task's own trainable module."""
TaskState: TypeAlias = Any
"""What a task carries along and does not train: question arrays, random features, a moving-average encoder."""
Metrics: TypeAlias = dict[str, Float[Array, ""]]
"""Numbers to log, by name."""


class View(NamedTuple):
    """What a loss looks at: a batch of experience, and the states that the representation gives it."""

    trajectory: Trajectory
    representation: Representation
    states: Float[Array, "Tp1 B size"]
    """Of the whole segment, computed once for all losses that share it."""

    @classmethod
    def of(cls, trajectory: Trajectory, representation: Representation) -> View:
        """The trajectory as a representation sees it."""
        return cls(trajectory, representation, representation.unroll(trajectory.past.memory, trajectory.percepts))


@runtime_checkable
class Task(Protocol):
    """Something to learn from experience."""

    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[Params, TaskState]:
        """New parameters and a new state."""
        ...

    def loss(
        self, params: Params, state: TaskState, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], TaskState, Metrics]:
        """The loss on a batch, the next state, and numbers to log. Pure, so that it can be jitted and vmapped."""
        ...


@runtime_checkable
class TaskSettings(Protocol):
    """A frozen dataclass: what can be set about a task, and how the task is made.

    Its fields become options of the command line, `--NAME.FIELD`, and part of a run's `config.json`.
    """

    name: ClassVar[str]
    """The task's name in `AgentConfig`, in metrics and on the command line."""

    def make(self, spec: EnvironmentSpec, seed: int, hidden: int) -> Task:
        """The task for one seed. ValueError where the environment does not suit it.

        Args:
            spec: the environment's observations and actions.
            seed: decides whatever is random about the task, but for its initial parameters.
            hidden: units of the hidden layer of each head.
        """
        ...
