"""What the documentation says to type works."""

import json
import math
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rgvf
from rgvf.tasks import TASKS
from tests.cli.command import words

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/new-task.md").read_text(encoding="utf-8")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the files of the page: blocks of code that begin with the name of a file."""
    for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
        if match := re.match(r"# (\w+\.py)\n", block):
            (tmp_path / match[1]).write_text(block, encoding="utf-8")
    known = dict(TASKS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    sys.modules.pop("inverse_dynamics", None)
    TASKS.clear()
    TASKS.update(known)


@pytest.mark.medium
def test_the_page_on_new_tasks(folder):
    names = {"__name__": "example"}
    for block in re.findall(r"```python\n(?!# \w+\.py)(.*?)```", PAGE, re.DOTALL):
        exec(block, names)
    lines = (folder / "runs/inverse-dynamics/metrics.jsonl").read_text().splitlines()
    losses = [json.loads(line)["inverse-dynamics/loss"] for line in lines]
    assert losses[-1] < losses[0] < 1.2 * math.log(3)
    agent = rgvf.load("runs/inverse-dynamics")
    assert agent.config.agent.name == "inverse-dynamics+rgvf"
    assert agent.config.agent.to_data()["tasks"][0] == {"task": "inverse-dynamics", "smoothing": 0.01}
    assert agent.answer(np.zeros((2, 10, 10, 2), np.uint8)).shape[0] == 2
    (far,) = rgvf.AgentConfig("far-reward").auxiliary
    network = far.make_network(agent.spec, 0)  # pyright: ignore[reportAttributeAccessIssue]
    assert network.describe(network.predictions[0]).startswith("following the policy")
    with pytest.raises(ValueError, match=r"smoothing must be in \[0, 1\), not 1"):
        type(agent.config.agent.auxiliary[0])(smoothing=1)  # pyright: ignore[reportCallIssue]


@pytest.mark.medium
def test_the_command_line_with_a_new_task(folder):
    (command,) = re.findall(r"```sh\npython (.*?)\n```", PAGE, re.DOTALL)
    arguments = [*shlex.split(command), "--hidden", "8", "--out", "run"]
    done = subprocess.run([sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (task,) = json.loads((folder / "run/config.json").read_text())["agent"]["tasks"]
    assert task == {"task": "inverse-dynamics", "smoothing": 0.1}
    shown = subprocess.run(
        [sys.executable, arguments[0], "train", "--help"], cwd=folder, capture_output=True, text=True
    )
    assert "--inverse-dynamics.smoothing FLOAT" in shown.stdout
    assert "Share of the target that is spread evenly over all actions." in words(shown.stdout)
