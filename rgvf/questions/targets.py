"""TD targets of a question network, and which nodes learn from a step.

    target_i(t) = Σ_j W_ij · ŷ_j(t+1) · (1 − terminal(t+1)) + Σ_k W_ik · f_k(t+1)

Nodes have a handful of edges, so a target is a gather and a sum. The functions take NumPy or JAX arrays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from rgvf.questions.graph import QuestionGraph

UNCONDITIONED = -1
"""The condition of a node that has none, in `EdgeTable.condition`."""
NEVER = -2
"""The condition of a node of the padding, in `EdgeTable.condition`: it never learns."""
# A node with more edges than this is summed in several rounds, so that it does not widen every other node's row.
MAX_WIDTH = 8
MAX_VALUES = 2**31 - 1
"""The largest signed index of 32 bits."""

Array = Any  # a NumPy or a JAX array
Row = tuple[tuple[int, float], ...]  # (column, weight) of the edges of a node


class Gather(NamedTuple):
    """One round of gathering: output r is Σ_c weight[r, c] · input[index[r, c]], where the weight is not 0."""

    index: Array  # int [rows, width]
    weight: Array  # float [rows, width]


class EdgeTable(NamedTuple):
    """The edges of a question network as arrays, to gather by; a pytree, so it can be stacked over seeds."""

    is_derived = True  # pyright: ignore[reportGeneralTypeIssues] - checkpoints leave it out
    to_predictions: tuple[Gather, ...]  # rounds; of the last, row i is prediction node i
    to_features: tuple[Gather, ...]
    condition: Array  # int [n_p]: the action, UNCONDITIONED, or NEVER (a node of the padding)
    feature: Array  # int [n_f]: the features, in order; its length is what matters

    @property
    def is_narrow(self) -> bool:
        """Whether one round gathers all, so that it can be padded."""
        return len(self.to_predictions) == len(self.to_features) == 1


def edge_table(network: QuestionGraph) -> EdgeTable:
    """Lay the edges out in rows of equal width; short rows end in edges of weight 0."""
    n = network.n_predictions
    to_predictions = [tuple(edge for edge in row if edge[0] < n) for row in network.outgoing]
    to_features = [tuple((node - n, weight) for node, weight in row if node >= n) for row in network.outgoing]
    condition = np.array([UNCONDITIONED if action is None else action for action in network.conditions], np.int32)
    feature = np.arange(network.n_features, dtype=np.int32)
    table = EdgeTable(tuple(_rounds(to_predictions)), tuple(_rounds(to_features)), condition, feature)
    for array in _arrays(table):
        array.flags.writeable = False
    return table


def _rounds(rows: Sequence[Row]) -> Iterator[Gather]:
    while max(map(len, rows)) > MAX_WIDTH:
        pieces: list[Row] = []
        sums: list[Row] = []
        for row in rows:
            starts = range(0, len(row), MAX_WIDTH)
            sums.append(tuple((len(pieces) + i, 1.0) for i in range(len(starts))))
            pieces += [row[start : start + MAX_WIDTH] for start in starts]
        yield _rectangle(pieces)
        rows = sums
    yield _rectangle(rows)


def _rectangle(rows: Sequence[Row]) -> Gather:
    width = max(map(len, rows))
    padded = [row + ((0, 0.0),) * (width - len(row)) for row in rows]
    return Gather(
        index=np.array([[column for column, _ in row] for row in padded], np.int32).reshape(len(rows), width),
        weight=np.array([[weight for _, weight in row] for row in padded], np.float32).reshape(len(rows), width),
    )


def _arrays(table: EdgeTable) -> list[Array]:
    rounds = (*table.to_predictions, *table.to_features)
    return [table.condition, table.feature, *(array for gather in rounds for array in gather)]


def pad_table(table: EdgeTable, n_predictions: int, n_features: int) -> EdgeTable:
    """The same edges in a larger table. Nodes are added behind each kind; they have no edges and never learn."""
    if not table.is_narrow:
        raise ValueError(f"a network can be padded only where no node has more than {MAX_WIDTH} edges of a kind")
    xp = _namespace(table.condition)
    more = n_predictions - len(table.condition)

    def pad(gather: Gather) -> tuple[Gather]:
        return (Gather(*(xp.pad(array, ((0, more), (0, 0))) for array in gather)),)

    condition = xp.pad(table.condition, (0, more), constant_values=NEVER)
    feature = xp.arange(n_features, dtype=np.int32)
    return EdgeTable(pad(table.to_predictions[0]), pad(table.to_features[0]), condition, feature)


def targets(table: EdgeTable | QuestionGraph, features: Array, next_answers: Array, terminal: Array) -> Array:
    """TD targets: target_i(t) = Σ_j W_ij · ŷ_j(t+1) · (1 − terminal(t+1)) + Σ_k W_ik · f_k(t+1).

    Args:
        table: a `QuestionNetwork`, or its `table`.
        features: f(t+1) [..., n_f].
        next_answers: ŷ(t+1) [..., n_p].
        terminal: [...], true where the episode ended at t+1; answers there are 0.

    Returns:
        [..., n_p]. Nothing here stops gradients; a loss must.
    """
    table = as_table(table)
    n_p, n_f = table.condition.shape[-1], table.feature.shape[-1]
    for what, values, size in (("features", features, n_f), ("next_answers", next_answers, n_p)):
        if values.shape[-1] != size:
            raise ValueError(f"{what} must end in an axis of {size}, not {values.shape[-1]}")
    xp = _namespace(features, next_answers, terminal)
    bootstrap = _weighted_sums(table.to_predictions, xp.asarray(next_answers))
    bootstrap = xp.where(xp.asarray(terminal)[..., None], xp.zeros_like(bootstrap), bootstrap)
    return bootstrap + _weighted_sums(table.to_features, xp.asarray(features))


def _weighted_sums(rounds: tuple[Gather, ...], values: Array) -> Array:
    """What some rounds of gathering give along the last axis."""
    xp = _namespace(values)
    *batch, _ = values.shape
    for index, weight in rounds:
        # One index into all values: a GPU would turn them around to gather along one of several axes.
        size = math.prod(values.shape)
        if size > MAX_VALUES:
            raise ValueError(f"{size:,} numbers are too many to gather from at once, which takes {MAX_VALUES:,}")
        start = (xp.arange(math.prod(batch), dtype=index.dtype) * values.shape[-1]).reshape(*batch, 1)
        flat, values = values.reshape(-1), xp.zeros((*batch, len(index)), values.dtype)
        for edge in range(index.shape[1] if size else 0):
            place, factor = (row[:, edge].reshape(*[1] * len(batch), -1) for row in (index, weight))
            values = values + factor * xp.where(factor != 0, xp.take(flat, start + place, mode="clip"), 0)
    return values


def mask(table: EdgeTable | QuestionGraph, actions: Array) -> Array:
    """Which nodes learn from a step: the unconditioned, and those whose action was taken. [...] → bool [..., n_p].

    Args:
        table: a `QuestionNetwork`, or its `table`.
        actions: indices into `network.actions` [...]. Those in NumPy arrays and plain numbers must be some of a
            `QuestionNetwork` that has actions. With a table, −1 stands for any other action.
    """
    xp = _namespace(actions)
    taken = xp.asarray(actions)[..., None]
    if taken.size and not np.issubdtype(taken.dtype, np.integer):
        raise ValueError(f"an action is an index into `network.actions`, a whole number, not {actions!r}")
    if xp is np and isinstance(table, QuestionGraph) and table.actions:
        wrong = taken[(taken < 0) | (taken >= len(table.actions))]
        if wrong.size:
            raise ValueError(f"there is no action {wrong[0]}: `network.actions` has {len(table.actions)}, from 0 on")
    table = as_table(table)
    condition = table.condition.reshape((1,) * (taken.ndim - 1) + (-1,))
    return (condition == UNCONDITIONED) | (condition == taken)


def as_table(table: EdgeTable | QuestionGraph) -> EdgeTable:
    """The edges of a network as arrays, if they are not that already."""
    return edge_table(table) if isinstance(table, QuestionGraph) else table


def _namespace(*arrays: Array) -> Any:
    """The library of the arrays: JAX where one of them is its, else NumPy."""
    spaces = [array.__array_namespace__() for array in arrays if hasattr(array, "__array_namespace__")]
    return next((space for space in spaces if space is not np), np)
