"""Trials of DeepMind Lab's study with all of its own settings, on a stand-in for the engine."""

import dataclasses

import numpy as np
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
    assert "1 of 12 levels" in conclusion.caution
    random, human, _ = DMLAB_SCORES[LEVEL]
    curves = STUDY.by_agent({})
    assert np.isfinite([random, human]).all()
    assert curves == {}
