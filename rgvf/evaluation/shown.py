"""Which predictions a film shows, and their titles."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from rgvf.questions import Future, QuestionNetwork, futures
from rgvf.tasks import GivenQuestions

KINDS = (("sum", 2), ("conditional sum", 1), ("conditional", 1))
"""How many predictions of each kind are chosen; one that is conditional without a sum looks a few steps ahead only."""
MAX_ACTIONS = 2
MAX_FEATURES = 2
"""Questions that name more actions or features than this are chosen only where there are no others."""
SIMILAR = 0.9
"""Answers with a correlation above this count as the same."""
MAX_WORDS = 4
"""Actions or features of a title."""


class Shown(NamedTuple):
    """A prediction that is shown."""

    task: str
    node: int
    """Its column among the answers of the task."""
    title: str
    """The name of the node, where it is the user's; else the question in a few words."""
    features: tuple[str, ...]
    """What it is about."""
    is_conditional: bool
    """It names actions, so its answer cannot be read from what the agent did."""


def shown(networks: Mapping[str, QuestionNetwork], names: tuple[str, ...]) -> list[Shown]:
    """The predictions of these names. ValueError where there is none."""
    if names and not networks:
        raise ValueError("this agent has no question network, so it makes no predictions")
    found: list[Shown] = []
    for name in names:
        task = next((task for task, network in networks.items() if name in network.predictions), None)
        if task is None:
            raise ValueError(f"there is no prediction node {name!r}; the run's questions*.json name them")
        found.append(_question(task, networks[task], networks[task].index[name]).shown)
    return found


def choose(networks: Mapping[str, QuestionNetwork], answers: Mapping[str, np.ndarray]) -> list[Shown]:
    """Some predictions whose answers vary most: discounted sums and the like first, then those that name actions.

    An answer's variation is its standard deviation along the game, relative to the largest of its task. An answer that
    goes up and down like one that was chosen already is left out as long as there are others of its kind, and so is one
    that never changes.

    Args:
        networks: question networks by task.
        answers: of each task: [T, n_p].
    """
    ranked = _ranked(answers)
    ask = functools.cache(lambda task, node: _question(task, networks[task], node))
    chosen: list[Shown] = []
    for kind, wanted in KINDS:
        chosen += _some(ask, answers, ranked, chosen, wanted, kind)
    missing = sum(wanted for _, wanted in KINDS) - len(chosen)
    return chosen + _some(ask, answers, ranked, chosen, missing)


def _ranked(answers: Mapping[str, np.ndarray]) -> list[tuple[str, int]]:
    """Task and column of every answer that changes, those that vary most first; all where none changes."""
    spread = {task: values.std(0) for task, values in answers.items()}
    relative = {
        (task, node): deviation / max(deviations.max(), 1e-12)
        for task, deviations in spread.items()
        for node, deviation in enumerate(deviations)
    }
    living = [pair for pair, deviation in relative.items() if deviation > 1e-3] or list(relative)
    return sorted(living, key=lambda pair: -relative[pair])


def _some(
    ask: Callable[[str, int], _Question],
    answers: Mapping[str, np.ndarray],
    candidates: list[tuple[str, int]],
    before: list[Shown],
    wanted: int,
    kind: str | None = None,
) -> list[Shown]:
    """Candidates of a kind: short ones about other features first, then all that are unlike those before, then any."""
    found: list[Shown] = []
    for choosy in (2, 1, 0):
        for task, node in candidates:
            if len(found) == wanted:
                return found
            others = [*before, *found]
            if any(other[:2] == (task, node) for other in others):
                continue
            likeness = [_correlation(answers[task][:, node], answers[other.task][:, other.node]) for other in others]
            if choosy and max(likeness, default=0) > SIMILAR:
                continue
            question = ask(task, node)
            known = {name for other in others for name in other.features}
            is_fine = question.is_short and known.isdisjoint(question.shown.features)
            if kind in (None, question.kind) and (is_fine or choosy < 2):
                found.append(question.shown)
    return found


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0 else 1.0


class _Question(NamedTuple):
    """A question, and what decides whether it is chosen."""

    shown: Shown
    kind: str
    """One of `KINDS`, or empty where it looks a few steps ahead without naming actions."""
    is_short: bool
    """It can be said in a few words."""


def _question(task: str, network: QuestionNetwork, node: int) -> _Question:
    """Everything about a question, which is unrolled once for it."""
    n_p, name, reached = network.n_predictions, network.predictions[node], network.reach(node)
    features = tuple(network.features[column - n_p] for column in sorted(reached) if column >= n_p)
    is_conditional = any(network.conditions[column] is not None for column in reached if column < n_p)
    ways = futures(network, node)
    terms = [term for way in ways for term in way.terms]
    is_unrolled = all(column >= n_p for term in terms for column, _ in term.nodes)
    is_endless = not is_unrolled or any(term.discount for term in terms)
    kind = " ".join(["conditional"] * is_conditional + ["sum"] * is_endless)
    n_actions = max((len(way.actions) if way.kept_up is None else math.inf for way in ways), default=0)
    is_short = n_actions <= MAX_ACTIONS and len(features) <= MAX_FEATURES
    is_named = task == GivenQuestions.name and not name.replace(".", "").isdecimal()
    has_words = is_unrolled and len(ways) == 1 and len(features) > 0
    title = _title(network, ways[0]) if has_words and not is_named else name
    return _Question(Shown(task, node, title, features, is_conditional), kind, is_short)


def _title(network: QuestionNetwork, future: Future) -> str:
    """A question in a few words: "if left, fire: patch 3", "patch 3, discounted sum"."""
    actions = ["any" if action is None else action_name(action) for action in future.actions]
    if future.kept_up is not None:
        actions.append(f"always {action_name(future.kept_up)}")
    single_steps, sums = _single_steps(network, future), _sums(network, future)
    if not actions and not single_steps and len(sums) == 1:
        kind, subject = sums[0]
        return f"{subject}, {kind}"
    words = " + ".join(_few([*single_steps, *(f"{kind} of {subject}" for kind, subject in sums)]))
    return f"if {', '.join(_few(actions))}: {words}" if actions else words


def action_name(name: str) -> str:
    """As titles show an action; Gymnasium often has numbers only."""
    return f"action {name}" if name.isdecimal() else name


def _few(words: list[str]) -> list[str]:
    return [*words[: MAX_WORDS - 1], "…"] if len(words) > MAX_WORDS else words


def _single_steps(network: QuestionNetwork, future: Future) -> list[str]:
    """What counts at single steps, in the order of time. Steps are numbered unless one follows the other from the first
    on, or there is only the one after the actions."""
    terms = sorted((term for term in future.terms if not term.discount), key=lambda term: (term.step, term.nodes))
    steps = [term.step for term in terms]
    words = [_times(term.weight, _feature(network, term.nodes[0][0])) for term in terms]
    in_order = steps == list(range(1, len(steps) + 1))
    if in_order and len(steps) > 1 and len(set(words)) == 1:
        return [f"{words[0]} over {len(steps)} steps"]
    if in_order or steps == [len(future.actions)]:
        return words
    return [f"{word} at step {step}" for word, step in zip(words, steps, strict=True)]


def _sums(network: QuestionNetwork, future: Future) -> list[tuple[str, str]]:
    """What counts for ever: the kind of sum, and of what."""
    found: list[tuple[str, str]] = []
    for term in sorted((term for term in future.terms if term.discount), key=lambda term: term.step):
        kind = "sum" if term.discount == 1 else "discounted sum"
        since = f" from step {term.step}" if term.step > 1 else ""
        for column, weight in term.nodes:
            found.append((_times(term.weight * weight, kind), f"{_feature(network, column)}{since}"))
    return found


def _feature(network: QuestionNetwork, column: int) -> str:
    name = network.features[column - network.n_predictions]
    return name.replace("random-patches/", "patch ").replace("random-linear/", "feature ")


def _times(weight: float, words: str) -> str:
    return words if np.isclose(weight, 1) else f"{weight:.3g} × {words}"
