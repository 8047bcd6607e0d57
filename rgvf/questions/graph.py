"""The graph of a question network: nodes, edges and conditions, checked once.

Feature nodes are scalar functions of a transition. A prediction node i asks for

    y_i(t) = E[ Σ_j W_ij · y_j(t+1) + Σ_k W_ik · f_k(t+1)  |  A_t = a_i ]

where the condition on the action is optional, and the policy acts otherwise.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np

from rgvf.questions.components import check_loops, component_radius, strongly_connected
from rgvf.questions.names import checked_names, names_of

Edge = tuple[str, str, float]

MAX_WEIGHT = 1e9
# A loop of radius within this of 1 counts as exactly 1.
RADIUS_TOLERANCE = 1e-9


@dataclass(frozen=True, init=False, repr=False)
class QuestionGraph:
    """Feature nodes, prediction nodes and the weighted edges between them. Immutable, checked once.

    `QuestionNetwork` adds words, drawings, files and targets to it.
    """

    features: tuple[str, ...]
    """Names of the feature nodes."""
    predictions: tuple[str, ...]
    """Names of the prediction nodes."""
    conditions: tuple[int | None, ...]
    """For each prediction node the number of the action it is conditioned on, or None."""
    edges: tuple[Edge, ...]
    """(prediction node, prediction or feature node, weight)."""
    actions: tuple[str, ...]
    """The agent's actions, by name."""

    def __init__(
        self,
        features: Iterable[str],
        predictions: Mapping[str, str | int | None] | Iterable[str],
        edges: Iterable[tuple[str, str] | Edge],
        actions: Iterable[str] | int = (),
    ) -> None:
        """Build and check a network.

        Args:
            features: a name for each feature node.
            predictions: a name for each prediction node, mapped to the action it is conditioned on
                (by name or number) or None; a plain sequence of names conditions nothing.
            edges: (from prediction node, to prediction or feature node, weight); weight 1 if left out.
            actions: the names of the agent's actions, or how many there are.

        Raises:
            ValueError: names the node that is wrong and says why.
        """
        action_names = names_of("action", actions)
        features = names_of("feature node", features)
        if not isinstance(predictions, Mapping):
            predictions = dict.fromkeys(names_of("prediction node", predictions))
        _check_names(features, predictions)
        conditions = tuple(_action_number(node, condition, action_names) for node, condition in predictions.items())
        set_field = object.__setattr__  # how a frozen dataclass is initialised
        set_field(self, "features", features)
        set_field(self, "predictions", tuple(predictions))
        set_field(self, "conditions", conditions)
        set_field(self, "edges", _checked_edges(edges, features, predictions))
        set_field(self, "actions", action_names)
        _ = self.needs_termination  # refuses loops that amplify

    def __getstate__(self) -> dict[str, object]:
        """Only the fields are pickled; cached properties are computed again."""
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}

    def __repr__(self) -> str:
        counts = (
            (len(self.features), "feature"),
            (len(self.predictions), "prediction"),
            (len(self.edges), "edge"),
            (len(self.actions), "action"),
        )
        inside = ", ".join(f"{n} {word}" + "s" * (n != 1) for n, word in counts)
        return f"{type(self).__name__}({inside})"

    @property
    def n_features(self) -> int:
        """n_f."""
        return len(self.features)

    @property
    def n_predictions(self) -> int:
        """n_p."""
        return len(self.predictions)

    @cached_property
    def index(self) -> Mapping[str, int]:
        """The column of each node: predictions 0 … n_p − 1, then features n_p … n_p + n_f − 1."""
        return MappingProxyType({name: i for i, name in enumerate(self.predictions + self.features)})

    @cached_property
    def outgoing(self) -> tuple[tuple[tuple[int, float], ...], ...]:
        """Of each prediction node its edges in their order, as (column of the other node, weight)."""
        rows: list[list[tuple[int, float]]] = [[] for _ in self.predictions]
        for source, target, weight in self.edges:
            rows[self.index[source]].append((self.index[target], weight))
        return tuple(map(tuple, rows))

    def reach(self, node: int) -> list[int]:
        """The columns of all that a prediction node depends on, near ones first, with its own."""
        reached = dict.fromkeys([node])
        pending = [node]
        for source in pending:  # it grows
            targets = [target for target, weight in self.outgoing[source] if weight and target not in reached]
            reached |= dict.fromkeys(targets)
            pending += [target for target in targets if target < self.n_predictions]
        return list(reached)

    @cached_property
    def edge_arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(source, target, weight) of each edge, nodes as columns of `index`; read-only."""
        source = np.array([self.index[s] for s, _, _ in self.edges], np.int32)
        target = np.array([self.index[t] for _, t, _ in self.edges], np.int32)
        weight = np.array([w for _, _, w in self.edges], np.float64)
        for array in (source, target, weight):
            array.flags.writeable = False
        return source, target, weight

    @cached_property
    def dense(self) -> np.ndarray:
        """The matrix W: [n_p, n_p + n_f], for mathematics and tests; learning uses `QuestionNetwork.table`."""
        source, target, weight = self.edge_arrays
        matrix = np.zeros((self.n_predictions, self.n_predictions + self.n_features))
        matrix[source, target] = weight
        matrix.flags.writeable = False
        return matrix

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """Strongly connected components of the prediction nodes, by column; each after those it depends on."""
        return strongly_connected(
            [[target for target, _ in self._looks_at(node)] for node in range(self.n_predictions)]
        )

    def _looks_at(self, node: int) -> list[tuple[int, float]]:
        """The prediction nodes that a node depends on, with weights."""
        return [(target, weight) for target, weight in self.outgoing[node] if target < self.n_predictions and weight]

    @cached_property
    def needs_termination(self) -> frozenset[str]:
        """Nodes that have an answer only where episodes end: undiscounted sums, and nodes that depend on one."""
        check_loops(self.components)
        marked: set[int] = set()
        for part in self.components:
            inside = set(part)
            edges = [(source, target, weight) for source in part for target, weight in self._looks_at(source)]
            radius = component_radius(part, [edge for edge in edges if edge[1] in inside])
            if radius > 1 + RADIUS_TOLERANCE:
                raise ValueError(
                    f"prediction node {self.predictions[part[0]]!r} is part of a loop that amplifies "
                    f"(spectral radius {radius:.6g}, at most 1 is allowed): its answer would be infinite"
                )
            if radius > 1 - RADIUS_TOLERANCE or any(target in marked for _, target, _ in edges):
                marked |= inside
        return frozenset(self.predictions[i] for i in marked)


def _check_names(features: Sequence[str], predictions: Mapping[str, object]) -> None:
    checked_names("prediction node", predictions)
    if not predictions:
        raise ValueError("the network has no prediction nodes: it asks nothing")
    known = set(features)
    for name in predictions:
        if name in known:
            raise ValueError(f"node {name!r} is both a feature and a prediction node")


def _action_number(node: str, condition: object, actions: Sequence[str]) -> int | None:
    if condition is None:
        return None
    if isinstance(condition, str):
        if condition not in actions:
            raise ValueError(f"prediction node {node!r} is conditioned on the unknown action {condition!r}")
        return actions.index(condition)
    if isinstance(condition, bool) or not isinstance(condition, (int, np.integer)):
        raise ValueError(f"prediction node {node!r}: its action must be a name or a number, not {condition!r}")
    if not 0 <= condition < len(actions):
        raise ValueError(
            f"prediction node {node!r} is conditioned on action {condition}, "
            f"out of range: there are {len(actions)} actions, numbered from 0"
        )
    return int(condition)


def _checked_edges(
    edges: Iterable[tuple[str, str] | Edge], features: Sequence[str], predictions: Iterable[str]
) -> tuple[Edge, ...]:
    known_features, known_predictions = set(features), set(predictions)
    checked: list[Edge] = []
    for edge in edges:
        if not isinstance(edge, (tuple, list)) or len(edge) not in (2, 3):
            raise ValueError(f"an edge is (from, to) or (from, to, weight), not {edge!r}")
        source, target, *rest = edge
        if not isinstance(source, str) or not isinstance(target, str):
            raise ValueError(f"edge {edge!r}: nodes are named by strings")
        where = f"edge {source!r} → {target!r}"
        if source in known_features:
            raise ValueError(f"{where}: starts at the feature node {source!r}; only prediction nodes ask")
        if source not in known_predictions:
            raise ValueError(f"{where}: starts at the unknown node {source!r}")
        if target not in known_predictions and target not in known_features:
            raise ValueError(f"{where}: leads from {source!r} to nothing: there is no node {target!r}")
        checked.append((source, target, _weight(where, rest[0] if rest else 1.0)))
    seen: set[tuple[str, str]] = set()
    for source, target, _ in checked:
        if (source, target) in seen:
            raise ValueError(f"edge {source!r} → {target!r}: node {source!r} has this edge twice; add the weights up")
        seen.add((source, target))
    asking = {source for source, _, _ in checked}
    for name in predictions:
        if name not in asking:
            raise ValueError(f"prediction node {name!r} has no outgoing edge: it asks about nothing")
    return tuple(checked)


def _weight(where: str, weight: object) -> float:
    if isinstance(weight, bool) or not isinstance(weight, (int, float, np.integer, np.floating)):
        raise ValueError(f"{where}: the weight must be a number, not {weight!r}")
    try:
        value = float(weight)
    except OverflowError:
        value = math.inf
    if not math.isfinite(value):
        raise ValueError(f"{where}: the weight must be finite, not {value}")
    if value and not 1 / MAX_WEIGHT <= abs(value) <= MAX_WEIGHT:
        raise ValueError(f"{where}: the weight must be 0 or between 1e-9 and 1e9 in size, not {value:g}")
    return value
