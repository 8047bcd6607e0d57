"""What an auxiliary task is: two functions, `init` and `loss`.

The same protocol serves the main task (a value function to learn, an actor and a critic), so that one `update` trains
them all.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from jaxtyping import Array, Float, Key

from rgvf.networks import Representation
from rgvf.trajectory import Trajectory

Params = Any
"""The task's own trainable module."""
TaskState = Any
"""What a task carries along and does not train: question tables, random features, a moving-average encoder."""
Metrics = dict[str, Float[Array, ""]]


class View(NamedTuple):
    """What a loss looks at: a batch of experience, and how the representation sees it."""

    trajectory: Trajectory
    representation: Representation
    states: Float[Array, "T+1 B size"]
    """`representation.unroll(trajectory)`, computed once for all losses that share it."""


class Task(Protocol):
    def init(self, key: Key[Array, ""], representation: Representation) -> tuple[Params, TaskState]: ...

    def loss(
        self, params: Params, state: TaskState, view: View, key: Key[Array, ""]
    ) -> tuple[Float[Array, ""], TaskState, Metrics]: ...
