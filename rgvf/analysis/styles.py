"""How lines look: one colour for each task in every figure, solid end-to-end, dashed stop-gradient.

Readers with any kind of colour vision can tell the lines of a figure apart: by colour, by dashes, or by marks on them.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping
from typing import Literal, NamedTuple

STOPPED = "-stop-gradient"
"""Ends the label of an agent whose representation is trained by the auxiliary tasks only."""


class Style(NamedTuple):
    """How a line looks."""

    colour: str
    dash: Literal["-", "--"] = "-"
    marker: str = ""
    """Of Matplotlib; none where it is empty."""


BLACK, RED, AMBER, SKY, VIOLET, WINE = "#000000", "#CC3311", "#FFB000", "#56B4E9", "#785EF0", "#AA3377"
GREY = "#8C8C8C"
"""For lines that are no agent's."""
_DISTINCT = (RED, SKY, VIOLET, AMBER, WINE, BLACK)
_OTHER_MARKERS = ("", "<", ">", "*", "d", "p", "h", "o", "s", "^", "D", "v", "P", "X")
"""Of tasks that have no style of their own, and of several lines of one agent: the first are no known task's."""

KNOWN: Mapping[str, Style] = {
    "a2c": Style(BLACK),
    "rgvf": Style(RED),
    "mhvp": Style(AMBER),
    "pixel-control": Style(SKY),
    "curl": Style(VIOLET),
    "rgvf-no-actions": Style(WINE, marker="o"),
    "rgvf-shallow": Style("#009E73", marker="s"),
    "rgvf-discounted-sum": Style("#0072B2", marker="^"),
    "reward-prediction": Style("#8B4513", marker="D"),
    "termination-prediction": Style("#7F7F7F", marker="v"),
    "questions": Style("#117733", marker="P"),
    "rgvf+pixel-control": Style("#E8743B", marker="X"),
    "action-values": Style(VIOLET, marker="D"),
    "rgvf+action-values": Style("#009E73"),
    "random-and-action-values": Style(SKY, marker="^"),
    "action-values-no-actions": Style("#0072B2", marker="<"),
    "rgvf+action-values-no-actions": Style(WINE, marker="o"),
    "rgvf+action-values-depth-0": Style(AMBER, marker="s"),
    "rgvf+action-values-depth-1": Style("#0072B2", marker="^"),
    # The grid world: what trained the representation.
    "end-to-end": Style(BLACK),
    "random representation": Style(GREY),
    "discounted sum": Style("#D55E00", marker="^"),
    "tree of depth 1": Style("#A6CFEA"),
    "tree of depth 2": Style("#4F9BD3", marker="o"),
    "tree of depth 3": Style("#1C62A8"),
    "tree of depth 4": Style("#0B2A5C", marker="o"),
    "random questions, touch": Style("#009E73", marker="s"),
    "random questions, 1 random feature": Style("#F2A97C"),
    "random questions, 4 random features": Style("#E8743B", marker="^"),
    "random questions, 16 random features": Style("#B3420F"),
    "random questions, 64 random features": Style("#5A1A00", marker="^"),
}
"""By task, or by label in the grid world."""


def styles(agents: Mapping[str, str]) -> dict[str, Style]:
    """Styles for the lines of one figure, all different.

    Args:
        agents: by label of a line, the agent whose line it is (rgvf-stop-gradient), or any other name.
    """
    tasks = {label: agent.removesuffix(STOPPED) for label, agent in agents.items()}
    known = {KNOWN[task] for task in tasks.values() if task in KNOWN}
    free = (Style(colour, marker=marker) for marker in _OTHER_MARKERS for colour in _DISTINCT)
    free = itertools.chain((style for style in free if style not in known), itertools.repeat(Style(GREY)))
    by_task = {task: KNOWN.get(task) or next(free) for task in dict.fromkeys(tasks.values())}
    chosen: dict[str, Style] = {}
    count: Counter[str] = Counter()
    for label, agent in agents.items():
        style = by_task[tasks[label]]._replace(dash="--" if agent.endswith(STOPPED) else "-")
        chosen[label] = _again(style, count[agent])
        count[agent] += 1
    return chosen


def _again(style: Style, times: int) -> Style:
    """Another line of the same agent: a lighter or darker colour, and another marker."""
    if not times:
        return style
    markers = [each for each in _OTHER_MARKERS if each not in ("", style.marker)]
    return style._replace(colour=_SHADES[times % 3](style.colour), marker=markers[(times - 1) % len(markers)])


def _mixed(colour: str, with_: int, share: float) -> str:
    parts = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round((1 - share) * part + share * with_):02X}" for part in parts)


_SHADES = (
    lambda colour: colour,
    lambda colour: _mixed(colour, 255, 0.45),
    lambda colour: _mixed(colour, 0, 0.5),
)


def agent_style(agent: str) -> Style:
    """The style of one agent's line."""
    return styles({agent: agent})[agent]
