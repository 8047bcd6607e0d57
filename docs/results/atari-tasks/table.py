"""Prints the table of atari.md from the metrics beside it: a loss in the first line, and its mean in two quarters."""

import json
from pathlib import Path

lines = [json.loads(line) for line in (Path(__file__).parent / "metrics.jsonl").read_text().splitlines()]
for task in dict.fromkeys(line["agent"].removesuffix("--stop-gradient") for line in lines):
    cells = []
    for agent in (task, f"{task}--stop-gradient"):
        losses = [line[f"{task}/loss"] for line in lines if line["agent"] == agent]
        quarter = len(losses) // 4
        means = losses[0], sum(losses[:quarter]) / quarter, sum(losses[-quarter:]) / quarter
        cells.append(", ".join(f"{mean:.3g}" for mean in means))
    print(f"| {task} | {' | '.join(cells)} |")
