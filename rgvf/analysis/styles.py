"""How lines look: one colour for each task in every figure, solid end-to-end, dashed stop-gradient.

Readers with any kind of colour vision can tell the lines of a figure apart: by colour, by dashes, or by marks on them.
"""

from __future__ import annotations

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
_MARKERS = ("", "o", "s", "^", "D", "v", "P", "X", "<", ">", "*")

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
    chosen: dict[str, Style] = {}
    unknown: dict[str, Style] = {}
    for label, agent in agents.items():
        task, dash = agent.removesuffix(STOPPED), "--" if agent.endswith(STOPPED) else "-"
        if task not in KNOWN and task not in unknown:
            colour, n = _DISTINCT[len(unknown) % len(_DISTINCT)], len(unknown) // len(_DISTINCT)
            unknown[task] = Style(colour, marker=_MARKERS[n % len(_MARKERS)])
        style = (KNOWN | unknown)[task]._replace(dash=dash)
        free = (each for each in (style.marker, *_MARKERS) if style._replace(marker=each) not in chosen.values())
        chosen[label] = style._replace(marker=next(free, style.marker))
    return chosen


def agent_style(agent: str) -> Style:
    """The style of one agent's line."""
    return styles({agent: agent})[agent]
