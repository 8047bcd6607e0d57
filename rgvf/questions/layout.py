"""Where the nodes of a drawn question network go: rows, columns, texts.

A distance of 1 is a column of nodes, and `unit` is how many points that is on paper. What would be too small to read is
left out: first the labels (a legend names the actions then), next the heads of the arrows.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right, insort
from dataclasses import dataclass

import numpy as np

from rgvf.questions.components import strongly_connected
from rgvf.questions.graph import QuestionGraph

# In points: the unit of a small network, the paper a large one must fit, the smallest type worth printing.
UNIT, PAPER, MIN_TYPE, LEGEND_TYPE = 44.0, (1440.0, 1440.0), 4.5, 8.0
# In units.
RADIUS, SPACE, TYPE, SMALL_TYPE = 0.3, 0.4, 0.27, 0.2
MAX_LABEL = 14
# Where a text goes about its node, in units, and which part of the text goes there.
PLACES = {
    "inside": (0.0, 0.0, "center"),
    "left": (-RADIUS - 0.1, 0.0, "right"),
    "right": (RADIUS + 0.1, 0.0, "left"),
    "above": (0.0, RADIUS + 0.22, "center"),
    "below": (0.0, -RADIUS - 0.22, "center"),
    "loop": (RADIUS + 0.48, 0.0, "left"),
    "top loop": (0.0, RADIUS + 0.6, "center"),
}
# How near to a node its lines must not be flat, in columns, for the sake of what is written there.
CLEARANCE = {"left": 1.0, "right": 1.0, "loop": 0.5}
# A longer row is drawn as several lines, more edges without heads, and still more as an image inside the SVG.
MAX_ROW, MAX_ARROWS, MAX_VECTORS = 150, 400, 5000
# Okabe & Ito's colours without yellow and black, and two of Tol's: apart for every kind of colour vision.
ACTION_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")


def layers(network: QuestionGraph) -> tuple[int, ...]:
    """The row of every node, in the order of `network.index`: 0 for features, and below whatever a node looks at.

    Nodes that depend on each other share a row. Discounted sums of features stand in row 0 beside their features, as
    in Figure 2c, unless there is nothing else (Figure 2a).
    """
    n = network.n_predictions
    looks_at = [[target for target, _ in edges if target < n] for edges in network.outgoing]
    sums = {i for i in range(n) if looks_at[i] == [i]}
    row = [0] * (n + network.n_features)
    for part in strongly_connected(looks_at):
        if len(sums) == n or part[0] not in sums:
            inside = set(part)
            depth = 1 + max((row[t] for s in part for t in looks_at[s] if t not in inside), default=0)
            for i in part:
                row[i] = depth
    return tuple(row)


@dataclass(frozen=True)
class Layout:
    """Where everything goes, in units; arrays run over nodes in the order of `network.index`, or over rows."""

    network: QuestionGraph
    labelled: bool
    texts: dict[tuple[int, str], str]
    row: np.ndarray
    x: np.ndarray
    y: np.ndarray
    level: np.ndarray
    """The y of each row."""
    walls: list[tuple[np.ndarray, np.ndarray]]
    """For each row where its nodes with their texts begin and end, from left to right."""
    curved: np.ndarray
    """Of each row whether the lines that leave it are curved, because straight ones would be too flat."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the drawing."""
        left, right = min(start[0] for start, _ in self.walls), max(end[-1] for _, end in self.walls)
        above = 1.15 if any(where == "top loop" for _, where in self.texts) else 0.75
        return left - 0.1, right + 0.1, float(self.y.min()) - 0.75, float(self.y.max()) + above

    @property
    def size(self) -> np.ndarray:
        left, right, bottom, top = self.box
        return np.array([right - left, top - bottom])

    @property
    def legend(self) -> list[int]:
        """The actions for a legend; none where nodes have labels or the actions are too many."""
        used = sorted({action for action in self.network.conditions if action is not None})
        return [] if self.labelled or len(used) > len(ACTION_COLOURS) else used

    @property
    def margin(self) -> tuple[float, float, float]:
        """In points the width and height of the legend, and the height of the names above it all."""
        wide = sum(LEGEND_TYPE * text_width(label(self.network.actions[action])) + 26 for action in self.legend)
        return wide, 2 * LEGEND_TYPE if wide else 0.0, 0.0 if self.labelled else 1.5 * LEGEND_TYPE


def fit(network: QuestionGraph, width: float, height: float) -> tuple[Layout, float]:
    """The most readable layout for paper of this many points, and its unit."""
    layout = _layout(network, labelled=network.n_predictions <= MAX_ARROWS)
    unit = min(UNIT, *(np.array([width, height]) / layout.size))
    if layout.labelled and unit * SMALL_TYPE < MIN_TYPE:
        layout = _layout(network, labelled=False)
    return layout, float(min(UNIT, *(np.array([width, max(1.0, height - sum(layout.margin[1:]))]) / layout.size)))


def _layout(network: QuestionGraph, labelled: bool) -> Layout:
    row = np.array(layers(network))
    row -= row.min()  # there may be no features
    texts = _texts(network, row)
    if not labelled:
        texts = {(i, where): "" for i, where in texts if "loop" in where}  # the room that the arrow itself takes
    count = np.bincount(row)
    lines = -(-count // max(MAX_ROW, int(3 * count.max() ** 0.5)))
    left, right = _reach(row, texts)
    source, target, _ = network.edge_arrays
    bows = (row[source] == row[target]) & (source != target) & (target < network.n_predictions)
    right[source[bows]] += SPACE
    # Without labels, the few features are spread over the width of the many predictions.
    extra = 0.0 if labelled else max(0.0, 0.35 * (count / lines).max() * lines[0] / count[0] - RADIUS - SPACE / 2)
    x = _columns(network, row, lines, left + extra * (row == 0), right + extra * (row == 0))
    thick = 0.9 * (lines - 1)
    gap = max(1.5, min(0.16, 0.55 / max(1, len(count) - 1)) * np.ptp(x))
    level = -np.concatenate([[0.0], (gap + (thick[1:] + thick[:-1]) / 2).cumsum()])
    y, walls, clear = level[row], [], np.full(len(count), 1e9)
    for r in range(len(count)):
        members = np.flatnonzero(row == r)
        members = members[np.argsort(x[members])]
        y[members] += 0.9 * (np.arange(len(members)) % lines[r]) - thick[r] / 2
        walls.append((x[members] - left[members] - SPACE / 3, x[members] + right[members] + SPACE / 3))
        clear[r] = np.diff(x[members]).min(initial=1e9)
    for i, where in texts:
        clear[row[i]] = min(clear[row[i]], CLEARANCE.get(where, 1e9))
    room = np.minimum(clear[row[source]], clear[row[target]]) * (y[target] - y[source])
    flat = (row[source] > row[target]) & (0.4 * np.abs(x[target] - x[source]) > room)
    curved = np.isin(np.arange(len(count)), row[source[flat]])
    return Layout(network, labelled, texts, row, x, y, level, walls, curved)


def _texts(network: QuestionGraph, row: np.ndarray) -> dict[tuple[int, str], str]:
    """What is written where: (node, place) → text."""
    source, target, weight = network.edge_arrays
    looked_at = set(target[source != target].tolist())
    texts: dict[tuple[int, str], str] = {}
    for k in np.flatnonzero(source == target):
        texts[int(source[k]), "loop" if row[source[k]] else "top loop"] = number(weight[k])
    for i, (name, action) in enumerate(zip(network.predictions, network.conditions, strict=True)):
        condition = None if action is None else network.actions[action]
        if condition is not None:
            texts[i, "left"] = label(condition)
            if f"{name},".startswith(f"{condition},"):
                continue  # in a tree the actions on the way are the name
        if text_width(label(name)) <= 2.4:
            texts[i, "inside"] = label(name)
        elif i not in looked_at:
            texts[i, "below"] = label(name)
        else:
            texts.setdefault((i, "left" if (i, "loop") in texts else "right"), label(name))
    for i, name in enumerate(network.features, network.n_predictions):
        texts[i, "inside" if text_width(label(name)) <= 1.8 else "above"] = label(name)
    return texts


def _reach(row: np.ndarray, texts: dict[tuple[int, str], str]) -> tuple[np.ndarray, np.ndarray]:
    """How far nodes with their texts reach to the left and right of their middles."""
    left, right = np.full((2, len(row)), RADIUS)
    for (i, where), text in texts.items():
        x, _, align = PLACES[where]
        wide = text_width(text) * (TYPE if where == "left" else SMALL_TYPE)
        share = {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        left[i], right[i] = max(left[i], share * wide - x), max(right[i], (1 - share) * wide + x)
    for r in range(1, row.max() + 1):  # the same for all nodes of a row: even distances look calm
        left[row == r], right[row == r] = left[row == r].max(), right[row == r].max()
    return left, right


def _columns(
    network: QuestionGraph, row: np.ndarray, lines: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """The x of every node: each near the mean of its neighbours, in the order of fewest crossings found."""
    source, target, _ = network.edge_arrays
    group = np.arange(len(row))  # what moves together: a feature and the sums beside it
    beside = (row[source] == 0) & (target >= network.n_predictions)
    group[source[beside]] = target[beside]
    up = row[source] > row[target]
    lower, upper = source[up], target[up]
    near = row[lower] - row[upper] == 1
    # A node that looks at one thing should stand below it; edges over several rows only decide where others do not.
    pull = np.where(near, np.bincount(lower[near], minlength=len(row))[lower].clip(1) ** -2.0, 1e-3)
    order = [np.flatnonzero(row == r) for r in range(row.max() + 1)]
    order[0] = order[0][np.lexsort((order[0] < network.n_predictions, group[order[0]]))]
    x = np.zeros(len(row))

    def sweep(sort: bool) -> int:
        down = [(r, lower, upper) for r in range(1, len(order))]
        for r, own, others in down + [(r, upper, lower) for r in range(max(0, len(order) - 2), -1, -1)]:
            members = order[r]
            total = np.bincount(group[own], pull, len(row))[group[members]]
            mean = np.bincount(group[own], pull * x[others], len(row))[group[members]] / np.maximum(total, 1e-9)
            want = np.where(total > 0, mean, x[group[members]]).round(6)  # so that what ought to tie does tie
            if sort:
                by_want = np.argsort(want, kind="stable")
                order[r] = members = members[by_want]
                want = want[by_want]
            steps = (right[members[:-1]] + left[members[1:]] + SPACE) / lines[r]
            x[members] = _spread(want, np.concatenate([[0.0], steps.cumsum()]))
        return _crossings(row[lower[near]], x[lower[near]], x[upper[near]])

    best = sweep(False), list(order), x.copy()
    for _ in range(8):
        crossings = sweep(True)
        if crossings < best[0]:
            best = crossings, list(order), x.copy()
    _, order[:], x[:] = best
    for _ in range(6):
        sweep(False)
    return x


def _spread(want: np.ndarray, offset: np.ndarray) -> np.ndarray:
    """The places nearest to `want` that keep order and distances: isotonic regression by pooling neighbours."""
    pools: list[tuple[float, int]] = []
    for value in (want - offset).tolist():
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] > pools[-1][0]:
            (a, m), (b, n) = pools[-2:]
            pools[-2:] = [((a * m + b * n) / (m + n), m + n)]
    return np.repeat([mean for mean, _ in pools], [size for _, size in pools]) + offset


def _crossings(row: np.ndarray, start: np.ndarray, end: np.ndarray) -> int:
    """How many pairs of edges from the same row cross."""
    total, last, seen = 0, -1, []
    for k in np.lexsort((end, start, row)):
        if row[k] != last:
            last, seen = row[k], []
        total += len(seen) - bisect_right(seen, end[k])
        insort(seen, end[k])
    return total


def label(name: str) -> str:
    """A name as it is written: short, on one line, without what XML forbids."""
    name = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    if len(name) <= MAX_LABEL:
        return name or "·"
    head, slash, tail = name.rpartition("/")  # numbered names differ behind the slash
    tail = f"{slash}{tail}" if slash and len(tail) < MAX_LABEL // 2 else ""
    return f"{(head if tail else name)[: MAX_LABEL - 1 - len(tail)].rstrip()}…{tail}"


def text_width(text: str) -> float:
    """Roughly how wide a text is, in heights of its type."""
    return sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.6 for c in text)


def number(weight: float) -> str:
    return "" if weight == 1 else f"{weight:.3g}".replace("-", "−")
