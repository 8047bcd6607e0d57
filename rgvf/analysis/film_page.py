"""The picture of one step of a film: the screen and the policy on the left, predictions on the right.

What stays the same is drawn once; for each step only what moves is drawn over it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.text import Text
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2D
from PIL import Image

from rgvf.analysis.plots import COLOURS

SIZE = (960, 540)
"""Width and height of a picture in pixels, as even as a film needs them."""
SCREEN = (20, 64, 370, 346)
"""Where the screen may be: left, top, width, height."""
WINDOW = 100
"""Steps that are shown; fewer where the film is shorter."""
CURVES_FROM = 0.475
"""Where the predictions begin, as a part of the width."""
MARGIN = 6
"""Pixels that stay free beside a text."""
SMALLEST_FONT = 7.0
SIDE_BY_SIDE = 48
"""Characters of the actions' names that fit beside each other below upright bars, if each has as much room."""
ROW, HIGH_ROW, TITLE, BOTTOM = 13, 20, 25, 8
"""Pixels of an action's row, where each has one, and of one of few; above the first row, and below the last one."""
ROWS = (10, 24, 36)
"""How many actions have rows in one column, in two and in three; of more only the bars are shown."""
PAST = 0.7
"""The part of them that is before now."""

_GREY, _DARK, _PALE, _TRACK, _TAKEN = "#7F7F7F", "#333333", "#C9D6DF", "#F3F6F8", COLOURS[4]
_HUES = (_DARK, *(COLOURS[i] for i in (1, 0, 2, 3, 5, 7)))


class Curve(NamedTuple):
    """A prediction along T steps."""

    title: str
    predicted: np.ndarray
    """[T]."""
    happened: np.ndarray | None = None
    """What it turned out to be: [T], NaN where that is not known."""
    played_out: np.ndarray | None = None
    """What it turned out to be where a saved game was played on: [T], NaN elsewhere."""
    patches: tuple[tuple[float, float, float, float], ...] = ()
    """Left, top, width and height of what it is about, as parts of the screen."""


class Film(NamedTuple):
    """All that a film shows."""

    title: str
    screens: Sequence[np.ndarray]
    """RGB images, one for each of T steps."""
    policy: np.ndarray
    """Probabilities: [T, actions]."""
    actions: Sequence[str]
    """Their names."""
    action: np.ndarray
    """The action taken: [T]."""
    reward: np.ndarray
    """[T]."""
    curves: Sequence[Curve]
    notes: Sequence[str] = ()
    """Sentences about what is drawn, below the legend."""


def pages(film: Film) -> Iterator[np.ndarray]:
    """A picture for each step: bytes [height, width, RGB], overwritten by the next one."""
    page = _Page(film)
    for t in range(len(film.screens)):
        yield page.draw(t)


class _Page:
    def __init__(self, film: Film) -> None:
        self._film = film
        self._score = np.concatenate([[0.0], np.cumsum(film.reward)])
        self._moving: list[tuple[Axes | Figure, Artist]] = []
        self._now = Affine2D()
        self._columns = _columns(film.actions)
        rows = -(-len(film.actions) // max(1, self._columns))
        free = SIZE[1] - BOTTOM - TITLE - SCREEN[1] - SCREEN[3]
        self._row = min(HIGH_ROW, max(ROW, free // rows))
        self._rows_from = SIZE[1] - BOTTOM - self._row * rows
        figure = Figure(figsize=(SIZE[0] / 100, SIZE[1] / 100), dpi=100, facecolor="white")
        self._canvas = FigureCanvasAgg(figure)
        _fit(figure.text(0.02, 0.955, film.title, fontsize=11, weight="bold", color=_DARK), CURVES_FROM * SIZE[0])
        self._step = figure.text(0.02, 0.905, "", fontsize=11, color=_DARK)
        self._draw_screen(figure)
        self._draw_policy(figure)
        self._draw_curves(figure)
        self._moving.append((figure, self._step))
        for _, artist in self._moving:
            artist.set_animated(True)
        self._canvas.draw()
        self._background = self._canvas.copy_from_bbox(figure.bbox)

    def _draw_screen(self, figure: Figure) -> None:
        """The screen is pasted into the picture, as large as it fits; patches are drawn over it."""
        film = self._film
        left, top, width, height = SCREEN
        if self._columns:
            height = min(height, self._rows_from - TITLE - top)
        tall, wide = film.screens[0].shape[:2]
        scale = min(width / wide, height / tall)
        wide, tall = round(wide * scale), round(tall * scale)
        left += (width - wide) // 2
        self._place = left, top, wide, tall
        axes = figure.add_axes((left / SIZE[0], 1 - (top + tall) / SIZE[1], wide / SIZE[0], tall / SIZE[1]))
        axes.set(xticks=[], yticks=[], xlim=(0, 1), ylim=(1, 0))
        axes.spines[:].set_color(_PALE)
        marked: list[tuple[float, float, float, float]] = []
        for hue, curve in zip(_cycle(film.curves), film.curves, strict=True):
            for patch in curve.patches:
                inset = 0.007 + 0.014 * marked.count(patch)  # so that none hides another
                marked.append(patch)
                left, top, wide, high = patch
                place = (left + inset, top + inset), wide - 2 * inset, high - 2 * inset
                for colour, thick in (("white", 3.6), (hue, 2.2)):
                    edge = Rectangle(*place, fill=False, edgecolor=colour, linewidth=thick)
                    self._moving.append((axes, axes.add_patch(edge)))

    def _draw_policy(self, figure: Figure) -> None:
        film = self._film
        n = len(film.actions)
        is_small = self._columns > 0 or n > ROWS[-1]  # the bars of many actions
        full = _at_least(float(film.policy.max())) if is_small else 1.0
        words = f"policy (a full bar is {full:g}), and the action taken" if is_small else "policy, and the action taken"
        title = {"fontsize": 8.5, "color": _DARK}
        if self._columns:
            figure.text(SCREEN[0] / SIZE[0], 1 - (self._rows_from - 5) / SIZE[1], words, **title)
            self._draw_rows(figure, full)
            return
        axes = figure.add_axes((0.02, 0.085, 0.385, 0.11))
        axes.set(ylim=(0, full), xlim=(-0.6, n - 0.4), yticks=[])
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.set_title(words, **title, loc="left", pad=3)
        axes.set_xticks(range(n), [""] * n if is_small else film.actions, fontsize=8)
        axes.tick_params(axis="x", length=0)
        self._bars = list(axes.bar(range(n), film.policy[0], width=0.7))
        self._grow, self._least = Rectangle.set_height, 0.02 * full
        self._moving += [(axes, bar) for bar in self._bars]

    def _draw_rows(self, figure: Figure, full: float) -> None:
        """A row for each action, its name on the left: for names that do not fit below upright bars."""
        n, width = len(self._film.actions), SCREEN[2] / self._columns
        rows = -(-n // self._columns)
        places = [(SCREEN[0] + width * (i // rows), self._rows_from + self._row * (i % rows + 0.5)) for i in range(n)]
        names = [
            figure.text(left / SIZE[0], 1 - middle / SIZE[1], name, fontsize=8, color=_DARK, va="center_baseline")
            for name, (left, middle) in zip(self._film.actions, places, strict=True)
        ]
        room = min(max(name.get_window_extent().width for name in names) + 2 * MARGIN, 0.62 * width)
        self._bars, self._grow, self._least = [], Rectangle.set_width, 0.02 * full
        for column in range(self._columns):
            first = SCREEN[0] + width * column + room, 1 - (SIZE[1] - BOTTOM) / SIZE[1]
            size = (width - room - MARGIN) / SIZE[0], self._row * rows / SIZE[1]
            axes = figure.add_axes((first[0] / SIZE[0], first[1], *size))
            axes.set(xlim=(0, full), ylim=(rows - 0.5, -0.5))
            axes.axis("off")
            mine = range(column * rows, min(n, (column + 1) * rows))
            axes.barh([i - mine.start for i in mine], [full] * len(mine), height=0.7, color=_TRACK)
            bars = list(axes.barh([i - mine.start for i in mine], self._film.policy[0][mine], height=0.7))
            self._bars += bars
            self._moving += [(axes, bar) for bar in bars]
        for name, (left, _) in zip(names, places, strict=True):
            _fit(name, left + room)

    def _draw_curves(self, figure: Figure) -> None:
        film = self._film
        n = len(film.curves)
        window = float(np.clip(len(film.screens), 20, WINDOW))
        top, bottom, gap = 0.86 - 0.025 * max(0, len(film.notes) - 2), 0.085, 0.055
        height = (top - bottom - gap * (n - 1)) / n
        for i, (hue, curve) in enumerate(zip(_cycle(film.curves), film.curves, strict=True)):
            axes = figure.add_axes((CURVES_FROM, top - height - i * (height + gap), 0.98 - CURVES_FROM, height))
            _fit(axes.set_title(curve.title, fontsize=9.5, loc="left", color=hue, weight="bold", pad=3), SIZE[0])
            axes.set(xlim=(-PAST * window, (1 - PAST) * window), ylim=_limits(curve))
            axes.yaxis.set_major_locator(MaxNLocator(2, min_n_ticks=2))
            axes.xaxis.set_major_locator(MaxNLocator(8, integer=True))
            axes.tick_params(labelsize=7.5, length=2, labelbottom=i == n - 1, color=_GREY, labelcolor=_GREY)
            axes.spines[["top", "right"]].set_visible(False)
            axes.spines[["left", "bottom"]].set_color(_PALE)
            self._draw_curve(axes, curve, hue)
        lines = [
            Line2D([], [], color=_DARK, linewidth=2, label="answer"),
            Line2D([], [], color=_GREY, linewidth=1.3, linestyle=(0, (3, 2)), label="what then happened"),
        ]
        if any(curve.played_out is not None for curve in film.curves):
            label = "played out from a saved game"
            lines.append(Line2D([], [], color=_DARK, marker="o", markersize=4.5, linestyle="", label=label))
        place = {"loc": "upper right", "bbox_to_anchor": (0.985, 0.998)}
        figure.legend(handles=lines, **place, ncols=3, frameon=False, fontsize=8.5, columnspacing=1.2)
        figure.text(0.98, 0.948, "\n".join(film.notes), fontsize=7.5, color=_GREY, ha="right", va="top")
        figure.text(0.727, 0.012, "steps from now", fontsize=8, color=_GREY, ha="center")

    def _draw_curve(self, axes: Axes, curve: Curve, hue: str) -> None:
        time = np.arange(len(curve.predicted))
        moved = self._now + axes.transData
        drawn: list[Artist] = []
        if curve.happened is not None:
            dashed = {"linewidth": 1.3, "linestyle": (0, (3, 2)), "color": _GREY}
            drawn += axes.plot(time, curve.happened, **dashed, transform=moved)
        drawn += axes.plot(time, curve.predicted, color=hue, linewidth=1.8, transform=moved)
        if curve.played_out is not None:
            dots = {"marker": "o", "markersize": 4.5, "linestyle": "", "markeredgecolor": "white", "color": hue}
            drawn += axes.plot(time, curve.played_out, **dots, markeredgewidth=0.6, transform=moved)
        drawn.append(axes.axvspan(0, WINDOW, color="white", alpha=0.6, linewidth=0))
        drawn.append(axes.axvline(0, color=_DARK, linewidth=1))
        self._moving += [(axes, artist) for artist in drawn]

    def draw(self, t: int) -> np.ndarray:
        """The picture of step t."""
        film, taken = self._film, int(self._film.action[t])
        self._now.clear().translate(-t, 0)
        for i, (bar, probability) in enumerate(zip(self._bars, film.policy[t], strict=True)):
            self._grow(bar, max(float(probability), self._least))
            bar.set_color(_TAKEN if i == taken else _PALE)
        gives = [f"reward {film.reward[t]:+g}"] * bool(film.reward[t])
        words = [f"step {t}", f"return {self._score[t]:g}", *gives, f"action {film.actions[taken]}"]
        self._step.set(text="   ".join(words), fontsize=11)
        _fit(self._step, CURVES_FROM * SIZE[0])
        self._canvas.restore_region(self._background)
        self._paste(film.screens[t])
        for parent, artist in self._moving:
            parent.draw_artist(artist)
        return np.asarray(self._canvas.buffer_rgba())[..., :3]

    def _paste(self, screen: np.ndarray) -> None:
        left, top, width, height = self._place
        how = Image.Resampling.NEAREST if screen.shape[1] <= width else Image.Resampling.BOX
        resized = np.asarray(Image.fromarray(screen).resize((width, height), how))
        np.asarray(self._canvas.buffer_rgba())[top : top + height, left : left + width, :3] = resized


def _fit(text: Text, right: float) -> None:
    """Make a text small enough to end left of a pixel; cut what is too long even then."""
    size = float(text.get_fontsize())
    while text.get_window_extent().x1 > right - MARGIN:
        if size > SMALLEST_FONT:
            size -= 0.5
            text.set_fontsize(size)
        else:
            text.set_text(text.get_text()[:-2].rstrip() + "…")


def _cycle(curves: Sequence[Curve]) -> list[str]:
    return [_HUES[i % len(_HUES)] for i in range(len(curves))]


def _limits(curve: Curve) -> tuple[float, float]:
    values = np.concatenate([each for each in (curve.predicted, curve.happened, curve.played_out) if each is not None])
    values = values[np.isfinite(values)]
    low, high = (values.min(), values.max()) if len(values) else (0.0, 1.0)
    margin = 0.06 * (high - low) or 0.5
    return float(low - margin), float(high + margin)


def _columns(actions: Sequence[str]) -> int:
    """Columns of rows of actions; 0 where upright bars beside each other have room for the names, or nothing has."""
    n = len(actions)
    if max(map(len, actions)) * n <= SIDE_BY_SIDE or n > ROWS[-1]:
        return 0
    return next(i for i, most in enumerate(ROWS, 1) if n <= most)


def _at_least(probability: float) -> float:
    """A round number that is not below."""
    return min(1.0, math.ceil(max(probability, 0.05) * 20) / 20)
