"""Runs from their folders: what belongs together, what lines are called, what is refused."""

import json

import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.analysis import read_runs
from rgvf.analysis.run_groups import with_metric
from rgvf.errors import UserError
from rgvf.questions import random_network
from rgvf.tasks import RandomQuestions
from tests.analysis.made_runs import make_run


def test_runs_that_differ_only_by_seed_are_one_group(tmp_path):
    make_run(tmp_path / "a", [[1.0, 2.0], [3.0, 4.0]], seed=0, processes=1)
    make_run(tmp_path / "b", [[5.0, 6.0]], seed=7, processes=2, keep_checkpoints=3)
    make_run(tmp_path / "c", [[7.0, 8.0]], "a2c")
    rgvf, a2c = read_runs([tmp_path / "a", tmp_path / "b", tmp_path / "c"])
    assert (rgvf.label, a2c.label) == ("rgvf", "a2c")
    assert list(rgvf.lines) == [0, 1, 7]
    frames, values = rgvf.curve("return")
    assert frames == [100, 200]
    np.testing.assert_array_equal(values, [[1, 2], [3, 4], [5, 6]])
    assert rgvf.frames == [200, 200, 200]
    assert rgvf.metrics == ["return", "length", "rgvf/loss"]


@pytest.mark.parametrize(
    "config",
    [
        AgentConfig("a2c"),
        AgentConfig("rgvf", stop_gradient=True),
        AgentConfig("rgvf+curl"),
        AgentConfig("rgvf+pixel-control", stop_gradient=True, c=(1.0, 0.5)),
    ],
)
def test_agents_are_called_as_everywhere(config, tmp_path):
    settings = {"stop_gradient": config.stop_gradient, "c": config.c}
    (group,) = read_runs([make_run(tmp_path / "run", [[1.0]], config.name, settings=settings)])
    assert group.agent == group.label == config.label


def test_equal_agents_are_named_by_the_settings_that_differ(tmp_path):
    for rate in (1e-3, 2e-3):
        make_run(tmp_path / f"{rate}", [[1.0]], settings={"learning_rate": rate}, steps=5)
    tasks = [RandomQuestions(depth=4)]
    config = json.loads((tmp_path / "0.001" / "config.json").read_text())
    config["agent"] = AgentConfig(tasks, learning_rate=1e-3).to_data()
    (tmp_path / "0.001" / "config.json").write_text(json.dumps(config))
    make_run(tmp_path / "other game", [[1.0]], env="minatar/Breakout", settings={"learning_rate": 1e-4})
    labels = [group.label for group in read_runs([tmp_path])]
    assert labels == ["rgvf (learning_rate 0.001, rgvf.depth 4)", "rgvf (learning_rate 0.002, rgvf.depth 8)", "rgvf"]


def test_a_study_s_folder_stands_for_its_runs(tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"study": "minatar", "settings": {}}))
    make_run(tmp_path / "agents" / "Breakout.a2c", [[1.0]], "a2c", env="minatar/Breakout")
    make_run(tmp_path / "agents" / "Freeway.a2c", [[1.0]], "a2c", env="minatar/Freeway")
    (make_run(tmp_path / "agents" / "Freeway.rgvf", [[1.0]], env="minatar/Freeway") / "metrics.jsonl").unlink()
    assert [group.env for group in read_runs([tmp_path])] == ["minatar/Breakout", "minatar/Freeway"]


def test_seeds_that_were_logged_at_other_frames_are_interpolated(tmp_path):
    """As far as all have a value; before the first game has ended there is none."""
    make_run(tmp_path / "a", [[None, 2.0, 3.0, 4.0, 5.0, 6.0]], seed=0, every=100)
    make_run(tmp_path / "b", [[10.0, 20.0, 30.0]], seed=1, every=150)
    (group,) = read_runs([tmp_path])
    frames, values = group.curve("return")
    assert frames == [300, 450]
    np.testing.assert_allclose(values, [[3.0, 4.5], [20.0, 30.0]])


def test_the_end_of_training_is_its_last_tenth(tmp_path):
    values = [[float(i) for i in range(40)], [None] * 37 + [None, 4.0, 8.0], [None] * 40]
    (group,) = read_runs([make_run(tmp_path / "run", values)])
    np.testing.assert_allclose(group.final("return"), [(36 + 37 + 38 + 39) / 4, 6.0, np.nan])


def test_a_line_that_is_just_being_written_is_ignored(tmp_path):
    path = make_run(tmp_path / "run", [[1.0, 2.0]])
    with (path / "metrics.jsonl").open("a") as file:
        file.write('{"frames": 300, "seed": 0, "ret')
    assert read_runs([path])[0].frames == [200]


def test_what_is_refused(tmp_path):
    good = make_run(tmp_path / "good", [[1.0]])
    empty = make_run(tmp_path / "empty", [[1.0]], seed=1)
    (empty / "metrics.jsonl").write_text("")
    old = make_run(tmp_path / "old", [[1.0]])
    (old / "config.json").write_text(json.dumps({"env": "atari/Pong", "agent": "rgvf"}))
    damaged = make_run(tmp_path / "damaged", [[1.0]])
    (damaged / "metrics.jsonl").write_text("[]\n")
    (tmp_path / "nothing").mkdir()
    for folders, sentence in {
        (tmp_path / "nope",): "there is no folder",
        (good / "config.json",): "is a file",
        (tmp_path / "nothing",): "holds no runs",
        (empty,): "has no metrics yet",
        (old,): "another version of rgvf",
        (damaged,): rf"metrics.jsonl is damaged: line 1 cannot be read; 'rgvf train --resume {damaged}' removes what",
    }.items():
        with pytest.raises(UserError, match=sentence):
            read_runs(folders)
    with pytest.raises(ValueError, match="there is no metric 'retrun'; did you mean return?"):
        with_metric(read_runs([good]), "retrun")


def test_a_setting_that_older_runs_lack_does_not_split_a_group(tmp_path):
    old, new = (make_run(tmp_path / name, [[1.0]], seed=seed) for name, seed in (("old", 0), ("new", 1)))
    config = json.loads((old / "config.json").read_text())
    del config["reward_scale"]
    (old / "config.json").write_text(json.dumps(config))
    (group,) = read_runs([old, new])
    assert (group.label, list(group.lines)) == ("rgvf", [0, 1])


def test_a_setting_that_an_older_run_lacks_still_tells_the_others_apart(tmp_path):
    folders = [make_run(tmp_path / f"{scale}", [[scale]], seed=int(scale), reward_scale=scale) for scale in (1.0, 2.0)]
    old = make_run(tmp_path / "old", [[3.0]], seed=3)
    config = json.loads((old / "config.json").read_text())
    del config["reward_scale"]
    (old / "config.json").write_text(json.dumps(config))
    groups = read_runs([*folders, old])
    assert [list(group.lines) for group in groups] == [[1], [2], [3]]
    assert [group.label for group in groups] == [
        "rgvf (reward_scale 1)",
        "rgvf (reward_scale 2)",
        "rgvf (reward_scale None)",
    ]


def test_sizes_that_are_not_set_are_called_default(tmp_path):
    make_run(tmp_path / "a", [[1.0]])
    make_run(tmp_path / "b", [[1.0]], settings={"dense": (64, 32), "hidden": 128})
    labels = [group.label for group in read_runs([tmp_path])]
    assert labels == ["rgvf (dense default, hidden 512)", "rgvf (dense 64 32, hidden 128)"]


def test_runs_by_other_rules_are_no_seeds_of_one_agent(tmp_path):
    old, new = (make_run(tmp_path / name, [[1.0]], seed=seed) for name, seed in (("old", 0), ("new", 1)))
    config = json.loads((new / "config.json").read_text())
    (new / "config.json").write_text(json.dumps(config | {"made_with": {"rules": 2}}))
    assert [group.label for group in read_runs([old, new])] == ["rgvf (rules 1)", "rgvf (rules 2)"]


def test_question_networks_are_named_by_their_folders(tmp_path):
    def make(name, discount, **settings):
        network = random_network(["reward"], ["a", "b"], depth=1, repeat=1, seed=0, discount=discount)
        path = make_run(tmp_path / name, [[1.0]], **settings)
        config = json.loads((path / "config.json").read_text())
        config["agent"]["tasks"] = [{"task": "questions", "network": network.to_json()}]
        (path / "config.json").write_text(json.dumps(config))

    def labels(*folders):
        return [group.label for group in read_runs([tmp_path / folder for folder in folders])]

    make("a/near-0", 0.5)
    make("a/near-1", 0.5, seed=1)
    make("a/far", 0.9)
    make("b/far", 0.95, settings={"learning_rate": 2e-3})
    assert labels("a") == ["questions (far)", "questions (near)"]
    assert labels("a/far", "b/far") == ["questions (learning_rate 0.0007)", "questions (learning_rate 0.002)"]
    assert labels("a/near-0", "b/far", "a/far")[1] == f"questions (learning_rate 0.002, {tmp_path}/b/far)"


def test_runs_without_a_metric_are_named(tmp_path):
    make_run(tmp_path / "a", [[1.0, 2.0]], "a2c")
    make_run(tmp_path / "b", [[None, None]])
    groups = read_runs([tmp_path])
    assert with_metric(groups, "length") == (groups, [])
    assert with_metric(groups, "rgvf/loss") == (groups[1:], ["Without rgvf/loss, so left out: a2c."])
    assert with_metric(groups, "return") == (groups[:1], ["Without return, so left out: rgvf."])
    with pytest.raises(ValueError, match="none of these runs has a value of return"):
        with_metric(groups[1:], "return")
    make_run(tmp_path / "c", [[None, None]], env="minatar/Breakout")
    notes = with_metric(read_runs([tmp_path]), "return")[1]
    assert notes == ["Without return, so left out: rgvf in gym/CartPole-v1, rgvf in minatar/Breakout."]


def test_folders_without_runs_are_left_out_beside_others(tmp_path):
    """Such as a study of the grid world among runs/*."""
    make_run(tmp_path / "run", [[1.0, 2.0]], "a2c")
    (tmp_path / "study").mkdir()
    said = []
    (group,) = read_runs([tmp_path / "run", tmp_path / "study"], said.append)
    assert group.label == "a2c"
    assert len(said) == 1
    assert said[0].startswith(f"Left out: {tmp_path / 'study'} holds no runs")


def test_a_run_that_is_damaged_is_left_out_beside_others(tmp_path):
    good, cut, lines, lists = (make_run(tmp_path / name, [[1.0, 2.0]] * 3) for name in ("a", "b", "c", "d"))
    (cut / "config.json").write_bytes((cut / "config.json").read_bytes()[:50])
    content = (lines / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    content[1], content[3:] = (
        b"garbage\n",
        [b'{"seed": 0, "frames": "1"}\n', b'{"seed": 0, "frames": 1, "x": "y"}\n', b"\xff\n"],
    )
    (lines / "metrics.jsonl").write_bytes(b"".join(content))
    (lists / "config.json").write_text("[]")
    for folders in ([tmp_path], [good, cut, lines]):
        said = []
        (group,) = read_runs(folders, said.append)
        assert list(group.folders.values()) == [good] * 3
        assert len(said) == 2
        assert said[0].startswith(f"Left out: {cut} holds no run that can be read: config.json: Unterminated string")
        assert "metrics.jsonl is damaged: lines 2, 4, 5, … (4 in all) cannot be read; 'rgvf train --resume" in said[1]
    with pytest.raises(UserError, match="b holds no run that can be read: config.json: Unterminated string"):
        read_runs([cut])


def test_a_run_that_is_finished_has_lost_its_metrics_not_none_yet(tmp_path):
    path = make_run(tmp_path / "run", [[1.0, 2.0]])
    (path / "metrics.jsonl").unlink()
    (path / "checkpoints").mkdir()
    for frames, sentence in (
        (0, "has no metrics yet"),
        (100, "has no metrics yet"),
        (200, "has lost its metrics: it is"),
    ):
        (path / "checkpoints" / f"{frames:012d}.safetensors").touch()
        with pytest.raises(UserError, match=sentence):
            read_runs([path])


def test_two_runs_of_one_seed_are_not_two_samples(tmp_path):
    """The one with more frames is in the group of the others, wherever it is given; the other one stands apart."""
    make_run(tmp_path / "again", [[9.0]])
    make_run(tmp_path / "run-0", [[1.0, 2.0]])
    make_run(tmp_path / "run-1", [[3.0, 4.0]], seed=1)
    said = []
    groups = read_runs([tmp_path, tmp_path / "run-0"], said.append)  # a folder that is given twice is one run
    assert [(group.label, list(group.lines)) for group in groups] == [("rgvf (run)", [0, 1]), ("rgvf (again)", [0])]
    np.testing.assert_array_equal(groups[0].curve("return")[1], [[1, 2], [3, 4]])
    again, first = tmp_path / "again", tmp_path / "run-0"
    assert said == [f"{again} has the same agent and seed 0 as {first}, and stands apart: "
                    "two runs of one seed are not two samples."]  # fmt: skip


def test_many_folders_do_not_fill_a_legend(tmp_path):
    folders = [make_run(tmp_path / name, [[1.0, 2.0]], seed=seed) for seed, name in enumerate("abcd")]
    make_run(tmp_path / "e", [[1.0]])
    labels = [group.label for group in read_runs([tmp_path])]
    assert labels == [f"rgvf ({folders[0]}, {folders[1]}, 2 more)", f"rgvf ({tmp_path / 'e'})"]
