"""The named question networks, each by one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import product
from numbers import Real

from rgvf.questions.graph import Edge
from rgvf.questions.names import checked_names, names_of
from rgvf.questions.network import QuestionNetwork


def horizon_discounts(n: int) -> tuple[float, ...]:
    """n discounts 1 − 1/h with horizons h = max(1, 100·k/n) steps, k = 0 … n − 1: ten have 1, 10, 20, …, 90 steps.

    A single one is 0, which is the next step only. Of 100 or more, several are 0.
    """
    if n < 1:
        raise ValueError(f"there must be at least 1 horizon, not {n}")
    return tuple(1 - 1 / max(1.0, 100 * k / n) for k in range(n))


MHVP_DISCOUNTS = horizon_discounts(10)
"""Discounts 0, 1 − 1/10, …, 1 − 1/90: horizons from 1 to 90 steps (Fedus et al. 2019; ten of them)."""


def reward_prediction() -> QuestionNetwork:
    """What will the next reward be? (Jaderberg et al. 2016)"""
    return QuestionNetwork(["reward"], ["next reward"], [("next reward", "reward")])


def as_discounts(discounts: float | Iterable[float]) -> tuple[float, ...]:
    """One or several, as a tuple."""
    return (float(discounts),) if isinstance(discounts, float | int | Real) else tuple(discounts)


def multi_horizon_values(discounts: float | Iterable[float] = MHVP_DISCOUNTS) -> QuestionNetwork:
    """The value of the policy at several discounts. (MHVP, Fedus et al. 2019)"""
    discounts = as_discounts(discounts)
    names = [f"value {i}" for i in range(len(discounts))]
    edges: list[Edge] = []
    for name, discount in zip(names, discounts, strict=True):
        edges += [(name, "reward", 1.0), (name, name, discount)]
    return QuestionNetwork(["reward"], names, edges)


def termination_prediction() -> QuestionNetwork:
    """How many steps until the episode ends? (Kartal et al. 2019, as the paper has it)"""
    edges = [("steps left", "constant", 1.0), ("steps left", "steps left", 1.0)]
    return QuestionNetwork(["constant"], ["steps left"], edges)


def discounted_sum(features: Iterable[str] | int, discount: float) -> QuestionNetwork:
    """The discounted sum of each feature under the policy: Figure 2a of the paper for every feature."""
    features = names_of("feature node", features)
    names = [f"sum of {feature}" for feature in features]
    edges: list[Edge] = []
    for name, feature in zip(names, features, strict=True):
        edges += [(name, feature, 1.0), (name, name, discount)]
    return QuestionNetwork(features, names, edges)


def shallow(features: Iterable[str] | int, actions: Iterable[str] | int) -> QuestionNetwork:
    """Each feature after each action: one tree of depth 1 per feature."""
    features, action_names = names_of("feature node", features), names_of("action", actions)
    nodes = [(f"{feature} if {action}", feature, action) for feature in features for action in action_names]
    checked_names("prediction node", (name for name, _, _ in nodes))
    return QuestionNetwork(
        features,
        {name: action for name, _, action in nodes},
        [(name, feature) for name, feature, _ in nodes],
        action_names,
    )


def union(networks: Mapping[str, QuestionNetwork]) -> QuestionNetwork:
    """Several networks as one, about the same actions. Node "1.3" of the network "reward" becomes "reward 1.3".

    Features of one name are one feature.
    """
    features = dict.fromkeys(feature for network in networks.values() for feature in network.features)
    predictions: dict[str, int | None] = {}
    edges: list[Edge] = []
    actions: tuple[str, ...] = ()
    checked_names("prediction node", (f"{key} {name}" for key, each in networks.items() for name in each.predictions))
    for key, network in networks.items():
        actions = actions or network.actions
        if network.actions not in ((), actions):
            raise ValueError(f"the networks must have the same actions: {key!r} has {', '.join(network.actions)}")
        names = {name: f"{key} {name}" for name in network.predictions}
        predictions |= dict(zip(names.values(), network.conditions, strict=True))
        edges += [(names[source], names.get(target, target), weight) for source, target, weight in network.edges]
    return QuestionNetwork(features, predictions, edges, actions)


def full_tree(feature: str, actions: Iterable[str] | int, depth: int) -> QuestionNetwork:
    """The sum of a feature along every action sequence of up to `depth` steps: Figure 2b of the paper.

    A node is named by its action sequence in the order of doing: "up,left" asks for the sum of the feature over the
    next two steps if up is done now and left after it.
    """
    if depth < 1:
        raise ValueError(f"depth must be at least 1, not {depth}")
    action_names = names_of("action", actions)
    predictions: dict[str, str] = {}
    edges: list[Edge] = []
    for length in range(1, depth + 1):
        for sequence in product(action_names, repeat=length):
            name = ",".join(sequence)
            if name in predictions:
                raise ValueError(f"prediction node {name!r} is named twice: the actions' names run into each other")
            predictions[name] = sequence[0]
            if length > 1:
                edges.append((name, ",".join(sequence[1:]), 1.0))
            edges.append((name, feature, 1.0))
    return QuestionNetwork([feature], predictions, edges, action_names)


def figure_1a(discount: float = 0.9) -> QuestionNetwork:
    """The example of the paper's Figure 1a: two features, six predictions, actions a and b."""
    return QuestionNetwork(
        features=["f1", "f2"],
        predictions={"1": None, "2": None, "3": "a", "4": "b", "5": None, "6": None},
        edges=[
            ("1", "f1", 1.0),
            ("2", "1", 1.0),
            ("3", "1", 1.0),
            ("4", "1", 1.0),
            ("5", "f2", 1.0),
            ("5", "5", discount),
            ("6", "5", 1.0),
            ("6", "f1", 1.0),
        ],
        actions=["a", "b"],
    )
