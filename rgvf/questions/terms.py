"""A question as a sum of terms: what it looks at, how many steps ahead, after which actions.

A node is unrolled along its edges until only features are left. Terms that can be true of one future come together.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import NamedTuple

from rgvf.questions.graph import QuestionGraph

# A question that unrolls into more terms than this looks at other nodes' answers.
MAX_TERMS = 100

Actions = tuple[str | None, ...]
"""What is done, step by step; None: what the policy does."""


@dataclass(frozen=True)
class Term:
    """weight × E[Σ_j w_j · y_j at `step`]; with a discount γ, weight × E[Σ_k γ^k Σ_j w_j · y_j at `step` + k]."""

    weight: float
    actions: Actions
    """What is done up to `step`; with a discount, the last of them is kept up for ever."""
    nodes: tuple[tuple[int, float], ...]
    """(column, w_j): features, and nodes whose answers are not unrolled. One of weight 1 unless there is a discount."""
    discount: float = 0.0

    @property
    def step(self) -> int:
        """How many steps ahead it looks; with a discount, at first."""
        return len(self.actions)

    @property
    def premise(self) -> tuple[Actions, str | None]:
        """The actions without what the policy does at their end, and the one that is kept up after them."""
        actions, kept_up = (self.actions[:-1], self.actions[-1]) if self.discount else (self.actions, None)
        while actions and actions[-1] is None and kept_up is None:
            actions = actions[:-1]
        return actions, kept_up


class Future(NamedTuple):
    """Terms that are true of one future."""

    actions: Actions
    """What is done first."""
    kept_up: str | None
    """The action that is done from then on; None: what the policy does."""
    terms: list[Term]

    def has(self, term: Term) -> bool:
        """Whether the term is true of this future."""
        if term.discount:
            return term.premise == (self.actions, self.kept_up)
        later = (self.kept_up,) * (term.step - len(self.actions))
        return term.actions == (self.actions + later)[: term.step]


def futures(network: QuestionGraph, node: int) -> list[Future]:
    """The terms of a prediction node, by the futures that they are true of. What it asks for is the sum of all."""
    grouped: list[Future] = []
    terms = _merged(_unroll(network, node))
    for term in sorted(terms, key=lambda term: (-len(term.premise[0]), not term.discount, -term.step)):
        future = next((future for future in grouped if future.has(term)), None)
        if future is None:
            future = Future(*term.premise, [])
            grouped.append(future)
        future.terms.append(term)
    return grouped


def _unroll(network: QuestionGraph, node: int) -> list[Term]:
    terms: list[Term] = []
    pending = deque[tuple[int, float, Actions, frozenset[int]]]([(node, 1.0, (), frozenset())])
    while pending:
        node, weight, before, passed = pending.popleft()
        condition = network.conditions[node]
        actions = (*before, None if condition is None else network.actions[condition])
        discount = next((edge for target, edge in network.outgoing[node] if target == node), 0.0)
        others = tuple((target, edge) for target, edge in network.outgoing[node] if target != node and edge)
        if discount:
            terms.append(Term(weight, actions, others, discount))
            continue
        for target, edge in others:
            is_last = target >= network.n_predictions or target in passed
            if is_last or len(terms) + len(pending) + len(actions) > MAX_TERMS:
                terms.append(Term(weight * edge, actions, ((target, 1.0),)))
            else:
                pending.append((target, weight * edge, actions, passed | {node}))
    return terms


def _merged(terms: list[Term]) -> list[Term]:
    """Add up terms that occur more than once."""
    weights: dict[Term, float] = {}
    for term in terms:
        key = replace(term, weight=0.0)
        weights[key] = weights.get(key, 0.0) + term.weight
    return [replace(term, weight=weight) for term, weight in weights.items() if weight]
