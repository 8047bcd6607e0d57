"""What the documentation says to type works."""

import json
import math
import re
from pathlib import Path

from rgvf.agents import TASKS

ROOT = Path(__file__).parent.parent


def test_the_page_on_new_tasks(tmp_path, monkeypatch):
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs/new-task.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    names = {"__name__": "example"}
    try:
        for block in blocks:
            exec(block, names)
    finally:
        TASKS.pop("inverse-dynamics", None)
    lines = (tmp_path / "runs/inverse-dynamics/metrics.jsonl").read_text().splitlines()
    losses = [json.loads(line)["inverse-dynamics/loss"] for line in lines]
    assert losses[-1] < losses[0] < 1.2 * math.log(3)
