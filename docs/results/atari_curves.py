"""Draws curves.png from a folder's metrics, and prints the tables of atari.md.

.venv/bin/python docs/results/atari_curves.py docs/results/atari-kungfumaster
"""

import json
import sys
from pathlib import Path

import numpy as np

from rgvf.analysis import learning_curves

folder = Path(sys.argv[1])
game = {"atari-breakout": "Breakout", "atari-kungfumaster": "KungFuMaster"}[folder.name]
MILLION = 1e6


def lines_of(path: Path) -> list[dict]:
    return [line for line in map(json.loads, path.read_text().splitlines()) if line["return"] is not None]


curves = {}
print("agent, frames, return over the last million frames by seed")
for name in ("a2c", "rgvf-stop-gradient", "rgvf-end-to-end"):
    lines = lines_of(folder / f"{name}.jsonl")
    returns = [[line["return"] for line in lines if line["seed"] == seed] for seed in (0, 1)]
    frames = [line["frames"] for line in lines if line["seed"] == 0]
    shortest = min(map(len, [*returns, frames]))
    curves[name] = (frames[-shortest:], np.array([each[-shortest:] for each in returns]))
    last = np.array(curves[name][0]) > frames[-1] - MILLION
    print(name, frames[-1], [round(float(each[last].mean()), 1) for each in curves[name][1]])
title = f"{game}: mean return of the last 100 games, two seeds"
learning_curves(folder / "curves.png", curves, title, "return (whole game, unclipped)")

if (folder / "pilot.jsonl").exists():
    print("\npilot: game, frames, return at half of them and at the end")
    lines = lines_of(folder / "pilot.jsonl")
    for pilot in dict.fromkeys(line["game"] for line in lines):
        mine = [line for line in lines if line["game"] == pilot]
        half = next(line for line in mine if line["frames"] >= mine[-1]["frames"] / 2)
        print(pilot, mine[-1]["frames"], round(half["return"], 1), round(mine[-1]["return"], 1))
