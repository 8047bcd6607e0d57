"""Runs of a few seconds, and whether two of them are the same."""

import json

import numpy as np

from rgvf.agents import AgentConfig
from rgvf.runs import RunConfig, RunFolder
from rgvf.runs.checkpoint import load_checkpoint
from rgvf.tasks import RandomQuestions

AGENT = AgentConfig(RandomQuestions(depth=2, repeat=2), hidden=8)
CARTPOLE = RunConfig(
    env="gym/CartPole-v1", agent=AGENT, seeds=2, frames=3000, actors=4, steps=5, log_every=300, checkpoint_every=700,
    processes=2,
)  # fmt: skip
BREAKOUT = RunConfig(
    env="atari/Breakout", agent=AGENT, frames=9600, actors=4, steps=5, log_every=800, checkpoint_every=3000, processes=2
)


def final_state(path):
    """All that the last checkpoint holds, and the metrics without the clock."""
    arrays, facts = load_checkpoint(RunFolder(path).checkpoints()[0])
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["seconds"], line["frames_per_second"]
    del facts["metrics_length"], facts["seconds"]
    del facts["metrics_checksum"]  # of lines with the clock
    return arrays, facts, lines


def assert_same(a, b):
    """Two runs ended with the same bits, games included."""
    (arrays, facts, lines), (other_arrays, other_facts, other_lines) = final_state(a), final_state(b)
    assert facts == other_facts
    assert lines == other_lines
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)
