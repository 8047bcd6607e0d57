"""Drawings of question networks, in the manner of the paper's Figures 1a and 2.

Squares are features and circles are predictions; an arrow leads from a node to what it looks at.
"""

from __future__ import annotations

import io
import threading
import warnings
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

from rgvf.questions.graph import QuestionGraph
from rgvf.questions.layout import (
    ACTION_COLOURS,
    LEGEND_TYPE,
    MAX_ARROWS,
    MAX_VECTORS,
    PAPER,
    PLACES,
    RADIUS,
    SMALL_TYPE,
    TYPE,
    Layout,
    fit,
    label,
    number,
    text_width,
)

INK, SKIP_INK, NAME_INK, FEATURE_FILL = "#2b2b2b", "#aab2bf", "#5f6670", "#ececE8"
# rcParams belong to the process: only one thread at a time may change them.
_SETTINGS = threading.Lock()


def draw(network: QuestionGraph, path: str | Path) -> Path:
    """Draw the network to an SVG or PNG file, by the path's suffix; the same network gives the same bytes."""
    path = Path(path)
    kind = path.suffix.lower().removeprefix(".")
    if kind not in ("svg", "png"):
        raise ValueError(f"{str(path)!r}: a drawing is an .svg or a .png file; the suffix {path.suffix!r} is neither")
    content = render(network, kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def render(network: QuestionGraph, kind: str) -> bytes:
    """The drawing as svg or png."""
    style: Any = {"svg.hashsalt": "rgvf", "svg.fonttype": "none", "font.sans-serif": ["DejaVu Sans"]}
    content = io.BytesIO()
    with _SETTINGS, matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # a name may have letters that the font lacks
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(style)
        layout, unit = fit(network, *PAPER)
        (width, height), (least_width, below, above) = layout.size * unit, layout.margin
        figure = Figure(figsize=(max(width, least_width, 72) / 72, (height + below + above) / 72))
        _paint(layout, figure.add_axes((0, 0, 1, 1)), unit)
        dpi = 200 if layout.labelled else 120 if len(network.edges) <= MAX_VECTORS else 100
        figure.savefig(content, format=kind, dpi=dpi, metadata={"Date": None} if kind == "svg" else None)
    return content.getvalue()


def draw_on(network: QuestionGraph, axes: Axes) -> None:
    """Draw the network onto axes of any size: it fits the size they have now, and keeps its proportions."""
    per_pixel = 72 / axes.figure.dpi
    layout, unit = fit(network, axes.bbox.width * per_pixel, axes.bbox.height * per_pixel)
    _paint(layout, axes, unit)


def _paint(layout: Layout, axes: Axes, unit: float) -> None:
    left, right, bottom, top = layout.box
    _, below, above = layout.margin
    axes.set(xlim=(left, right), ylim=(bottom - below / unit, top + above / unit), aspect="equal")
    axes.set_axis_off()
    if len(layout.network.edges) > MAX_ARROWS:
        _paint_lines(layout, axes, unit)
    else:
        _paint_arrows(layout, axes, unit)
    colours, n_actions = np.array([to_rgb(colour) for colour in ACTION_COLOURS]), len(layout.network.actions)
    if n_actions > len(colours):
        colours = matplotlib.colormaps["viridis"](np.linspace(0, 0.88, n_actions))[:, :3]
    _paint_nodes(layout, axes, unit, colours)
    if not layout.labelled:
        _paint_key(layout, axes, unit, colours)


def _paint_nodes(layout: Layout, axes: Axes, unit: float, colours: np.ndarray) -> None:
    n, conditions = layout.network.n_predictions, layout.network.conditions
    ink = np.array([to_rgb(INK) if action is None else colours[action] for action in conditions])
    tint = 0.2 if layout.labelled else 0.8
    fill = [(1, 1, 1) if action is None else 1 - tint * (1 - colours[action]) for action in conditions]
    raster = len(layout.network.edges) > MAX_VECTORS
    look = {"linewidth": 0.035 * unit, "zorder": 3, "rasterized": raster, "clip_on": False}
    middle, wide = np.stack([layout.x, layout.y], 1), np.full(n, 2 * RADIUS)
    shape: Any = {"units": "xy", "offsets": middle[:n], "offset_transform": axes.transData}
    axes.add_collection(EllipseCollection(wide, wide, 0 * wide, facecolor=fill, edgecolor=ink, **shape, **look))
    squares = [Rectangle((x, y), 2 * RADIUS, 2 * RADIUS) for x, y in middle[n:] - RADIUS]
    axes.add_collection(PatchCollection(squares, facecolor=FEATURE_FILL, edgecolor=INK, **look))
    for (i, where), text in layout.texts.items():
        if not text:
            continue
        x, y, align = PLACES[where]
        action = where == "left" and conditions[i] is not None
        size = TYPE if action else min(TYPE, 0.5 / text_width(text)) if where == "inside" else SMALL_TYPE
        colour = ink[i] * 0.8 if action else INK if where == "inside" or i >= n else NAME_INK
        _write(axes, layout.x[i] + x, layout.y[i] + y, text, size * unit, color=colour, ha=align)


def _paint_key(layout: Layout, axes: Axes, unit: float, colours: np.ndarray) -> None:
    """In place of labels: the names of features where there is room, and a legend of the actions."""
    names, n = [label(name) for name in layout.network.features], layout.network.n_predictions
    room = np.diff(np.sort(layout.x[n:])).min(initial=1e9) * unit
    if LEGEND_TYPE * max(map(text_width, names), default=0) < room:
        for name, x, y in zip(names, layout.x[n:], layout.y[n:], strict=True):
            _write(axes, x, y + RADIUS + 0.7 * LEGEND_TYPE / unit, name, LEGEND_TYPE, color=INK, ha="center")
    if layout.legend:
        dots = [Line2D([], [], linestyle="none", marker="o", markersize=6, color=colours[a]) for a in layout.legend]
        look = {"frameon": False, "fontsize": LEGEND_TYPE, "handletextpad": 0.1, "columnspacing": 1, "borderaxespad": 0}
        legend = axes.legend(dots, [""] * len(dots), loc="lower center", ncols=len(dots), **look)
        for text, action in zip(legend.get_texts(), layout.legend, strict=True):
            text.set(text=label(layout.network.actions[action]), parse_math=False, usetex=False)


def _paint_arrows(layout: Layout, axes: Axes, unit: float) -> None:
    for s, t, weight in zip(*(a.tolist() for a in layout.network.edge_arrays), strict=True):
        skip = layout.row[s] - layout.row[t] > 1
        thin = unit * (0.75 if skip else 1.0)
        route = _route(layout, s, t, bool(layout.curved[layout.row[s]]))
        look: Any = {"color": SKIP_INK if skip else INK, "zorder": 1 if skip else 2, "clip_on": False}
        shape: Any = {"arrowstyle": "-|>", "mutation_scale": 0.25 * thin, "linewidth": 0.033 * thin}
        axes.add_patch(FancyArrowPatch(path=route, **shape, **look))
        if layout.labelled and weight != 1 and s != t:
            part = np.array([0.42, 0.42, 0.14, 0.02] if skip else [0.125, 0.375, 0.375, 0.125])  # of a cubic curve
            x, y = part @ np.asarray(route.vertices)[:4]
            box = {"facecolor": "white", "edgecolor": "none", "pad": 0.02 * unit}
            _write(axes, x, y, number(weight), SMALL_TYPE * unit, color=NAME_INK, ha="center", bbox=box)


def _paint_lines(layout: Layout, axes: Axes, unit: float) -> None:
    """Edges without heads, the more translucent the more of them leave a row."""
    source, target, _ = layout.network.edge_arrays
    for r, skip in np.ndindex(len(layout.level), 2):
        some = (layout.row[source] == r) & ((r - layout.row[target] > 1) == skip)
        pairs = zip(source[some].tolist(), target[some].tolist(), strict=True)
        routes = [_route(layout, s, t, curved=True, around=False) for s, t in pairs]
        # A few paths of many edges each: the file stays small, and overlaps still grow darker.
        paths = [Curve.make_compound_path(*routes[k::32]) for k in range(min(32, len(routes)))]
        look = {"facecolor": "none", "edgecolor": SKIP_INK if skip else INK, "linewidth": min(0.5, 0.06 * unit)}
        bundle = PathCollection(paths, alpha=min(0.6, 0.1 + 80 / max(1, len(routes))), **look)
        bundle.set(zorder=1 if skip else 2, rasterized=len(source) > MAX_VECTORS, clip_on=False)
        axes.add_collection(bundle)


def _route(layout: Layout, s: int, t: int, curved: bool, around: bool = True) -> Curve:
    """The line of an edge to a higher row, around the nodes of the rows between; `_bow` within a row."""
    start, end = np.array([[layout.x[s], layout.y[s]], [layout.x[t], layout.y[t]]])
    if layout.row[s] == layout.row[t]:
        return _bow(layout, s, t, start, end)
    points, lean = [start], [1.0]
    for r in range(layout.row[s] - 1, layout.row[t], -1) if around else ():
        (x, y), level, (left, right) = points[-1], layout.level[r], layout.walls[r]
        x += (end[0] - x) * (level - y) / (end[1] - y)
        wall = np.searchsorted(left, x) - 1
        blocked = wall >= 0 and x < right[wall]
        if blocked:
            x = left[wall] if x - left[wall] < right[wall] - x else right[wall]
        points.append(np.array([x, level]))
        lean.append(0.4 if blocked else 1.0)  # steeper past a node, so as not to cut its corner
    points = np.array([*points, end])
    slope = np.gradient(points, axis=0)
    slope[:, 0] *= [*lean, 1.0]
    if curved:  # upright at both ends
        slope[[0, -1]] *= 0, 1.5
    points[0] += _rim(layout, s, slope[0])
    points[-1] -= _rim(layout, t, slope[-1])
    inner = np.stack([points[:-1] + slope[:-1] / 3, points[1:] - slope[1:] / 3, points[1:]], 1)
    return _curve(np.concatenate([points[:1], inner.reshape(-1, 2)]))


def _bow(layout: Layout, s: int, t: int, start: np.ndarray, end: np.ndarray) -> Curve:
    """The line of an edge within a row."""
    if s == t:
        hook = RADIUS * np.array([[0.87, 0.5], [2.9, 1.45], [2.9, -1.45], [0.87, -0.5]])
        return _curve(start + (hook if layout.row[s] else hook[:, ::-1] * [-1, 1]))
    way = end[0] - start[0]
    between = (layout.row == layout.row[s]) & (np.abs(layout.x - (start[0] + end[0]) / 2) < 0.49 * abs(way))
    taken = between.any() or (s, "left" if way < 0 else "right") in layout.texts
    feature = t >= layout.network.n_predictions
    # To the right above and to the left below, so that two nodes can look at each other.
    height = 0.0 if feature and not taken else min(0.35 + 0.1 * abs(way), 1.0) * (1 if way > 0 and not feature else -1)
    bend, back = np.array([[0.35 * way, height], [-0.35 * way, height]])
    return _curve(np.array([start + _rim(layout, s, bend), start + bend, end + back, end + _rim(layout, t, back)]))


def _rim(layout: Layout, i: int, direction: np.ndarray) -> np.ndarray:
    """From the middle of a node to its rim."""
    length = np.hypot(*direction) if i < layout.network.n_predictions else np.abs(direction).max()
    return RADIUS * direction / length


def _curve(points: np.ndarray) -> Curve:
    return Curve(points, [Curve.MOVETO, *[Curve.CURVE4] * (len(points) - 1)])


def _write(axes: Axes, x: float, y: float, text: str, size: float, **look: Any) -> None:
    axes.text(x, y, text, fontsize=size, va="center_baseline", parse_math=False, usetex=False, zorder=4, **look)
