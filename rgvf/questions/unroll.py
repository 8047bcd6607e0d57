"""A question, unrolled in time: what to do at each step, and what then counts towards the answer."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rgvf.questions.graph import QuestionGraph
from rgvf.questions.targets import UNCONDITIONED

MAX_PLANS = 32
"""A question that branches into more plans than this is not unrolled."""
NEGLIGIBLE = 0.02
"""Once the open part of an answer has no more weight than this, a plan ends."""


class Plan(NamedTuple):
    """One way that a question leads through the next n steps, as arrays. The answer is, in expectation,

        Σ_t<m feature[t] · f(t+1)  +  open[m] · y[nodes](m)    for any m up to n

    where action[t] is done at each step. A question that leads several ways is the sum over its plans.
    """

    action: np.ndarray
    """[n]: the number of an action, or UNCONDITIONED where the policy acts."""
    feature: np.ndarray
    """[n, n_f]: weights of the features of each step."""
    open: np.ndarray
    """[n + 1, nodes]: weights of the answers that are still to be found after so many steps."""
    nodes: np.ndarray
    """Columns of those answers."""

    @property
    def length(self) -> int:
        """n."""
        return len(self.action)


def plans(network: QuestionGraph, node: int, steps: int) -> tuple[Plan, ...]:
    """Unroll a prediction node for at most so many steps; nothing where it leads too many ways.

    Where the nodes to answer next are conditioned on different actions, a plan branches: what came before stays with
    the first branch.
    """
    nodes, inner, outer, condition = _part(network, node)
    start = np.zeros(len(nodes))
    start[nodes.index(node)] = 1.0
    pending, done = [([], [], [start])], []
    while pending:
        actions, features, open_ = pending.pop()
        weight = open_[-1]
        if len(actions) == steps or np.abs(weight).sum() <= NEGLIGIBLE:
            shape = len(actions), network.n_features
            table = np.array(features, float).reshape(shape)
            done.append(Plan(np.array(actions, np.int32), table, np.stack(open_), np.array(nodes)))
            continue
        for action in np.unique(condition[weight != 0]):
            share = np.where(condition == action, weight, 0.0)
            pending.append(([*actions, action], [*features, share @ outer], [*open_, share @ inner]))
            features, open_ = ([np.zeros_like(row) for row in past] for past in (features, open_))
        if len(pending) + len(done) > MAX_PLANS:
            return ()
    return tuple(done)


def _part(network: QuestionGraph, node: int) -> tuple[list[int], np.ndarray, np.ndarray, np.ndarray]:
    """The nodes that a node depends on, the weights between them, those to features, and their conditions."""
    n_p = network.n_predictions
    nodes = [column for column in network.reach(node) if column < n_p]
    place = {column: i for i, column in enumerate(nodes)}
    weights = np.zeros((len(nodes), len(nodes) + network.n_features))
    for source in nodes:
        for target, weight in network.outgoing[source]:
            if weight:
                weights[place[source], place[target] if target < n_p else len(nodes) + target - n_p] = weight
    conditions = [network.conditions[column] for column in nodes]
    condition = np.array([UNCONDITIONED if action is None else action for action in conditions])
    return nodes, weights[:, : len(nodes)], weights[:, len(nodes) :], condition
