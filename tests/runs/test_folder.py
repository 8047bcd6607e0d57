"""What a run's folder holds, and which folders are refused."""

import dataclasses
import json
import re
import shutil
from typing import ClassVar

import jax
import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.cli import main
from rgvf.features import Reward
from rgvf.questions import QuestionNetwork, multi_horizon_values, random_network
from rgvf.runs import RunConfig, RunError, RunFolder, resume, train, train_together
from rgvf.runs.checkpoint import load_checkpoint, save_checkpoint
from rgvf.runs.run import prepare
from rgvf.tasks import TASKS, AnswersTask, RandomQuestions, question_arrays
from tests.helpers import Listener, stop_after
from tests.runs.small_runs import CARTPOLE, final_state
from tests.runs.test_checkpoint import write_raw
from tests.test_atomic import leave_temporary_files

pytestmark = pytest.mark.medium

MINATAR = RunConfig("minatar/Breakout", CARTPOLE.agent, frames=20, actors=4, steps=5)


@pytest.fixture(scope="module")
def minatar(tmp_path_factory):
    """The folder of a run of one update."""
    path = tmp_path_factory.mktemp("runs") / "minatar"
    train(MINATAR, path, progress=False)
    return path


@pytest.fixture
def copied(minatar, tmp_path):
    """A copy of it, to be changed."""
    return shutil.copytree(minatar, tmp_path / "copied")


def test_a_run_s_folder(cartpole):
    files = {p.name for p in cartpole.iterdir()}
    assert files == {
        "config.json", "questions.seed-0.json", "questions.seed-1.json", "metrics.jsonl", "tensorboard", "checkpoints",
        ".lock",
    }  # fmt: skip
    assert RunFolder.open(cartpole)[1] == CARTPOLE
    lines = final_state(cartpole)[2]
    assert [line["seed"] for line in lines[:4]] == [0, 1, 0, 1]
    assert lines[-1]["frames"] == 3000
    assert lines[-1]["games"] > 20
    assert {"a2c/policy_loss", "a2c/value_loss", "a2c/entropy", "rgvf/loss"} <= lines[-1].keys()
    saved = QuestionNetwork.load(cartpole / "questions.seed-1.json")
    assert saved == rgvf.load(cartpole, seed=1).networks["rgvf"]


def test_question_networks_are_built_once(copied, monkeypatch):
    """A run is resumed and loaded with the networks of its folder, whatever the generator does by then."""

    def fail(self, spec, seed):
        raise AssertionError("the generator was called")

    monkeypatch.setattr(RandomQuestions, "make_network", fail)
    longer = RunConfig(MINATAR.env, MINATAR.agent, frames=40, actors=4, steps=5)
    assert rgvf.load(copied).networks["rgvf"] == QuestionNetwork.load(copied / "questions.json")
    assert resume(copied, longer, progress=False).frames == 40
    assert train_together({copied: longer})
    with pytest.raises(AssertionError, match="the generator was called"):
        train(MINATAR, copied.parent / "new", progress=False)


@pytest.mark.parametrize("depth", [2, 3])
def test_another_question_network_in_the_folder_is_refused(copied, depth):
    """Of the same size or of another."""
    network = QuestionNetwork.load(copied / "questions.json")
    other = random_network(network.features, network.actions, depth=depth, repeat=2, seed=77)
    assert (other.n_predictions == network.n_predictions) == (depth == 2)
    other.save(copied / "questions.json")
    refuse(copied, "the question networks are not those that were trained")


def test_a_question_network_with_other_names_is_refused(copied):
    path = copied / "questions.json"
    network = QuestionNetwork.load(path)
    path.write_text(path.read_text().replace(f'"{network.predictions[0]}"', '"renamed"'))
    assert QuestionNetwork.load(path).predictions[0] == "renamed"
    refuse(copied, "the question networks are not those that were trained")


def test_a_changed_configuration_is_refused(copied):
    """But for settings that may change, such as the frames."""
    path = copied / "config.json"
    data = json.loads(path.read_text())
    data["made_with"]["commit"] = "0123456789ab"  # the file was changed, not rgvf: nobody is sent to look at commits
    path.write_text(json.dumps({**data, "clip_rewards": 2.0, "steps": 5}))
    refuse(copied, "config.json has another clip_rewards than the run was trained with$")
    path.write_text(json.dumps({**data, "frames": 40, "processes": 1}))
    assert resume(copied, progress=False).frames == 40


def test_a_checkpoint_of_another_rgvf_is_refused_with_the_commits(copied, monkeypatch):
    (path, *_) = RunFolder(copied).checkpoints()
    arrays, facts = load_checkpoint(path)
    (name, *_) = (name for name in arrays if "gradient_scale" in name)
    arrays[name.replace("scale", "size")] = arrays.pop(name)
    save_checkpoint(path, arrays, facts)
    missing = r"does not fit its configuration: there is no array \S*gradient_scale"
    data = json.loads((copied / "config.json").read_text())
    data["made_with"]["commit"] = "0123456789ab"
    (copied / "config.json").write_text(json.dumps(data))
    created = "the run was created with commit 0123456789ab of rgvf, and this is"
    for now, this in (("ba9876543210", "ba9876543210"), (None, re.escape(f"version {rgvf.__version__}"))):
        monkeypatch.setattr("rgvf.runs.folder.commit", lambda now=now: now)
        refuse(copied, f"{missing}; {created} {this}$")
    monkeypatch.setattr("rgvf.runs.folder.commit", lambda: "0123456789ab")
    refuse(copied, f"{missing}$")


def test_edges_of_questions_are_in_no_checkpoint(copied):
    """They follow from questions.json, and may be laid out in another way by another version of rgvf."""
    (path, *_) = RunFolder(copied).checkpoints()
    arrays, facts = load_checkpoint(path)
    (scale,) = (name for name in arrays if "gradient_scale" in name)
    assert [name for name in arrays if "table" in name] == []
    arrays[scale.replace("gradient_scale", "table.rounds[0].index")] = np.zeros((3, 2), np.int32)  # as in older runs
    save_checkpoint(path, arrays, facts)
    agent = rgvf.load(copied)
    table, expected = agent.agent.task_states["rgvf"].table, agent.networks["rgvf"].table
    assert isinstance(table.condition, jax.Array)
    assert jax.tree.all(jax.tree.map(np.array_equal, table, expected))
    assert resume(copied, frames=40, progress=False).frames == 40


def test_changed_metrics_are_reported(copied):
    path, listener = copied / "metrics.jsonl", Listener()
    path.write_bytes(path.read_bytes().replace(b'"games": 0', b'"games": 1'))
    assert not RunFolder(copied).metrics_are_intact()
    config = dataclasses.replace(RunFolder.open(copied)[1], frames=40)
    assert resume(copied, config, progress=listener).frames == 40
    assert listener.warnings == [f"{path} was changed; some of its lines may be wrong"]
    assert not RunFolder(copied).metrics_are_intact()  # as long as the line is there


def test_a_question_network_that_is_missing_or_damaged_is_refused(copied):
    (copied / "questions.json").write_text('{"format"')
    refuse(copied, "the run's question network cannot be read: .*questions.json: not valid JSON")
    (copied / "questions.json").unlink()
    refuse(copied, "the run's question network cannot be read: No such file or directory: .*questions.json")


def refuse(path, message):
    """Neither `load` nor `resume` accepts the folder; both say so in one sentence, and nothing changes."""
    before = {p: p.read_bytes() for p in path.rglob("*") if p.is_file()}
    for action in (rgvf.load, lambda path: resume(path, progress=False)):
        with pytest.raises(RunError, match=message) as error:
            action(path)
        assert "\n" not in str(error.value)
    assert {p: p.read_bytes() for p in path.rglob("*") if p.is_file()} == before


VERSION_1 = {
    "env": "minatar/Breakout",
    "agent": {
        "name": "rgvf", "stop_gradient": False, "discount": 0.99, "entropy": 0.01, "value_weight": 0.5,
        "learning_rate": 0.0007, "rms_decay": 0.99, "rms_epsilon": 1e-05, "clip_norm": 0.5, "c": [1.0],
        "questions": None, "depth": 2, "repeat": 2, "features": 16, "question_discount": 0.95, "cap_repeat": False,
        "feature_scale": 8.0, "feature_kind": "auto", "pad_predictions": 0, "pad_features": 0, "horizons": 10,
        "pixel_discount": 0.9, "curl_margin": 0, "curl_outputs": 128, "curl_step": 0.001, "curl_layer_norm": False,
        "curl_logit_scale": 1.0, "representation": "auto", "hidden": 8,
    },
    "frames": 20, "seed": 0, "seeds": 1, "actors": 4, "steps": 5, "clip_rewards": 1.0, "log_every": 20000,
    "checkpoint_every": 2000000, "processes": 0, "wandb": False,
}  # fmt: skip
"""The config.json that rgvf 0.1 wrote."""


def test_a_folder_of_version_0_1_is_refused(copied):
    (copied / "config.json").write_text(json.dumps(VERSION_1, indent=1))
    refuse(copied, "it was made by rgvf 0.1, and this version cannot resume or load it")


@pytest.mark.parametrize(
    "content",
    ["{", "null", '"text"', "[" * 100_000, "[]", "{}", '{"format": 99, "env": "minatar/Breakout"}', '{"format": 2}'],
)
def test_what_is_not_a_configuration_is_refused(copied, content):
    (copied / "config.json").write_text(content)
    refuse(copied, "holds no run that can be read: ")


def test_the_newest_checkpoint_that_can_be_read_is_used_or_none(copied):
    """Whatever is wrong with it: numbers of a type that NumPy lacks, or JSON that is nested too deeply."""
    oldest, newest = sorted((copied / "checkpoints").iterdir())
    bfloat = {"__metadata__": {"facts": "{}"}, "w": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}
    for header in (json.dumps(bfloat), json.dumps({"__metadata__": {"facts": "[" * 100_000}})):
        write_raw(newest, header.encode(), b"12" * (header == json.dumps(bfloat)))
        with pytest.warns(UserWarning, match="is damaged.*; loading the one before it"):
            assert rgvf.load(copied).frames == 0
    write_raw(oldest, b"{}")
    refuse(copied, "no checkpoint of .* can be read: ")


def test_two_processes_never_train_in_one_folder(tmp_path):
    def intrude():
        with pytest.raises(RunError, match="is in use: another process trains there"):
            resume(tmp_path / "run", progress=False, should_stop=lambda: True)
        return True

    assert train(CARTPOLE, tmp_path / "run", progress=False, should_stop=intrude).frames < CARTPOLE.frames
    assert resume(tmp_path / "run", progress=False, should_stop=lambda: True).frames < CARTPOLE.frames


def test_a_folder_left_by_a_run_killed_before_its_configuration_was_written_can_be_used(tmp_path):
    """Its question networks are there already, perhaps those of another configuration."""
    left, config = tmp_path / "run", RunConfig("minatar/Breakout", AgentConfig("rgvf+mhvp"), seeds=2)
    RunFolder.create(left, config, prepare(config)).close()
    (left / "config.json").unlink()
    (left / ".config.json.4711").write_text("{")
    assert len(list(left.glob("questions.*.json"))) == 4
    with pytest.raises(RunError, match="holds no run: it has no config.json"):
        rgvf.load(left)
    assert train(MINATAR, left, progress=False).frames == 20
    assert resume(left, progress=False).frames == 20
    assert [p.name for p in left.glob("questions*.json")] == ["questions.json"]


def test_what_is_left_of_a_killed_checkpoint_is_removed(tmp_path):
    run = tmp_path / "run"
    assert train(CARTPOLE, run, progress=False, should_stop=stop_after(0)).frames < CARTPOLE.frames
    broken = run / "checkpoints" / ".000000000700.safetensors.rgvf-999999999"
    broken.write_bytes(b"half")
    assert resume(run, progress=False).frames == CARTPOLE.frames
    assert not broken.exists()


def test_what_a_kill_left_half_written_is_removed(capsys, copied):
    names = ("config.json", "questions.json", "evaluation.json", "checkpoints/000000000020.safetensors")
    left = leave_temporary_files(*(copied / name for name in names))
    assert len(left) == 4
    rgvf.load(copied)
    assert all(path.exists() for path in left)  # who only reads changes nothing
    assert main(["evaluate", str(copied), "--games", "1"]) == 0
    assert left[3].exists()
    assert not any(path.exists() for path in left[:3])
    leave_temporary_files(*(copied / name for name in names))
    resume(copied, progress=False)
    assert [path.name for path in copied.rglob(".*")] == [".lock"]


def test_what_cannot_be_made_shows_before_anything_is_written(tmp_path):
    config = RunConfig("minatar/Breakout", AgentConfig("a2c", representation="conv"))
    with pytest.raises(ValueError, match="an image of 10×10 is too small"):
        train(config, tmp_path / "run", progress=False)
    assert not (tmp_path / "run").exists()


def test_a_new_run_never_overwrites_anything(minatar, tmp_path):
    with pytest.raises(RunError, match=r"already; rgvf train --resume .*, or rgvf.resume\(.*\) in Python, continues"):
        train(MINATAR, minatar, progress=False)
    for name in ("thesis.txt", "questions.json"):  # the second may be the user's, where no run has been
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("precious")
        with pytest.raises(RunError, match="is not empty"):
            train(CARTPOLE, tmp_path / name, progress=False)
    with pytest.raises(RunError, match=r"thesis.txt is a file"):
        train(CARTPOLE, tmp_path / "thesis.txt" / "thesis.txt", progress=False)
    too_large = RunConfig("gym/CartPole-v1", AgentConfig(RandomQuestions(repeat=99)))
    with pytest.raises(ValueError, match="repeat 99"):
        train(too_large, tmp_path / "new", progress=False)
    assert not (tmp_path / "new").exists()


@dataclasses.dataclass(frozen=True)
class OwnQuestions:
    """A task of a user's, with questions that the run's folder does not have."""

    name: ClassVar[str] = "own-questions"

    def make(self, spec, seed, hidden):
        return AnswersTask(question_arrays(multi_horizon_values([0.5, 0.9]), Reward()), hidden)


def test_an_agent_with_questions_of_a_task_of_ones_own_is_loaded_whole(tmp_path, monkeypatch):
    monkeypatch.setitem(TASKS, OwnQuestions.name, OwnQuestions)
    config = dataclasses.replace(
        MINATAR, agent=AgentConfig((RandomQuestions(depth=1, repeat=1), OwnQuestions()), hidden=8)
    )
    train(config, tmp_path / "run", progress=False)
    agent = rgvf.load(tmp_path / "run").agent
    assert all(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(agent))
    table = agent.task_states[OwnQuestions.name].table
    assert jax.tree.all(jax.tree.map(np.array_equal, table, multi_horizon_values([0.5, 0.9]).table))
