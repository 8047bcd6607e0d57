"""The agent and its one update.

An agent is a representation and some tasks that learn from it. Each task has an optimiser of its own. A task either
trains the representation or only looks at it (stop-gradient). Updates are applied one after another, each gradient
taken at the parameters that the one before left, on the same batch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import optax
from jaxtyping import Array, Float, Key

from rgvf.auxiliary.protocol import Metrics, Task, View
from rgvf.networks import Representation
from rgvf.trajectory import Trajectory

REPRESENTATION = "representation"


@dataclass(frozen=True)
class Trained:
    """A task, how it is optimised, and whether its gradient reaches the representation."""

    name: str
    task: Task
    optimiser: optax.GradientTransformation
    trains_representation: bool = True


class Agent(NamedTuple):
    """All that learning changes, by name; a pytree."""

    modules: dict[str, Any]
    """The representation and each task's own module."""
    task_states: dict[str, Any]
    optimiser_states: dict[str, optax.OptState]


@dataclass(frozen=True)
class Learner:
    """How to make an agent and how to update it: pure functions, to be jitted and vmapped over seeds."""

    representation: Callable[[Key[Array, ""]], Representation]
    tasks: Sequence[Trained]

    def init(self, key: Key[Array, ""]) -> Agent:
        keys = jax.random.split(key, len(self.tasks) + 1)
        representation = self.representation(keys[0])
        modules: dict[str, Any] = {REPRESENTATION: representation}
        task_states: dict[str, Any] = {}
        for trained, task_key in zip(self.tasks, keys[1:], strict=True):
            modules[trained.name], task_states[trained.name] = trained.task.init(task_key, representation)
        optimiser_states = {t.name: t.optimiser.init(_parameters(_touched(t, modules))) for t in self.tasks}
        return Agent(modules, task_states, optimiser_states)

    def update(self, agent: Agent, trajectory: Trajectory, key: Key[Array, ""]) -> tuple[Agent, Metrics]:
        """Learn from one batch of experience."""
        metrics: Metrics = {}
        for group in shared_passes(self.tasks):
            key, group_key = jax.random.split(key)
            agent, group_metrics = _update_together(group, agent, trajectory, group_key)
            metrics |= group_metrics
        return agent, metrics


def shared_passes(tasks: Sequence[Trained]) -> list[tuple[Trained, ...]]:
    """Split the tasks into runs that can share one forward and backward pass exactly.

    A task that only looks at the representation leaves everything that the next one reads as it was, so both can be
    differentiated at the same parameters.
    """
    groups: list[tuple[Trained, ...]] = []
    current: list[Trained] = []
    for trained in tasks:
        current.append(trained)
        if trained.trains_representation:
            groups.append(tuple(current))
            current = []
    return [*groups, tuple(current)] if current else groups


def _update_together(
    group: Sequence[Trained], agent: Agent, trajectory: Trajectory, key: Key[Array, ""]
) -> tuple[Agent, Metrics]:
    modules: dict[str, Any] = {}
    for trained in group:
        modules |= _touched(trained, agent.modules)
    keys = jax.random.split(key, len(group))

    def total_loss(modules: dict[str, Any]) -> tuple[Float[Array, ""], tuple[dict[str, Any], Metrics]]:
        representation = modules.get(REPRESENTATION, agent.modules[REPRESENTATION])
        view = View(trajectory, representation, representation.unroll(trajectory))
        total: Any = 0.0
        states: dict[str, Any] = {}
        metrics: Metrics = {}
        for trained, task_key in zip(group, keys, strict=True):
            seen = view if trained.trains_representation else _stop_gradient(view)
            name = trained.name
            loss, states[name], told = trained.task.loss(modules[name], agent.task_states[name], seen, task_key)
            total = total + loss
            metrics |= {f"{name}/{metric}": value for metric, value in told.items()}
        return total, (states, metrics)

    gradients, (task_states, metrics) = eqx.filter_grad(total_loss, has_aux=True)(modules)
    new_modules, new_optimiser_states = dict(agent.modules), dict(agent.optimiser_states)
    for trained in group:
        touched = _touched(trained, agent.modules)
        updates, new_optimiser_states[trained.name] = trained.optimiser.update(
            _touched(trained, gradients), agent.optimiser_states[trained.name], _parameters(touched)
        )
        new_modules |= eqx.apply_updates(touched, updates)
    return Agent(new_modules, agent.task_states | task_states, new_optimiser_states), metrics


def _touched(trained: Trained, modules: dict[str, Any]) -> dict[str, Any]:
    """The modules that a task trains."""
    names = (REPRESENTATION, trained.name) if trained.trains_representation else (trained.name,)
    return {name: modules[name] for name in names}


def _parameters(modules: Any) -> Any:
    return eqx.filter(modules, eqx.is_inexact_array)


def _stop_gradient(view: View) -> View:
    return jax.tree.map(lambda x: jax.lax.stop_gradient(x) if eqx.is_inexact_array(x) else x, view)
