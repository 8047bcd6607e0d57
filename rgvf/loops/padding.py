"""Agents whose question networks differ in size, padded to one size so that one program updates them all.

Padding is internal to `JointLoop`: checkpoints and trained agents never have it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax

from rgvf.agents import Agent
from rgvf.features import can_be_padded
from rgvf.networks import Head
from rgvf.tasks import QuestionArrays, pad_questions

PaddedSizes = Mapping[str, tuple[int, int]]
"""Predictions and features to pad to, by task."""


def common_sizes(agents: Sequence[Agent]) -> PaddedSizes:
    """The largest sizes among the agents, of those tasks in which they differ and that can be padded."""
    sizes: dict[str, tuple[int, int]] = {}
    for task in agents[0].task_states:
        states = [agent.task_states[task] for agent in agents]
        if not all(isinstance(state, QuestionArrays) for state in states):
            continue
        found = {(state.table.condition.shape[-1], state.table.feature.shape[-1]) for state in states}
        if len(found) > 1 and all(map(_can_be_padded, states)):
            sizes[task] = max(n for n, _ in found), max(n for _, n in found)
    return sizes


def _can_be_padded(state: QuestionArrays) -> bool:
    return can_be_padded(state.features) and state.table.is_narrow


def pad_agent(agent: Agent, sizes: PaddedSizes) -> Agent:
    """The agent of one seed with nodes added that never learn."""
    modules, states = dict(agent.modules), dict(agent.task_states)
    optimiser_states = dict(agent.optimiser_states)
    for task, (n_predictions, n_features) in sizes.items():
        modules[task] = agent.modules[task].padded(n_predictions)
        states[task] = pad_questions(agent.task_states[task], n_predictions, n_features)
        optimiser_states[task] = _pad_heads(agent.optimiser_states[task], n_predictions)
    return Agent(modules, states, optimiser_states, agent.balance)


def unpad_agent(agent: Agent, like: Agent) -> Agent:
    """The agent of one seed without its padding: arrays cut to the shapes that `like` has."""
    kept, structure = jax.tree.flatten(like)
    leaves = zip(jax.tree.leaves(agent), kept, strict=True)
    return jax.tree.unflatten(structure, [leaf[tuple(map(slice, each.shape))] for leaf, each in leaves])


def _pad_heads(optimiser_state: Any, n_predictions: int) -> Any:
    """An optimiser keeps statistics in the shape of the parameters, so it holds heads as well."""
    return jax.tree.map(
        lambda each: each.padded(n_predictions) if isinstance(each, Head) else each,
        optimiser_state,
        is_leaf=lambda each: isinstance(each, Head),
    )
