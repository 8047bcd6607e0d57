"""Drawings of question networks, in the manner of the paper's Figures 1a and 2.

Squares are features and circles are predictions; an arrow leads from a node to what it looks at. A distance of 1 in a
drawing is a column of nodes, and `unit` is how many points that is on paper. What would be too small to read is left
out: first the labels (a legend names the actions then), next the heads of the arrows.
"""

from __future__ import annotations

import io
import threading
import unicodedata
import warnings
from bisect import bisect_right, insort
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import EllipseCollection, PatchCollection, PathCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Rectangle
from matplotlib.path import Path as Curve

from rgvf.questions.loops import strongly_connected
from rgvf.questions.network import QuestionNetwork

# In points: the unit of a small network, the paper a large one must fit, the smallest type worth printing.
UNIT, PAPER, SMALLEST_TYPE, LEGEND_TYPE = 44.0, (1440.0, 1440.0), 4.5, 8.0
# In units.
RADIUS, SPACE, TYPE, SMALL_TYPE = 0.3, 0.4, 0.27, 0.2
# Where a text goes about its node, in units, and what of it goes there.
PLACES = {
    "inside": (0.0, 0.0, "center"),
    "left": (-RADIUS - 0.1, 0.0, "right"),
    "right": (RADIUS + 0.1, 0.0, "left"),
    "above": (0.0, RADIUS + 0.22, "center"),
    "below": (0.0, -RADIUS - 0.22, "center"),
    "loop": (RADIUS + 0.48, 0.0, "left"),
    "top loop": (0.0, RADIUS + 0.6, "center"),
}
# A longer row is drawn as several lines, more edges without heads, and still more as an image inside the SVG.
LONGEST_ROW, MOST_ARROWS, MOST_VECTORS = 150, 400, 5000
INK, SKIP_INK, NAME_INK, FEATURE_FILL = "#2b2b2b", "#aab2bf", "#5f6670", "#ececE8"
# Okabe & Ito's colours without yellow and black, and two of Tol's: apart for every kind of colour vision.
ACTION_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#999933")
# A line is too flat if, a column from its end, it is closer than this to the row.
FLAT = 0.4
# The middle of a cubic curve, by its four controls.
HALFWAY = np.array([0.125, 0.375, 0.375, 0.125])
# rcParams belong to the process: only one thread at a time may change them.
_SETTINGS = threading.Lock()


def draw(network: QuestionNetwork, path: str | Path) -> Path:
    """Draw the network to an SVG or PNG file, by the path's suffix; the same network gives the same bytes."""
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise ValueError(f"{str(path)!r}: a drawing is an .svg or a .png file; the suffix {path.suffix!r} is neither")
    own: Any = {"svg.hashsalt": "rgvf", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}
    content = io.BytesIO()
    with _SETTINGS, matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a name may have letters that the font lacks
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(own)
        plan, unit = _fit(network, *PAPER)
        (width, height), (least_width, below, above) = plan.size * unit, plan.margin
        figure = Figure(figsize=(max(width, least_width) / 72, (height + below + above) / 72))
        _paint(plan, figure.add_axes((0, 0, 1, 1)), unit)
        dpi = 200 if plan.labelled else 150
        figure.savefig(content, format=kind, dpi=dpi, metadata={"Date": None} if kind == "svg" else None)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.getvalue())
    return path


def draw_on(network: QuestionNetwork, axes: Axes) -> None:
    """Draw the network onto axes of any size; it fills them and keeps its proportions."""
    per_pixel = 72 / axes.figure.dpi
    plan, unit = _fit(network, axes.bbox.width * per_pixel, axes.bbox.height * per_pixel)
    _paint(plan, axes, unit)


def layers(network: QuestionNetwork) -> tuple[int, ...]:
    """The row of every node, in the order of `network.index`: 0 for features, and below whatever a node looks at.

    Nodes that depend on each other share a row. Discounted sums of features stand in row 0 beside their features, as
    in Figure 2c, unless there is nothing else (Figure 2a).
    """
    n = network.n_predictions
    looks_at: list[list[int]] = [[] for _ in range(n)]
    for s, t in zip(*(a.tolist() for a in network.edge_arrays[:2]), strict=True):
        if t < n:
            looks_at[s].append(t)
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
class _Plan:
    """Where everything goes, in units; arrays run over nodes in the order of `network.index`, or over rows."""

    network: QuestionNetwork
    labelled: bool
    row: np.ndarray
    texts: dict[tuple[int, str], str]
    x: np.ndarray
    y: np.ndarray
    level: np.ndarray
    """The y of each row."""
    walls: list[tuple[np.ndarray, np.ndarray]]
    """For each row where its nodes with their texts begin and end, from left to right."""
    step: np.ndarray
    """How near the next thing beside a node is that its lines must clear, in each row."""

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the drawing."""
        left, right = min(start[0] for start, _ in self.walls), max(end[-1] for _, end in self.walls)
        below = 0.75 if any(where == "below" for _, where in self.texts) else 0.5
        above = 1.15 if any(where == "top loop" for _, where in self.texts) else 0.75
        return left - 0.1, right + 0.1, float(self.y.min()) - below, float(self.y.max()) + above

    @property
    def size(self) -> np.ndarray:
        left, right, bottom, top = self.box
        return np.array([right - left, top - bottom])

    @property
    def used(self) -> list[int]:
        """The actions that nodes are conditioned on."""
        return sorted({action for action in self.network.conditions if action is not None})

    @property
    def margin(self) -> tuple[float, float, float]:
        """In points: how wide and high a legend must be, and the names of features above; where there are no labels."""
        if self.labelled:
            return 0.0, 0.0, 0.0
        used = self.used if len(self.used) <= len(ACTION_COLOURS) else []
        wide = sum(LEGEND_TYPE * _width(_shown(self.network.actions[a])) + 26 for a in used)
        return wide, 2 * LEGEND_TYPE * bool(used), 1.5 * LEGEND_TYPE


def _fit(network: QuestionNetwork, width: float, height: float) -> tuple[_Plan, float]:
    """The most readable plan for paper of this many points, and its unit."""
    plan = _plan(network, labelled=network.n_predictions <= MOST_ARROWS)
    unit = min(UNIT, *(np.array([width, height]) / plan.size))
    if plan.labelled and unit * SMALL_TYPE < SMALLEST_TYPE:
        plan = _plan(network, labelled=False)
    return plan, float(min(UNIT, *(np.array([width, max(1.0, height - sum(plan.margin[1:]))]) / plan.size)))


def _plan(network: QuestionNetwork, labelled: bool) -> _Plan:
    row = np.array(layers(network))
    texts = _texts(network, row) if labelled else {}
    count = np.bincount(row)
    lines = -(-count // max(LONGEST_ROW, int(3 * count.max() ** 0.5)))
    left, right = _reach(row, texts)
    if not labelled:  # spread the few features over the width of the many predictions
        left[row == 0] = right[row == 0] = max(RADIUS, 0.35 * (count / lines).max() * lines[0] / count[0] - SPACE / 2)
    x = _columns(network, row, lines, left, right)
    thick = 0.9 * (lines - 1)
    gap = max(1.5, min(0.2, 0.55 / max(1, len(count) - 1)) * np.ptp(x))
    level = -np.concatenate([[0.0], (gap + (thick[1:] + thick[:-1]) / 2).cumsum()])
    y, walls, step = level[row], [], np.full(len(count), 1e9)
    for r in range(len(count)):
        members = np.flatnonzero(row == r)
        members = members[np.argsort(x[members])]
        y[members] += 0.9 * (np.arange(len(members)) % lines[r]) - thick[r] / 2
        walls.append((x[members] - left[members] - SPACE / 3, x[members] + right[members] + SPACE / 3))
        step[r] = np.diff(x[members]).min(initial=1e9)
    for i, where in texts:
        step[row[i]] = min(step[row[i]], {"left": 1.0, "right": 1.0, "loop": 0.5}.get(where, 1e9))
    return _Plan(network, labelled, row, texts, x, y, level, walls, step)


def _texts(network: QuestionNetwork, row: np.ndarray) -> dict[tuple[int, str], str]:
    """What is written where: (node, place) → text."""
    source, target, weight = network.edge_arrays
    looked_at = set(target[source != target].tolist())
    texts: dict[tuple[int, str], str] = {}
    for k in np.flatnonzero(source == target):
        texts[int(source[k]), "loop" if row[source[k]] else "top loop"] = _number(weight[k])
    for i, (name, action) in enumerate(zip(network.predictions, network.conditions, strict=True)):
        condition = None if action is None else network.actions[action]
        if condition is not None:
            texts[i, "left"] = _shown(condition)
            if f"{name},".startswith(f"{condition},"):
                continue  # in a tree the actions on the way are the name
        if _width(_shown(name)) <= 2.4:
            texts[i, "inside"] = _shown(name)
        elif i not in looked_at:
            texts[i, "below"] = _shown(name)
        else:
            texts.setdefault((i, "left" if (i, "loop") in texts else "right"), _shown(name))
    for i, name in enumerate(network.features, network.n_predictions):
        texts[i, "inside" if _width(_shown(name)) <= 1.8 else "above"] = _shown(name)
    return texts


def _reach(row: np.ndarray, texts: dict[tuple[int, str], str]) -> tuple[np.ndarray, np.ndarray]:
    """How far nodes with their texts reach to the left and right of their middles."""
    left, right = np.full((2, len(row)), RADIUS)
    for (i, where), text in texts.items():
        x, _, align = PLACES[where]
        wide = _width(text) * (TYPE if where == "left" else SMALL_TYPE)
        share = {"left": 0.0, "center": 0.5, "right": 1.0}[align]
        left[i], right[i] = max(left[i], share * wide - x), max(right[i], (1 - share) * wide + x)
    for r in range(1, row.max() + 1):  # the same for all nodes of a row: even distances look calmer
        left[row == r], right[row == r] = left[row == r].max(), right[row == r].max()
    return left, right


def _columns(
    network: QuestionNetwork, row: np.ndarray, lines: np.ndarray, left: np.ndarray, right: np.ndarray
) -> np.ndarray:
    """The x of every node: each near the mean of its neighbours, in the order of fewest crossings found."""
    source, target, _ = network.edge_arrays
    group = np.arange(len(row))  # what moves together: a feature and the sums beside it
    beside = (row[source] == 0) & (target >= network.n_predictions)
    group[source[beside]] = target[beside]
    up = row[source] > row[target]
    lower, upper = source[up], target[up]
    near = row[lower] - row[upper] == 1
    # A node with a single edge should stand under what it looks at; edges over several rows are only in the way.
    pull = np.where(near, np.bincount(lower[near], minlength=len(row))[lower].clip(1) ** -2.0, 1e-3)
    order = [np.flatnonzero(row == r) for r in range(row.max() + 1)]
    order[0] = order[0][np.lexsort((order[0] < network.n_predictions, group[order[0]]))]
    x = np.zeros(len(row))

    def sweep(sort: bool) -> int:
        down = [(r, lower, upper) for r in range(1, len(order))]
        for r, mine, theirs in down + [(r, upper, lower) for r in range(len(order) - 2, -1, -1)]:
            members = order[r]
            total = np.bincount(group[mine], pull, len(row))[group[members]]
            mean = np.bincount(group[mine], pull * x[theirs], len(row))[group[members]] / np.maximum(total, 1e-9)
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


def _paint(plan: _Plan, axes: Axes, unit: float) -> None:
    network, n = plan.network, plan.network.n_predictions
    left, right, bottom, top = plan.box
    axes.set(xlim=(left, right), ylim=(bottom - plan.margin[1] / unit, top + plan.margin[2] / unit), aspect="equal")
    axes.set_axis_off()
    if len(network.edges) <= MOST_ARROWS:
        _paint_edges(plan, axes, unit)
    else:
        _paint_many_edges(plan, axes)
    palette = np.array([to_rgb(colour) for colour in ACTION_COLOURS])
    if len(network.actions) > len(palette):
        palette = matplotlib.colormaps["viridis"](np.linspace(0, 0.92, len(network.actions)))[:, :3]
    ink = np.array([to_rgb(INK) if action is None else palette[action] for action in network.conditions])
    tint = 0.2 if plan.labelled else 0.8
    fill = [(1, 1, 1) if action is None else 1 - tint * (1 - palette[action]) for action in network.conditions]
    look = {"linewidth": 0.035 * unit, "zorder": 3, "rasterized": len(network.edges) > MOST_VECTORS, "clip_on": False}
    wide = np.full(n, 2 * RADIUS)
    circles = EllipseCollection(
        wide, wide, np.zeros(n), units="xy", offsets=np.stack([plan.x, plan.y], 1)[:n], offset_transform=axes.transData
    )
    circles.set(facecolor=fill, edgecolor=ink, **look)
    axes.add_collection(circles)
    corners = np.stack([plan.x, plan.y], 1)[n:] - RADIUS
    squares = PatchCollection([Rectangle((x, y), 2 * RADIUS, 2 * RADIUS) for x, y in corners])
    squares.set(facecolor=FEATURE_FILL, edgecolor=INK, **look)
    axes.add_collection(squares)
    for (i, where), text in plan.texts.items():
        x, y, align = PLACES[where]
        action = where == "left" and network.conditions[i] is not None
        size = TYPE if action else min(TYPE, 0.5 / _width(text)) if where == "inside" else SMALL_TYPE
        colour = ink[i] * 0.8 if action else INK if where == "inside" or i >= n else NAME_INK
        _write(axes, plan.x[i] + x, plan.y[i] + y, text, size * unit, color=colour, ha=align)
    if not plan.labelled:
        _paint_key(plan, axes, unit, palette)


def _paint_edges(plan: _Plan, axes: Axes, unit: float) -> None:
    source, target, weight = plan.network.edge_arrays
    rise = plan.row[source] - plan.row[target]
    least = np.minimum(plan.step[plan.row[source]], plan.step[plan.row[target]])
    flat = (rise == 1) & (FLAT * np.abs(plan.x[target] - plan.x[source]) > least * (plan.y[target] - plan.y[source]))
    curved = set(plan.row[source[flat]].tolist())  # all edges of a row alike
    for k, (s, t) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        skip = rise[k] > 1
        route = _route(plan, s, t, curved)
        look = {
            "color": SKIP_INK if skip else INK,
            "zorder": 1 if skip else 2,
            "linewidth": 0.033 * unit * (1 - 0.25 * skip),
        }
        axes.add_patch(FancyArrowPatch(path=route, arrowstyle="-|>", mutation_scale=0.25 * unit, **look))
        if plan.labelled and weight[k] != 1 and s != t:
            x, y = HALFWAY @ np.asarray(route.vertices)[:4]
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.02 * unit}
            _write(axes, x, y, _number(weight[k]), SMALL_TYPE * unit, color=NAME_INK, ha="center", bbox=box)


def _paint_many_edges(plan: _Plan, axes: Axes) -> None:
    """Edges without heads, translucent, and the more so the more of them leave a row."""
    source, target, _ = plan.network.edge_arrays
    for r, skip in np.ndindex(len(plan.level), 2):
        from_row = (plan.row[source] == r) & ((r - plan.row[target] > 1) == skip)
        routes = [_route(plan, s, t) for s, t in zip(source[from_row].tolist(), target[from_row].tolist(), strict=True)]
        # A few paths of many edges each: the file stays small, and overlaps still grow darker.
        paths = [Curve.make_compound_path(*routes[k::32]) for k in range(min(32, len(routes)))]
        bundle = PathCollection(paths, facecolor="none", edgecolor=SKIP_INK if skip else INK, zorder=1 if skip else 2)
        bundle.set(alpha=min(0.6, 0.1 + 80 / max(1, len(routes))), linewidth=0.5, rasterized=len(source) > MOST_VECTORS)
        axes.add_collection(bundle)


def _route(plan: _Plan, s: int, t: int, curved: set[int] | None = None) -> Curve:
    """The line of an edge: to the next row straight or curved, past the nodes of rows between, in a bow within its row.

    Where it does not matter which rows are `curved`, all lines are, and pass whatever is between.
    """
    start, end = np.array([[plan.x[s], plan.y[s]], [plan.x[t], plan.y[t]]])
    if plan.row[s] == plan.row[t]:
        return _bow(plan, s, t, start, end)
    points = [start]
    for r in range(plan.row[s] - 1, plan.row[t], -1) if curved is not None else ():
        (x, y), level = points[-1], plan.level[r]
        x += (end[0] - x) * (level - y) / (end[1] - y)
        starts, ends = plan.walls[r]
        wall = np.searchsorted(starts, x) - 1
        if wall >= 0 and x < ends[wall]:
            x = min(starts[wall], ends[wall], key=lambda edge: abs(edge - x))
        points.append(np.array([x, level]))
    points = np.array([*points, end])
    slope = np.gradient(points, axis=0)
    for k, i in ((0, s), (-1, t)):  # a flat line would run into the neighbours: start and end it upright
        flat = FLAT * abs(slope[k, 0]) > plan.step[plan.row[i]] * slope[k, 1]
        if curved is None or (flat if len(points) > 2 else plan.row[s] in curved):
            slope[k] = 0, 1.5 * slope[k, 1]
    points[0] += _rim(plan, s, slope[0])
    points[-1] -= _rim(plan, t, slope[-1])
    inner = np.stack([points[:-1] + slope[:-1] / 3, points[1:] - slope[1:] / 3, points[1:]], 1)
    return _curve([points[0], *inner.reshape(-1, 2)])


def _bow(plan: _Plan, s: int, t: int, start: np.ndarray, end: np.ndarray) -> Curve:
    """The line of an edge within a row."""
    if s == t:
        hook = RADIUS * np.array([[0.87, 0.5], [2.9, 1.45], [2.9, -1.45], [0.87, -0.5]])
        return _curve(start + (hook if plan.row[s] else hook[:, ::-1] * [-1, 1]))
    way = end - start
    across = (plan.row == plan.row[s]) & (np.abs(plan.x - (start[0] + end[0]) / 2) < 0.49 * abs(way[0]))
    if (
        t >= plan.network.n_predictions
        and not across.any()
        and (s, "left" if way[0] < 0 else "right") not in plan.texts
    ):
        bend = back = np.array([way[0] / 3, 0.0]) * [1, 1]
        back = -bend
    else:  # to the right above and to the left below, so that two nodes can look at each other
        height = min(0.35 + 0.1 * abs(way[0]), 1.0) * (1 if way[0] > 0 and plan.row[s] else -1)
        bend, back = np.array([[0.3 * way[0], height], [-0.3 * way[0], height]])
    return _curve([start + _rim(plan, s, bend), start + bend, end + back, end + _rim(plan, t, back)])


def _curve(points: Sequence[np.ndarray] | np.ndarray) -> Curve:
    return Curve(np.array(points), [Curve.MOVETO, *[Curve.CURVE4] * (len(points) - 1)])


def _rim(plan: _Plan, i: int, direction: np.ndarray) -> np.ndarray:
    """From the middle of a node to its rim."""
    length = np.hypot(*direction) if i < plan.network.n_predictions else np.abs(direction).max()
    return RADIUS * direction / length


def _paint_key(plan: _Plan, axes: Axes, unit: float, palette: np.ndarray) -> None:
    """In place of labels: names of features where there is room, and a legend of the actions."""
    network, n = plan.network, plan.network.n_predictions
    names = [_shown(name) for name in network.features]
    room = np.diff(np.sort(plan.x[n:])).min(initial=np.inf) * unit
    if names and max(map(_width, names)) * LEGEND_TYPE < room:
        for name, x, y in zip(names, plan.x[n:], plan.y[n:], strict=True):
            _write(axes, x, y + RADIUS + 0.7 * LEGEND_TYPE / unit, name, LEGEND_TYPE, color=INK, ha="center")
    if plan.margin[1]:
        dots = [Line2D([], [], linestyle="none", marker="o", markersize=6, color=palette[a]) for a in plan.used]
        look = {"frameon": False, "fontsize": LEGEND_TYPE, "handletextpad": 0.1, "columnspacing": 1, "borderaxespad": 0}
        legend = axes.legend(dots, [""] * len(dots), loc="lower center", ncols=len(dots), **look)
        for text, action in zip(legend.get_texts(), plan.used, strict=True):
            text.set(text=_shown(network.actions[action]), parse_math=False)


def _write(axes: Axes, x: float, y: float, text: str, size: float, **look: Any) -> None:
    axes.text(x, y, text, fontsize=size, va="center_baseline", parse_math=False, zorder=4, **look)


def _shown(name: str) -> str:
    """A name as it is written: on one line, short, and nothing that XML forbids."""
    name = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    return name if len(name) <= 14 else name[:13].rstrip() + "…"


def _width(text: str) -> float:
    """How wide a text is, roughly, for its height."""
    return sum(1.0 if unicodedata.east_asian_width(c) in "WF" else 0.6 for c in text)


def _number(weight: float) -> str:
    return "" if weight == 1 else f"{weight:.3g}".replace("-", "−")
