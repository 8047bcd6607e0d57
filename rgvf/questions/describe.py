"""A question in words.

The targets of a node are unrolled along its edges until only features are left, each a number of steps ahead after a
sequence of actions. Terms that can be true of one future are described together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rgvf.questions.graph import QuestionGraph

# A question that unrolls into more terms than this is described by other nodes' answers.
MAX_TERMS = 100
FOREVER = 10**9


@dataclass(frozen=True)
class _Term:
    """weight × E[subject `step` steps ahead | the first actions are these, then `tail` or the policy]."""

    weight: float
    actions: tuple[str | None, ...]  # None: what the policy does
    step: int
    subject: str
    tail: str | None = None  # the action kept up for ever, in a discounted sum that is conditioned
    last: int = 0  # the last step that the subject looks at

    def sequence(self) -> tuple[str | None, ...]:
        """The actions, without what the policy does at their end; but what comes before a tail stays."""
        actions = self.actions
        while actions and actions[-1] is None and self.tail is None:
            actions = actions[:-1]
        return actions

    def fits(self, sequence: tuple[str | None, ...], tail: str | None) -> bool:
        """Whether this term is true of the future in which `sequence` is done first, then `tail` or the policy."""
        if self.last == FOREVER:
            return self.sequence() == sequence and self.tail == tail
        return all(
            (self.actions[i] if i < len(self.actions) else None) == (sequence[i] if i < len(sequence) else tail)
            for i in range(self.last)
        )


def describe(network: QuestionGraph, node: str | int | None = None) -> str:
    """The question that a node asks, in words; without a node, one line for each."""
    if node is None:
        return "\n".join(f"{name}: {describe(network, name)}" for name in network.predictions)
    number = network.index.get(node) if isinstance(node, str) else node
    if not isinstance(number, (int, np.integer)) or not 0 <= number < network.n_predictions:
        raise ValueError(f"there is no prediction node {node!r}")
    terms = _merged(_unroll(network, int(number)))
    groups: list[tuple[tuple[str | None, ...], str | None, list[_Term]]] = []
    for term in sorted(terms, key=lambda t: (-len(t.sequence()), -t.last)):
        for sequence, tail, members in groups:
            if term.fits(sequence, tail):
                members.append(term)
                break
        else:
            groups.append((term.sequence(), term.tail, [term]))
    parts = [_phrase(sequence, tail, members) for sequence, tail, members in groups]
    if not parts:
        return "nothing: every weight is 0, so the answer is always 0."
    if len(parts) == 1:
        premise, sought = parts[0]
        return f"{premise}what is {sought}?"
    listed = "; ".join(f"({i}) {premise}{sought}" for i, (premise, sought) in enumerate(parts, 1))
    return f"what do these {len(parts)} add up to: {listed}?"


def _unroll(network: QuestionGraph, node: int) -> list[_Term]:
    terms: list[_Term] = []
    pending = deque[tuple[int, float, tuple[str | None, ...], frozenset[int]]]([(node, 1.0, (), frozenset())])
    while pending:
        node, weight, before, passed = pending.popleft()
        action = network.conditions[node]
        name = None if action is None else network.actions[action]
        after = (*before, name)
        discount = next((edge for target, edge in network.outgoing[node] if target == node), 0.0)
        others = [(target, edge) for target, edge in network.outgoing[node] if target != node and edge]
        if discount:
            terms.append(_discounted(network, others, discount, weight, before, name))
            continue
        for target, edge in others:
            if target >= network.n_predictions:
                feature = network.features[target - network.n_predictions]
                terms.append(_Term(weight * edge, after, len(after), feature, last=len(after)))
            elif target in passed or target == node or len(terms) + len(pending) + len(after) > MAX_TERMS:
                answer = f"the answer to question {network.predictions[target]!r}"
                terms.append(_Term(weight * edge, after, len(after), answer, last=len(after)))
            else:
                pending.append((target, weight * edge, after, passed | {node}))
    return terms


def _discounted(
    network: QuestionGraph,
    others: list[tuple[int, float]],
    discount: float,
    weight: float,
    before: tuple[str | None, ...],
    action: str | None,
) -> _Term:
    names = network.predictions + network.features
    summed = [
        _times(w, names[t] if t >= network.n_predictions else f"the answer to question {names[t]!r}") for t, w in others
    ]
    inside = " + ".join(summed) if summed else "nothing"
    if len(summed) > 1:
        inside = f"({inside})"
    kind = "undiscounted sum" if discount == 1 else f"discounted sum (γ = {discount:.6g})"
    start = len(before) + 1
    since = f" from step {start} on" if start > 1 else ""
    until = ", until the episode ends" if discount == 1 else ""
    return _Term(weight, before, start, f"the {kind} of {inside}{since}{until}", tail=action, last=FOREVER)


def _merged(terms: list[_Term]) -> list[_Term]:
    """Add up terms that occur more than once."""
    sums: dict[_Term, float] = {}
    for term in terms:
        key = replace(term, weight=0.0)
        sums[key] = sums.get(key, 0.0) + term.weight
    return [replace(key, weight=weight) for key, weight in sums.items() if weight != 0]


def _phrase(sequence: tuple[str | None, ...], tail: str | None, terms: list[_Term]) -> tuple[str, str]:
    """The premise, and the quantity that is sought under it."""
    last = max(term.last for term in terms)
    steps = [action if action is not None else "what the policy does" for action in sequence]
    premise = f"if I do {', then '.join(steps)}" if steps else ""
    if tail is not None:
        premise += f" and keep doing {tail} from then on, " if steps else f"if I keep doing {tail}, "
    elif not steps:
        premise = "following the policy, "
    elif last > len(steps):
        premise += " and follow the policy from then on, "
    else:
        premise += ", "
    sums = list(_sums(terms))
    if len(sums) == 1 and " over the next " not in sums[0]:
        return premise, f"the expected {sums[0].removeprefix('the ')}"
    return premise, f"the expected sum of {' + '.join(sums)}"


def _sums(terms: list[_Term]) -> Iterator[str]:
    """Terms in the order of time; one feature over the next n steps is described at once."""
    runs: dict[tuple[str, float], list[int]] = {}
    for term in terms:
        if term.last != FOREVER:
            runs.setdefault((term.subject, term.weight), []).append(term.step)
    parts: list[tuple[int, str]] = []
    for (subject, weight), steps in runs.items():
        if len(steps) > 1 and sorted(steps) == list(range(1, len(steps) + 1)):
            parts.append((1, _times(weight, f"{subject} over the next {len(steps)} steps")))
        else:
            parts += [(s, _times(weight, f"{subject} {s} step{'s' * (s > 1)} ahead")) for s in steps]
    parts += [(t.step + FOREVER, _times(t.weight, t.subject)) for t in terms if t.last == FOREVER]
    yield from (text for _, text in sorted(parts, key=lambda pair: pair[0]))


def _times(weight: float, text: str) -> str:
    return text if weight == 1 else f"{weight:.6g} × {text}"
