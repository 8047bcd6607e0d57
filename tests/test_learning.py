"""Agents learn an easy task in under a minute, by reward and questions together and by questions alone."""

import json

import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.training.config import RunConfig
from rgvf.training.play import evaluate
from rgvf.training.run import train

LEARNED = 150.0
"""Far above a random policy, and far below the 475 that count as solved."""
RANDOM = 25.0
"""A random policy balances the pole for about 22 steps."""


class Quiet:
    def warn(self, message):
        raise AssertionError(message)

    def progress(self, frames, total, speed, lines):
        pass


@pytest.mark.parametrize("stop_gradient", [False, True], ids=["end-to-end", "stop-gradient"])
def test_cartpole_is_learned(tmp_path, stop_gradient):
    agent = AgentConfig(stop_gradient=stop_gradient, learning_rate=2e-3, hidden=64, depth=4, repeat=8)
    config = RunConfig(env="gym/CartPole-v1", agent=agent, frames=150_000, log_every=10_000, processes=2)
    assert train(config, tmp_path / "run", Quiet(), lambda: False)
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines[0]["return"] < 2 * RANDOM
    assert lines[-1]["return"] > LEARNED
    greedy = evaluate(rgvf.load(tmp_path / "run"), games=16, greedy=True, processes=2)
    assert len(greedy) == 16
    assert np.mean(greedy) > LEARNED
