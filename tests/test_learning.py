"""Agents solve an easy game within a minute: end-to-end, and with a representation that the task alone trains.

With memory they also solve what cannot be solved without.
"""

import json

import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.evaluation import evaluate
from rgvf.runs import RunConfig, load, preset, train
from rgvf.tasks import PixelControlSettings, RandomQuestions
from tests.helpers import Listener

SOLVED = sum(0.95**ball for ball in range(1, 6)) - (1 - 0.95**5)
"""4.07: return of an agent that catches 95 of 100 balls, of five at most and until the first miss."""
RANDOM = -0.5


class NoWarnings(Listener):
    """A listener that fails on warnings."""

    def warn(self, message):
        raise AssertionError(message)


@pytest.mark.slow
@pytest.mark.parametrize("stop_gradient", [False, True], ids=["end-to-end", "stop-gradient"])
@pytest.mark.parametrize(
    "task", [RandomQuestions(depth=4, repeat=8), PixelControlSettings()], ids=lambda task: task.name
)
def test_catch_is_solved(tmp_path, task, stop_gradient):
    agent = AgentConfig(task, stop_gradient=stop_gradient, learning_rate=2e-3, rms_epsilon=1e-7)
    config = RunConfig("gym/rgvf/Catch-v0", agent, frames=150_000, steps=10, log_every=1_600, processes=2)
    trained = train(config, tmp_path / "run", progress=NoWarnings(), should_stop=lambda: False)
    assert trained.frames >= config.frames
    lines = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert lines[0]["return"] < RANDOM + 0.5
    # The last 50,000 frames: at this learning rate one update can spoil the policy for a moment.
    assert np.mean([line["return"] for line in lines if line["frames"] > 100_000]) > SOLVED
    caught = evaluate(load(tmp_path / "run"), games=200, greedy=True, processes=2)
    assert len(caught) == 200
    # Not the same bar, for the same reason: this is one moment.
    assert np.mean(caught) > RANDOM + 1.5


@pytest.mark.medium
def test_a_cue_seen_once_is_remembered_by_the_agent_with_memory_alone(tmp_path):
    """Both train for 160,000 frames. Twelve steps lie between the cue and the choice."""
    returns = {}
    for representation in ("auto", "gru"):
        settings = {"representation": representation, "frames": 160_000, "hidden": 64, "dense": (64,)}
        config = preset("cue/10", "a2c", **settings, memory=64 * (representation == "gru"))
        agent = train(config, tmp_path / representation, progress=False)
        returns[representation] = float(np.mean(evaluate(agent, games=400)))
    assert returns["gru"] > 0.9
    assert abs(returns["auto"]) < 0.2  # 0 in expectation, with a deviation of 0.05
