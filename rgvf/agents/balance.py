"""A balance between auxiliary tasks that is learned: each weighs as much as it can be answered.

A task whose questions cannot be answered from what the agent sees still moves the representation, by steps that follow
the size of its errors only in part: RMSProp divides each gradient by its own size, as far as that is above √ε. Here
each step of the representation is multiplied by a weight,

    e_k ← e_k + r · (relative error of task k in this batch, at most 1, − e_k)
    w_k = (1 − e_k) / max_j (1 − e_j), at least `FLOOR`

where j goes over the tasks whose targets have varied. The others, such as the prediction of a reward that has not come
yet, weigh 1 until theirs do. Then e begins at 0 and needs some 1/r such batches to find its value.

The relative error is √(unexplained variance / variance of the targets): 1 where nothing is explained, 0 where all is.
The targets are those of temporal differences, made of the task's own next answers. So it says how well a task agrees
with itself from step to step. This is easier for longer horizons, and no proof that the answers are right.
The weight changes what a task does to the representation, not what it does to its own head. The main task has no part
in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

RATE = 0.01
"""r."""
FLOOR = 1 / 16
"""The smallest weight, so that a task can always come back."""


class Balance(NamedTuple):
    """The running relative errors of the tasks; a pytree."""

    error: dict[str, Float[Array, ""]]
    """e, by task. It starts at 0, so all weigh the same at first, and stays there until targets vary."""

    @classmethod
    def of(cls, tasks: tuple[str, ...]) -> Balance:
        """A new one."""
        return cls({task: jnp.zeros(()) for task in tasks})

    def observe(self, task: str, relative_error: Float[Array, ""]) -> Balance:
        """Learn from the error of a batch; NaN, where no target varied, says nothing."""
        old = self.error[task]
        new = old + RATE * (jnp.minimum(relative_error, 1.0) - old)
        return Balance(self.error | {task: jnp.where(jnp.isnan(relative_error), old, new)})

    @property
    def weights(self) -> Mapping[str, Float[Array, ""]]:
        """w, by task."""
        errors = jnp.stack(list(self.error.values()))
        highest = jnp.max(1 - errors, where=errors > 0, initial=0.0)
        whole = jnp.where(highest > 0, highest, 1.0)
        weights = jnp.where(errors > 0, jnp.maximum((1 - errors) / whole, FLOOR), 1.0)
        return dict(zip(self.error, weights, strict=True))

    def weigh(self, task: str, step: Any) -> Any:
        """What is done of a task's step of the representation."""
        weight = self.weights[task]
        return jax.tree.map(lambda leaf: weight * leaf, step)
