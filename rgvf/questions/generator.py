"""The random generator of question networks, and its ablations.

Layer 0 has a discounted sum of every feature. In each deeper layer every action gets `repeat` nodes; a node asks for
the sum of a random node of the layer above, its parent, and a random feature. Parents are drawn without replacement, so
that no two nodes of a layer ask the same of the same action: `repeat` cannot exceed the candidates, or is capped.
In layer 1 a parent may be a feature itself, and then it is the node's only edge (the paper's text and figure; its
pseudocode adds a second).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from rgvf.questions.catalog import MHVP_DISCOUNTS, as_discounts, discounted_sum, shallow
from rgvf.questions.graph import Edge
from rgvf.questions.names import names_of
from rgvf.questions.network import QuestionNetwork


def random_network(
    features: Iterable[str] | int,
    actions: Iterable[str] | int,
    *,
    discount: float = 0.95,
    depth: int = 8,
    repeat: int = 16,
    seed: int | np.random.Generator,
    cap_repeat: bool = False,
) -> QuestionNetwork:
    """Sample a question network; the defaults are the paper's for Atari.

    Args:
        features: names of the features, or how many ("f0", "f1", …).
        actions: names of the actions, or how many.
        discount: γ of the discounted sums in layer 0.
        depth: number of action-conditional layers.
        repeat: nodes per action in each of them.
        seed: the same seed gives the same network.
        cap_repeat: where a layer has fewer candidates than `repeat` (layer 1 has 2 · n_f), use them all instead of
            refusing.

    Returns:
        A network of n_f + depth · repeat · |actions| predictions; node "l.i" is number i of layer l.
    """
    feature_names, action_names = names_of("feature node", features, "f"), names_of("action", actions)
    _check(discount, depth, repeat, feature_names, action_names)
    sums = [(feature, discount) for feature in feature_names]
    return _grown(sums, feature_names, feature_names, action_names, depth, repeat, seed, cap_repeat)


def action_values(
    actions: Iterable[str] | int,
    *,
    discounts: float | Iterable[float] = MHVP_DISCOUNTS,
    depth: int = 8,
    repeat: int = 16,
    seed: int | np.random.Generator,
) -> QuestionNetwork:
    """Sample questions about reward: if I do a, then b, …, and then follow the policy, how much reward?

    Layer 0 has the value of the policy at each discount. In each deeper layer every action gets `repeat` nodes; a node
    asks for the reward plus a random node of the layer above, drawn without replacement.

    Args:
        actions: names of the actions, or how many.
        discounts: of the values in layer 0.
        depth: number of action-conditional layers; 0: multi-horizon values.
        repeat: nodes per action in each of them, or as many as there are candidates: the nodes of the layer above.
        seed: the same seed gives the same network.

    Returns:
        A network about the feature "reward"; node "l.i" is number i of layer l.
    """
    action_names, feature = names_of("action", actions), "reward"
    discounts = as_discounts(discounts)
    if not discounts:
        raise ValueError("at least one discount is needed")
    for discount in discounts:
        _check(discount, depth, repeat, [feature], action_names)
    sums = [(feature, discount) for discount in discounts]
    return _grown(sums, (), (feature,), action_names, depth, repeat, seed, cap_repeat=True)


def _grown(
    sums: Sequence[tuple[str, float]],
    candidates: Sequence[str],
    features: Sequence[str],
    actions: Sequence[str],
    depth: int,
    repeat: int,
    seed: int | np.random.Generator,
    cap_repeat: bool,
) -> QuestionNetwork:
    """A network with a discounted sum for each (feature, discount) in layer 0, and random layers below it.

    `candidates`: what nodes of layer 1 may have as their parents beside these sums.
    """
    rng = np.random.default_rng(seed)
    predictions: dict[str, int | None] = {}
    edges: list[Edge] = []
    for k, (feature, discount) in enumerate(sums):
        predictions[f"0.{k}"] = None
        edges += [(f"0.{k}", feature, 1.0), (f"0.{k}", f"0.{k}", discount)]
    candidates = [*candidates, *predictions]
    for layer in range(1, depth + 1):
        if repeat > len(candidates) and not cap_repeat:
            raise ValueError(
                f"repeat {repeat} is too large: layer {layer} has only {len(candidates)} candidate parents to draw "
                f"without replacement; use at most {len(candidates)}, or cap_repeat=True (--TASK.cap-repeat)"
            )
        nodes: dict[str, int | None] = {}
        for action in range(len(actions)):
            for drawn in rng.choice(len(candidates), min(repeat, len(candidates)), replace=False):
                name, parent = f"{layer}.{len(nodes)}", candidates[int(drawn)]
                nodes[name] = action
                edges.append((name, parent, 1.0))
                if parent in predictions:
                    edges.append((name, features[int(rng.integers(len(features)))], 1.0))
        predictions |= nodes
        candidates = list(nodes)
    return QuestionNetwork(features, predictions, edges, actions)


def random_discounted_sums(
    actions: Iterable[str] | int,
    *,
    n_features: int = 16,
    discount: float = 0.95,
    depth: int = 8,
    repeat: int = 16,
    feature: str = "f",
) -> QuestionNetwork:
    """The discounted-sum ablation: as many predictions as `random_network`, each the sum of a feature of its own.

    Features are named `feature` and a number, from 0.
    """
    actions = names_of("action", actions)
    _check(discount, depth, repeat, names_of("feature node", n_features, feature), actions)
    count = n_features + depth * repeat * len(actions)
    network = discounted_sum(names_of("feature node", count, feature), discount)
    return QuestionNetwork(network.features, network.predictions, network.edges, actions)


def random_shallow(
    actions: Iterable[str] | int, *, depth: int = 8, repeat: int = 16, feature: str = "f"
) -> QuestionNetwork:
    """The shallow ablation: depth · repeat features, each predicted one step ahead after every action.

    Features are named `feature` and a number, from 0.
    """
    return shallow(names_of("feature node", depth * repeat, feature), actions)


def _check(discount: float, depth: int, repeat: int, features: Sequence[str], actions: Sequence[str]) -> None:
    if not features:
        raise ValueError("at least one feature is needed")
    if not 0 <= discount <= 1:
        raise ValueError(f"discount must lie in [0, 1], not {discount}")
    if depth < 0:
        raise ValueError(f"depth must be at least 0, not {depth}")
    if depth and repeat < 1:
        raise ValueError(f"repeat must be at least 1, not {repeat}")
    if depth and not actions:
        raise ValueError("a network with action-conditional layers needs at least one action")
