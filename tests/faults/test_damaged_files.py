"""Runs and studies whose files were changed."""

import itertools
import random
import shutil
import warnings

import jax
import numpy as np
import pytest

import rgvf
from rgvf.errors import UserError
from rgvf.runs import MAY_CHANGE, RunError, RunFolder
from rgvf.runs.config import differences
from rgvf.runs.train import resume
from rgvf.studies import Conclusion, Curves, Study, StudyConfig, run_study
from rgvf.studies.runs import read_curves
from tests.faults.common import SHARE, assert_one_sentence, damage
from tests.helpers import Listener
from tests.runs.small_runs import CARTPOLE, assert_same

DAMAGED_RUNS = round(700 * SHARE)
RESUMED_EVERY = 20  # a damaged run is loaded, and one in so many is also trained to its end
DAMAGED_STUDIES = round(300 * SHARE)


pytestmark = [pytest.mark.slow, pytest.mark.unchecked_types]


def load_quietly(folder):
    """The agent, and whether a warning said that another checkpoint was used."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return rgvf.load(folder), bool(caught)


def assert_loads_right(folder, good):
    """The agent, its configuration and its questions are right, or a sentence says what is wrong."""
    try:
        agent, warned = load_quietly(folder)
    except (UserError, ValueError) as error:
        return assert_one_sentence(error)
    assert not differences(agent.config, good[0].config).keys() - MAY_CHANGE
    (expected,) = [each for each in good if each.frames == agent.frames]
    newest_is_there = any(path.stem == f"{good[0].frames:012d}" for path in RunFolder(folder).checkpoints())
    other_rules = RunFolder.open(folder)[0].rules != 1  # the digit that was damaged may be that of their version
    assert warned == ((newest_is_there and expected is not good[0]) or other_rules)
    assert agent.networks == expected.networks
    jax.tree.map(np.testing.assert_array_equal, agent.agent, expected.agent)


def assert_resumes_right(folder, whole):
    """The run ends as it would have, or a sentence says what is wrong; lost or changed metrics are reported."""
    listener = Listener()
    try:
        resume(folder, progress=listener)
    except (UserError, ValueError) as error:
        return assert_one_sentence(error)
    if RunFolder.open(folder)[1].frames != CARTPOLE.frames:
        return None  # `frames` is the user's to change
    if any("metrics.jsonl" in warning for warning in listener.warnings):
        shutil.copy(whole / "metrics.jsonl", folder)
    return assert_same(folder, whole)


def test_damaged_runs(stopped, tmp_path):
    origin, whole = stopped
    rng = random.Random(1)
    newest, older, *_ = [str(path.relative_to(origin)) for path in RunFolder(origin).checkpoints()]
    names = ["config.json", newest, "questions.seed-0.json", "metrics.jsonl", older, "config.json", newest]
    good = [rgvf.load(origin, checkpoint=int(path.stem)) for path in RunFolder(origin).checkpoints()]
    for case in range(DAMAGED_RUNS):
        folder, name = tmp_path / str(case), names[case % len(names)]
        shutil.copytree(origin, folder)
        kind = damage(folder / name, rng)
        try:
            if name == "metrics.jsonl":
                assert_curves_are_right(folder, origin)
            else:
                assert_loads_right(folder, good)
            if case % RESUMED_EVERY == 0:
                assert_resumes_right(folder, whole)
        except BaseException as error:
            error.add_note(f"case {case}: {name}, {kind}")
            raise
        shutil.rmtree(folder)


def assert_curves_are_right(folder, origin):
    """What a study would read from the run."""
    try:
        found = read_curves(folder, CARTPOLE)
    except RunError as error:
        return assert_one_sentence(error, "metrics.jsonl has lost lines or was changed; delete")
    expected = read_curves(origin, CARTPOLE)
    assert found.frames == expected.frames
    return np.testing.assert_array_equal(found.values, expected.values)


class Quick(Study):
    """A study whose results are numbers that cost nothing."""

    name, config_type, variants = "quick", StudyConfig, ("a", "b", "c")

    def run(self, config, variants, listener, folder):
        del listener, folder
        values = {name: np.full((config.seeds, 3), ord(name) / 7) for name in variants}
        return {name: Curves([0, 5, config.frames], each) for name, each in values.items()}

    def identity(self, config, variant):
        del config
        return {"variant": variant}

    def judge(self, config, curves, folder):
        del config, folder
        return Conclusion([(name, *map(str, each.values.ravel())) for name, each in curves.items()], [], [])


def test_damaged_studies(tmp_path):
    rng, config = random.Random(2), StudyConfig(seeds=2, frames=10)
    right = run_study(Quick(), config, tmp_path / "whole")
    for case, name in zip(range(DAMAGED_STUDIES), itertools.cycle(["results/a.json", "results/c.json", "config.json"])):
        folder = tmp_path / str(case)
        shutil.copytree(tmp_path / "whole", folder)
        kind = damage(folder / name, rng)
        try:
            assert run_study(Quick(), config, folder) == right, f"case {case}: {name}, {kind}"
        except (UserError, ValueError) as error:
            assert_one_sentence(error)
        shutil.rmtree(folder)
