"""Which predictions a film shows, and their titles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from rgvf.questions import UNCONDITIONED, Plan, QuestionNetwork, plans

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
        found.append(_shown(networks, task, networks[task].index[name]))
    return found


def choose(networks: Mapping[str, QuestionNetwork], answers: Mapping[str, np.ndarray]) -> list[Shown]:
    """Some predictions whose answers vary most: discounted sums and the like first, then those that name actions.

    An answer's variation is its standard deviation along the game, relative to the largest of its task. An answer that
    goes up and down like one that was chosen already is left out, and so is one that never changes, as long as there
    are others.

    Args:
        networks: question networks by task.
        answers: of each task: [T, n_p].
    """
    ranked = _ranked(answers)
    chosen: list[Shown] = []
    for kind, wanted in KINDS:
        chosen += _some(networks, answers, ranked, chosen, wanted, kind)
    missing = sum(wanted for _, wanted in KINDS) - len(chosen)
    return chosen + _some(networks, answers, ranked, chosen, missing)


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
    networks: Mapping[str, QuestionNetwork],
    answers: Mapping[str, np.ndarray],
    candidates: list[tuple[str, int]],
    before: list[Shown],
    wanted: int,
    kind: str | None = None,
) -> list[Shown]:
    """The first candidates of a kind that are unlike those before; short questions about other features come first."""
    found: list[Shown] = []
    for choosy in (True, False):
        for task, node in candidates:
            if len(found) == wanted:
                return found
            others = [*before, *found]
            if any(_correlation(answers[task][:, node], answers[o.task][:, o.node]) > SIMILAR for o in others):
                continue
            question = _unrolled(networks[task], node)
            each = _shown(networks, task, node)
            known = {name for other in others for name in other.features}
            is_fine = question.is_short and known.isdisjoint(each.features)
            if kind in (None, question.kind) and (is_fine or not choosy):
                found.append(each)
    return found


def _correlation(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(a @ b / size) if size > 0 else 1.0


class _Question(NamedTuple):
    """A question as far as titles look ahead."""

    ways: tuple[Plan, ...]
    conditions: int
    """How many steps ahead it names actions."""
    features: tuple[int, ...]

    @property
    def kind(self) -> str:
        """One of `KINDS`, or conditional where it leads too many ways."""
        endless = any(way.length == _HORIZON for way in self.ways)
        return "conditional" * (self.conditions > 0) + " " * (endless and self.conditions > 0) + "sum" * endless

    @property
    def is_short(self) -> bool:
        """It can be said in a few words."""
        return self.conditions <= MAX_ACTIONS and len(self.features) <= MAX_FEATURES


def _unrolled(network: QuestionNetwork, node: int) -> _Question:
    ways = plans(network, node, _HORIZON, negligible=0.0)
    named = [np.flatnonzero(way.action != UNCONDITIONED).max(initial=-1) + 1 for way in ways]
    used = {int(k) for way in ways for k in np.flatnonzero(way.feature.any(0))}
    return _Question(ways, int(max(named, default=_HORIZON)), tuple(sorted(used)))


def _shown(networks: Mapping[str, QuestionNetwork], task: str, node: int) -> Shown:
    network = networks[task]
    question = _unrolled(network, node)
    features = tuple(network.features[k] for k in question.features)
    return Shown(task, node, title(network, node), features, question.conditions > 0)


def title(network: QuestionNetwork, node: int) -> str:
    """A question in a few words: "if LEFT, FIRE: patch 3", "patch 3, discounted sum"."""
    question = _unrolled(network, node)
    if len(question.ways) != 1:
        return network.predictions[node]
    way = question.ways[0]
    conditions = [
        "any" if action == UNCONDITIONED else action_name(network.actions[action])
        for action in way.action[: question.conditions]
    ]
    if len(conditions) == _HORIZON and len(set(conditions)) == 1:
        conditions = [f"always {conditions[0]}"]
    elif len(conditions) > MAX_WORDS:
        conditions = [*conditions[: MAX_WORDS - 1], "…"]
    premise = f"if {', '.join(conditions)}: " if conditions else ""
    terms = list(_terms(network, way.feature))
    if not conditions and len(terms) == 1 and " of " in terms[0]:
        kind, _, subject = terms[0].partition(" of ")
        return f"{subject}, {kind}"
    return premise + " + ".join([*terms[: MAX_WORDS - 1], "…"] if len(terms) > MAX_WORDS else terms)


def action_name(name: str) -> str:
    """As titles and bars show an action; Gymnasium often has numbers only."""
    return f"action {name}" if name.isdecimal() else name.upper()


def _terms(network: QuestionNetwork, weights: np.ndarray) -> Iterator[str]:
    """What is summed, in the order of time; a feature that counts for ever is a sum."""
    sums: list[str] = []
    for k in np.argsort((weights != 0).argmax(0), kind="stable"):
        steps = np.flatnonzero(weights[:, k])
        if not len(steps):
            continue
        name = network.features[k].replace("random-patches/", "patch ").replace("random-linear/", "feature ")
        if len(weights) == _HORIZON and steps[-1] == _HORIZON - 1:
            constant = np.isclose(weights[-1, k], weights[-2, k])
            sums.append(f"{'sum' if constant else 'discounted sum'} of {name}")
            gap = np.flatnonzero(weights[:, k] == 0)
            steps = steps[steps < gap.max(initial=-1)]
        yield from [name] * len(steps)
    yield from sums
