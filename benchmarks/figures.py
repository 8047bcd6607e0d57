"""Draw the figures in docs/results again, from the learning curves that are kept there.

python benchmarks/figures.py                   # all of them
python benchmarks/figures.py minatar catch     # of these folders

The maps of grid-touch need the learned values, which are not kept: rgvf study grid-touch draws them.
"""

import json
import sys
from pathlib import Path

import numpy as np
from PIL import Image

from rgvf.analysis import Line, agent_style, learning_panels
from rgvf.studies import (
    Curves,
    craftax,
    doom,
    grid_random,
    grid_touch,
    hyperparameters,
    minatar,
    minatar_balance,
    minatar_reward,
)
from rgvf.studies.grid import draw_curves
from rgvf.studies.relative_scores import RelativeScores

RESULTS = Path(__file__).parents[1] / "docs/results"
STOPPED = "-stop-gradient"
SOLVED = ("solved", 4.07)  # docs/results/catch.md


def atari(folder, game=None):
    """A panel for each game (in the names of the variants where none is given), three agents in each."""

    def draw(curves):
        panels = {}
        for name, each in curves.items():
            in_game, agent = (game, name.removesuffix("-end-to-end")) if game else name.split(".")
            panels.setdefault(in_game, []).append(Line(agent, each.frames, each.values, agent_style(agent)))
        path = RESULTS / folder / "curves.png"
        return learning_panels([path], panels, "return of the last 100 games, unclipped", band="range")

    return draw


def gym(curves):
    """A panel for each environment."""
    panels = {name: [Line("rgvf", each.frames, each.values, agent_style("rgvf"))] for name, each in curves.items()}
    return learning_panels([RESULTS / "gym/curves.png"], panels, "return of the last 100 episodes")


def catch(curves):
    """A panel for each task, both modes in it."""
    panels = {}
    for name, each in curves.items():
        mode = "stop-gradient" if name.endswith(STOPPED) else "end-to-end"
        line = Line(mode, each.frames, each.values, agent_style(name)._replace(marker=""))
        panels.setdefault(name.removesuffix(STOPPED), []).append(line)
    path, title = RESULTS / "catch/curves.png", "Catch: return of the last 100 games"
    return learning_panels([path], panels, "return", title, columns=4, level=SOLVED)


def comparison(study):
    """Curves and aggregates."""
    return lambda curves: RelativeScores(curves, study.comparison).draw(RESULTS / study.name)


def grid(folder, module):
    """Errors of the values."""
    title = "Error of the learned values, by what trained the representation"
    return lambda curves: [draw_curves(RESULTS / folder / "curves.png", module.VARIANTS, curves, title)]


FIGURES = {
    "atari-breakout": atari("atari-breakout", "Breakout"),
    "atari-games": atari("atari-games"),
    "gym": gym,
    "atari-kungfumaster": atari("atari-kungfumaster", "KungFuMaster"),
    "catch": catch,
    "craftax": comparison(craftax.STUDY),
    "doom": lambda curves: doom.draw(curves, RESULTS / "doom"),
    "grid-random": grid("grid-random", grid_random),
    "grid-touch": grid("grid-touch", grid_touch),
    "minatar": comparison(minatar.STUDY),
    "minatar-reward": comparison(minatar_reward.STUDY),
    "minatar-balance": lambda curves: minatar_balance.draw(curves, RESULTS / "minatar-balance"),
    "minatar-robustness": lambda curves: [
        hyperparameters.draw(
            {name: each.final for name, each in curves.items()}, RESULTS / "minatar-robustness/scatter.png", "Breakout"
        )
    ],
}

for folder in sys.argv[1:] or FIGURES:
    data = json.loads((RESULTS / folder / "curves.json").read_text(encoding="utf-8"))["variants"]
    kept = {name: Curves(each["frames"], np.array(each["values"], float)) for name, each in data.items()}
    for path in FIGURES[folder](kept):
        Image.open(path).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(path, optimize=True)  # a third
        print(path)
