"""Trials of DeepMind Lab's study with all of its own settings, on a stand-in for the engine."""

import dataclasses
import json

import pytest

from rgvf.analysis import DMLAB_SCORES
from rgvf.studies import run_study
from rgvf.studies.dmlab_12 import STUDY, LabConfig
from rgvf.studies.plan import make_plan
from tests.environments.conftest import STANDINS
from tests.studies.test_pool import Recorder

LEVEL = "explore_goal_locations_small"
UPDATE = 32 * 20 * 4
"""Frames of 32 actors, 20 steps and an action repeat of 4."""


@pytest.mark.slow
def test_trials_and_a_plan_with_the_stand_in(lab, monkeypatch, tmp_path):
    monkeypatch.setenv("STANDIN_FRAMES", "160")  # more than the opening's 120
    monkeypatch.setenv("PYTHONPATH", STANDINS)  # processes of their own find it, too
    config = LabConfig(games=(LEVEL,), agents=("a2c", "rgvf"), seeds=1, frames=3 * UPDATE, points=3)
    plan = make_plan(STUDY, dataclasses.replace(config, agents=("a2c",)), tmp_path / "new", parallel=1, seconds=1)
    assert (plan.agents, plan.frames) == (1, 3 * UPDATE)
    assert all(kind.rate > 0 for kind in plan.kinds)
    assert not (tmp_path / "new").exists()
    recorder = Recorder()
    conclusion = run_study(STUDY, config, tmp_path / "study", listener=recorder, parallel=1)
    assert recorder.warnings == []
    assert [row[:3] for row in conclusion.table[1:]] == [("a2c", "1", "1"), ("rgvf", "1", "1")]
    assert {claim.holds for claim in conclusion.claims} == {None}
    assert "This has 1 game, 2 agents, 1 seed, 7,680 frames" in conclusion.caution
    found = json.loads((tmp_path / "study/curves.json").read_text())["variants"]
    assert {name: each["frames"][-1] for name, each in found.items()} == {
        f"{LEVEL}.{agent}.0": 3 * UPDATE for agent in config.agents
    }
    random, human, _ = DMLAB_SCORES[LEVEL]
    for row, each in zip(conclusion.table[1:], found.values(), strict=True):
        score = (each["values"][0][-1] - random) / (human - random)
        assert float(row[3].split()[0]) == pytest.approx(min(1.0, score), abs=6e-4)
