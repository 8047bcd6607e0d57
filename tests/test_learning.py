"""Agents solve an easy task within a minute, by reward and questions together and by questions alone."""

import json

import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.training.config import RunConfig
from rgvf.training.play import evaluate
from rgvf.training.run import train

SOLVED = sum(0.95**ball for ball in range(1, 6)) - (1 - 0.95**5)
"""4.07: return of one who catches 95 of 100 balls, of five at most and until the first miss."""
RANDOM = -0.5


class Quiet:
    def warn(self, message):
        raise AssertionError(message)

    def progress(self, frames, total, speed, lines):
        pass


@pytest.mark.parametrize("stop_gradient", [False, True], ids=["end-to-end", "stop-gradient"])
@pytest.mark.parametrize("name", ["rgvf", "pixel-control"])
def test_catch_is_solved(tmp_path, name, stop_gradient):
    agent = AgentConfig(name, stop_gradient, learning_rate=2e-3, rms_epsilon=1e-7, depth=4, repeat=8)
    config = RunConfig(env="gym/rgvf/Catch-v0", agent=agent, frames=150_000, steps=10, log_every=1_600, processes=2)
    assert train(config, tmp_path / "run", Quiet(), lambda: False)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines[0]["return"] < RANDOM + 0.5
    assert lines[-1]["return"] > SOLVED
    caught = evaluate(rgvf.load(tmp_path / "run"), games=200, greedy=True, processes=2)
    assert len(caught) == 200
    # Not the same bar: at this learning rate one update can spoil the policy for a moment, and this is one moment.
    assert np.mean(caught) > RANDOM + 1.5
