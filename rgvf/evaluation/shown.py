"""Which predictions a film shows, and their titles."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from rgvf.questions import UNCONDITIONED, Plan, QuestionNetwork, plans
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
_HORIZON = 20  # steps that a title looks ahead


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
        (task, node): each / max(values.max(), 1e-12)
        for task, values in spread.items()
        for node, each in enumerate(values)
    }
    living = [pair for pair, each in relative.items() if each > 1e-3] or list(relative)
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
            if any(each[:2] == (task, node) for each in others):
                continue
            like = any(_correlation(answers[task][:, node], answers[o.task][:, o.node]) > SIMILAR for o in others)
            if like and choosy:
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
    """A question as far as titles look ahead."""

    shown: Shown
    kind: str
    """One of `KINDS`, or conditional where it leads too many ways."""
    is_short: bool
    """It can be said in a few words."""


def _question(task: str, network: QuestionNetwork, node: int) -> _Question:
    """Everything about a question, which is unrolled once for it."""
    ways = plans(network, node, _HORIZON, negligible=0.0)
    named = [np.flatnonzero(way.action != UNCONDITIONED).max(initial=-1) + 1 for way in ways]
    conditions = int(max(named, default=_HORIZON))  # how many steps ahead it names actions
    used = sorted({int(k) for way in ways for k in np.flatnonzero(way.feature.any(0))})
    endless = any(way.length == _HORIZON for way in ways)
    kind = " ".join(["conditional"] * (conditions > 0) + ["sum"] * endless)
    is_short = conditions <= MAX_ACTIONS and len(used) <= MAX_FEATURES
    name = network.predictions[node]
    is_named = task == GivenQuestions.name and not name.replace(".", "").isdecimal()
    title = name if is_named or not _is_plain(ways) else _title(network, ways[0], conditions)
    features = tuple(network.features[k] for k in used)
    return _Question(Shown(task, node, title, features, conditions > 0), kind, is_short)


def _is_plain(ways: tuple[Plan, ...]) -> bool:
    """Words can say it: there is one way, and what counts for ever does so regularly."""
    return len(ways) == 1 and all(_sum_start(weights) != _HORIZON - 1 for weights in ways[0].feature.T)


def _title(network: QuestionNetwork, way: Plan, conditions: int) -> str:
    """A question in a few words: "if left, fire: patch 3", "patch 3, discounted sum"."""
    actions = [
        "any" if action == UNCONDITIONED else action_name(network.actions[action]) for action in way.action[:conditions]
    ]
    if len(actions) == _HORIZON and len(set(actions)) == 1:
        actions = [f"always {actions[0]}"]
    elif len(actions) > MAX_WORDS:
        actions = [*actions[: MAX_WORDS - 1], "…"]
    terms = [*_single_steps(network, way.feature, conditions), *_sums(network, way.feature)]
    if not actions and len(terms) == 1 and " of " in terms[0]:
        kind, _, subject = terms[0].partition(" of ")
        return f"{subject}, {kind}"
    words = " + ".join([*terms[: MAX_WORDS - 1], "…"] if len(terms) > MAX_WORDS else terms)
    return f"if {', '.join(actions)}: {words}" if actions else words


def action_name(name: str) -> str:
    """As titles show an action; Gymnasium often has numbers only."""
    return f"action {name}" if name.isdecimal() else name


def _sum_start(weights: np.ndarray) -> int:
    """The step from which on a feature counts for ever, each time by the same factor less; the last one where it does
    so irregularly, and none where it does not."""
    if len(weights) < _HORIZON or weights[-1] == 0:
        return len(weights)
    start, factor = _HORIZON - 1, weights[-1] / (weights[-2] or np.inf)
    while start and factor and np.isclose(weights[start], factor * weights[start - 1]):
        start -= 1
    return start


def _single_steps(network: QuestionNetwork, weights: np.ndarray, conditions: int) -> list[str]:
    """What counts at single steps, in the order of time. Steps are numbered unless one follows the other from the first
    on, or there is only the one after the actions."""
    found = [
        (step + 1, _times(weights[step, k], _feature(network, k)))
        for step, k in np.argwhere(weights).tolist()
        if step < _sum_start(weights[:, k])
    ]
    steps = [step for step, _ in found]
    if len(steps) > 1 and steps == list(range(1, len(steps) + 1)) and len({word for _, word in found}) == 1:
        return [f"{found[0][1]} over {len(steps)} steps"]
    if steps == list(range(1, len(steps) + 1)) or steps == [conditions]:
        return [word for _, word in found]
    return [f"{word} at step {step}" for step, word in found]


def _sums(network: QuestionNetwork, weights: np.ndarray) -> list[str]:
    """What counts for ever."""
    found: list[tuple[int, str]] = []
    for k in range(weights.shape[1]):
        start = _sum_start(weights[:, k])
        if start < len(weights):
            kind = "sum" if np.isclose(weights[-1, k], weights[-2, k]) else "discounted sum"
            since = f" from step {start + 1}" if start else ""
            found.append((start, _times(weights[start, k], f"{kind} of {_feature(network, k)}{since}")))
    return [words for _, words in sorted(found, key=lambda each: each[0])]


def _feature(network: QuestionNetwork, k: int) -> str:
    return network.features[k].replace("random-patches/", "patch ").replace("random-linear/", "feature ")


def _times(weight: float, words: str) -> str:
    return words if np.isclose(weight, 1) else f"{weight:.3g} × {words}"
