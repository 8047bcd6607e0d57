"""Draws curves.png from the runs of run.sh (or from the returns kept in returns.json), and prints the table."""

import json
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

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

tasks = [name for name in data if not name.endswith("-stop-gradient")]
figure, axes = plt.subplots(3, 4, figsize=(12, 7.5), sharex=True, sharey=True, layout="constrained")
for axis, task in zip(axes.flat, tasks, strict=False):
    for name, label, colour in ((task, "end-to-end", "C0"), (f"{task}-stop-gradient", "stop-gradient", "C1")):
        if name in data:
            frames = np.array(data[name]["frames"]) / 1e3
            for returns in data[name]["returns"]:
                axis.plot(frames, returns, color=colour, label=label, linewidth=1.2)
                label = None
            final = [float(np.mean(returns[-5:])) for returns in data[name]["returns"]]
            print(f"| {name} | {' / '.join(f'{value:.2f}' for value in final)} |")
    axis.axhline(4.07, color="grey", linewidth=0.8, linestyle=":")
    axis.set_title(task, fontsize=10)
for axis in list(axes.flat)[len(tasks) :]:
    axis.axis("off")
axes.flat[1].legend(fontsize=8)
figure.supxlabel("thousand frames")
figure.supylabel("return, mean of the last 100 games")
figure.savefig(here / "curves.png", dpi=110)
