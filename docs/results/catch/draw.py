"""Draws curves.png from the runs of run.sh (or from the returns kept in returns.json), and prints the table."""

import json
from pathlib import Path

import numpy as np

from rgvf.analysis import learning_panels

here = Path(__file__).parent
runs, kept = here.parents[2] / "runs/catch", here / "returns.json"
if runs.is_dir():
    data = {}
    for folder in sorted(runs.iterdir()):
        lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
        seeds = sorted({line["seed"] for line in lines})
        data[folder.name] = {
            "frames": [line["frames"] for line in lines if line["seed"] == seeds[0]],
            "returns": [[line["return"] for line in lines if line["seed"] == seed] for seed in seeds],
        }
    kept.write_text(json.dumps(data) + "\n")
data = json.loads(kept.read_text())

panels = {}
for task in (name for name in data if not name.endswith("-stop-gradient")):
    for name, label in ((task, "end-to-end"), (f"{task}-stop-gradient", "stop-gradient")):
        if name in data:
            # Before the first game is over there is no return.
            frames, returns = data[name]["frames"], np.array(data[name]["returns"], float)
            known = ~np.isnan(returns).any(0)
            panels.setdefault(task, {})[label] = (np.array(frames)[known], returns[:, known])
            print(f"| {name} | {' / '.join(f'{value:.2f}' for value in returns[:, -5:].mean(1))} |")
title = "Catch: mean return of the last 100 games (dashed: solved)"
learning_panels(here / "curves.png", panels, title, "return", columns=4, level=4.07)
