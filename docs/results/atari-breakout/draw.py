"""Draws curves.png from the metrics beside it, and prints the table of atari.md (mean of the last 20 lines)."""

import json
from pathlib import Path

import numpy as np

from rgvf.analysis import learning_curves

here = Path(__file__).parent
curves = {}
for name in ("a2c", "rgvf-stop-gradient", "rgvf-end-to-end"):
    lines = [json.loads(line) for line in (here / f"{name}.jsonl").read_text().splitlines()]
    lines = [line for line in lines if line["return"] is not None]
    returns = [[line["return"] for line in lines if line["seed"] == seed] for seed in (0, 1)]
    frames = [line["frames"] for line in lines if line["seed"] == 0]
    shortest = min(map(len, [*returns, frames]))
    curves[name] = (frames[-shortest:], np.array([each[-shortest:] for each in returns]))
    print(name, lines[-1]["frames"], [round(float(np.mean(each[-20:])), 2) for each in returns])
title = "Breakout: mean return of the last 100 games, two seeds"
learning_curves(here / "curves.png", curves, title, "return (whole game, unclipped)")
