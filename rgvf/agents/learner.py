"""The agent and its one update.

An agent is a representation and tasks that learn from it. Each task has its own optimiser. A task either trains the
representation or only reads it (stop-gradient).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import equinox as eqx
import jax
import optax
from jaxtyping import Array, Float, Key

from rgvf.agents.balance import Balance
from rgvf.networks import Representation
from rgvf.tasks import RELATIVE_ERROR, Metrics, Task, View
from rgvf.trajectory import Trajectory

REPRESENTATION = "representation"
"""The name of the representation among an agent's modules."""


@dataclass(frozen=True)
class OptimisedTask:
    """A task, its optimiser, and whether its gradient reaches the representation."""

    name: str
    task: Task
    optimiser: optax.GradientTransformation
    trains_representation: bool = True


class Agent(NamedTuple):
    """All that learning changes, by name of the task; a pytree."""

    modules: dict[str, Any]
    """The representation and each task's own module."""
    task_states: dict[str, Any]
    """What each task carries along and does not train."""
    optimiser_states: dict[str, optax.OptState]
    balance: Balance | None = None
    """The learned balance between auxiliary tasks, if there is one."""


@dataclass(frozen=True)
class Learner:
    """How to make an agent and how to update it: pure functions, to be jitted and vmapped over seeds."""

    representation: Callable[[Key[Array, ""]], Representation]
    tasks: Sequence[OptimisedTask]
    balanced: tuple[str, ...] = ()
    """Tasks whose weights in the updates of the representation are learned."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", tuple(self.tasks))  # a list has no hash

    def init(self, key: Key[Array, ""]) -> Agent:
        """A new agent."""
        keys = jax.random.split(key, len(self.tasks) + 1)
        representation = self.representation(keys[0])
        modules: dict[str, Any] = {REPRESENTATION: representation}
        task_states: dict[str, Any] = {}
        for each, task_key in zip(self.tasks, keys[1:], strict=True):
            modules[each.name], task_states[each.name] = each.task.init(task_key, representation)
        optimiser_states = {t.name: t.optimiser.init(_parameters(_touched(t, modules))) for t in self.tasks}
        return Agent(modules, task_states, optimiser_states, Balance.of(self.balanced) if self.balanced else None)

    def update(self, agent: Agent, trajectory: Trajectory, key: Key[Array, ""]) -> tuple[Agent, Metrics]:
        """Learn from one batch of experience.

        For each task k in order, with its loss L_k, optimiser and parameters θ_k (with the representation's φ, or
        without them under stop-gradient):

            (θ_k, φ) ← (θ_k, φ) − optimiser_k(∇ L_k(θ_k, φ; trajectory))

        Where a balance is learned, the step of φ is multiplied by the task's weight.

        Each gradient is taken at the parameters that the task before left (the paper's Section 3.3). Tasks that only
        read φ leave it as it was, so they share one forward and backward pass with the next task, exactly.

        Args:
            agent: what `init` or the last update gave.
            trajectory: T steps of B environments.
            key: for losses that need randomness.

        Returns:
            The next agent, and numbers to log by "TASK/NAME".
        """
        metrics: Metrics = {}
        for group in group_by_pass(self.tasks):
            key, group_key = jax.random.split(key)
            agent, group_metrics = _update_group(group, agent, trajectory, group_key)
            metrics |= group_metrics
        return agent, metrics


def group_by_pass(tasks: Sequence[OptimisedTask]) -> list[tuple[OptimisedTask, ...]]:
    """Groups of tasks, in order, that share one forward and backward pass: each ends with one that trains φ."""
    groups: list[tuple[OptimisedTask, ...]] = []
    current: list[OptimisedTask] = []
    for each in tasks:
        current.append(each)
        if each.trains_representation:
            groups.append(tuple(current))
            current = []
    return [*groups, tuple(current)] if current else groups


def _update_group(
    group: Sequence[OptimisedTask], agent: Agent, trajectory: Trajectory, key: Key[Array, ""]
) -> tuple[Agent, Metrics]:
    modules: dict[str, Any] = {}
    for each in group:
        modules |= _touched(each, agent.modules)
    keys = jax.random.split(key, len(group))

    def total_loss(modules: dict[str, Any]) -> tuple[Float[Array, ""], tuple[dict[str, Any], Metrics]]:
        representation = modules.get(REPRESENTATION, agent.modules[REPRESENTATION])
        view = View.of(trajectory, representation)
        total: Any = 0.0
        states: dict[str, Any] = {}
        metrics: Metrics = {}
        for each, task_key in zip(group, keys, strict=True):
            shown = view if each.trains_representation else _stop_gradient(view)
            name = each.name
            loss, states[name], logged = each.task.loss(modules[name], agent.task_states[name], shown, task_key)
            total = total + loss
            metrics |= {f"{name}/{metric}": value for metric, value in logged.items()}
        return total, (states, metrics)

    gradients, (task_states, metrics) = eqx.filter_grad(total_loss, has_aux=True)(modules)
    new_modules, new_optimiser_states = dict(agent.modules), dict(agent.optimiser_states)
    balance = agent.balance
    updates: Any
    for each in group:
        touched = _touched(each, agent.modules)
        metrics[f"{each.name}/gradient_norm"] = optax.tree.norm(_touched(each, gradients))
        with jax.numpy_dtype_promotion("standard"):  # Optax converts types on purpose
            updates, new_optimiser_states[each.name] = each.optimiser.update(
                _touched(each, gradients), agent.optimiser_states[each.name], _parameters(touched)
            )
        if balance is not None and each.name in balance.error:
            balance = balance.observe(each.name, metrics[f"{each.name}/{RELATIVE_ERROR}"])
            updates[REPRESENTATION] = balance.weigh(each.name, updates[REPRESENTATION])
            metrics[f"{each.name}/weight"] = balance.weights[each.name]
        new_modules |= eqx.apply_updates(touched, updates)
    return Agent(new_modules, agent.task_states | task_states, new_optimiser_states, balance), metrics


def _touched(each: OptimisedTask, modules: dict[str, Any]) -> dict[str, Any]:
    """The modules that a task trains."""
    names = (REPRESENTATION, each.name) if each.trains_representation else (each.name,)
    return {name: modules[name] for name in names}


def _parameters(modules: Any) -> Any:
    return eqx.filter(modules, eqx.is_inexact_array)


def _stop_gradient(view: View) -> View:
    return jax.tree.map(lambda x: jax.lax.stop_gradient(x) if eqx.is_inexact_array(x) else x, view)
