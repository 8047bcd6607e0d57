"""A question in words. Terms that can be true of one future are described together."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from rgvf.questions.graph import QuestionGraph
from rgvf.questions.terms import Future, Term, futures


def describe(network: QuestionGraph, node: str | int | None = None) -> str:
    """The question that a node asks, in words; without a node, one line for each."""
    if node is None:
        return "\n".join(f"{name}: {describe(network, name)}" for name in network.predictions)
    number = network.index.get(node) if isinstance(node, str) else node
    if not isinstance(number, (int, np.integer)) or not 0 <= number < network.n_predictions:
        raise ValueError(f"there is no prediction node {node!r}")
    parts = [(_premise(future), _sought(network, future.terms)) for future in futures(network, int(number))]
    if not parts:
        return "nothing: every weight is 0, so the answer is always 0."
    if len(parts) == 1:
        premise, sought = parts[0]
        return f"{premise}what is {sought}?"
    listed = "; ".join(f"({i}) {premise}{sought}" for i, (premise, sought) in enumerate(parts, 1))
    return f"what do these {len(parts)} add up to: {listed}?"


def _premise(future: Future) -> str:
    steps = ", then ".join("what the policy does" if action is None else action for action in future.actions)
    if not steps:
        return "following the policy, " if future.kept_up is None else f"if I keep doing {future.kept_up}, "
    if future.kept_up is not None:
        return f"if I do {steps} and keep doing {future.kept_up} from then on, "
    looks_further = any(term.discount or term.step > len(future.actions) for term in future.terms)
    return f"if I do {steps} and follow the policy from then on, " if looks_further else f"if I do {steps}, "


def _sought(network: QuestionGraph, terms: list[Term]) -> str:
    """The quantity that is sought in one future."""
    parts = list(_parts(network, terms))
    if len(parts) == 1 and " over the next " not in parts[0]:
        return f"the expected {parts[0].removeprefix('the ')}"
    return f"the expected sum of {' + '.join(parts)}"


def _parts(network: QuestionGraph, terms: list[Term]) -> Iterator[str]:
    """Terms in the order of time, discounted sums last; one feature over the next n steps is described at once."""
    steps_of: dict[tuple[str, float], list[int]] = {}
    parts: list[tuple[float, int, str]] = []
    for term in terms:
        if term.discount:
            parts.append((math.inf, term.step, _times(term.weight, _discounted_sum(network, term))))
        else:
            steps_of.setdefault((_subject(network, term.nodes[0][0]), term.weight), []).append(term.step)
    for (subject, weight), steps in steps_of.items():
        if len(steps) > 1 and sorted(steps) == list(range(1, len(steps) + 1)):
            parts.append((1, 0, _times(weight, f"{subject} over the next {len(steps)} steps")))
        else:
            parts += [(step, 0, _times(weight, f"{subject} {step} step{'s' * (step > 1)} ahead")) for step in steps]
    yield from (text for *_, text in sorted(parts, key=lambda part: part[:2]))


def _discounted_sum(network: QuestionGraph, term: Term) -> str:
    inside = " + ".join(_times(weight, _subject(network, column)) for column, weight in term.nodes) or "nothing"
    inside = f"({inside})" if len(term.nodes) > 1 else inside
    since = f" from step {term.step} on" if term.step > 1 else ""
    if term.discount == 1:
        return f"the undiscounted sum of {inside}{since}, until the episode ends"
    return f"the discounted sum (γ = {term.discount:.6g}) of {inside}{since}"


def _subject(network: QuestionGraph, column: int) -> str:
    if column < network.n_predictions:
        return f"the answer to question {network.predictions[column]!r}"
    return network.features[column - network.n_predictions]


def _times(weight: float, text: str) -> str:
    return text if weight == 1 else f"{weight:.6g} × {text}"
