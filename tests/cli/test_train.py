"""The commands around training, as a user gives them."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import rgvf
from rgvf.analysis.agent_film import notes
from rgvf.questions import QuestionNetwork
from tests.cli.command import run, words

TINY = ["--hidden", "8", "--actors", "4", "--steps", "5"]
FEW_QUESTIONS = ["--rgvf.depth", "2", "--rgvf.repeat", "2"]
SMALL = ["--env", "gym/CartPole-v1", *FEW_QUESTIONS, *TINY]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A finished run, trained by the command in its own process."""
    path = tmp_path_factory.mktemp("cli") / "run"
    command = [sys.executable, "-m", "rgvf", "train", *SMALL, "--frames", "2000", "--out", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"Done: {path}" in done.stdout
    return path


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (["--env", "atari/Brekout"], 2, "did you mean Breakout?"),
        (["--env", "breakout"], 2, "did you mean atari/Breakout or minatar/Breakout?"),
        (["--env", "gym/NoSuchEnvironment-v0"], 2, "NoSuchEnvironment"),
        (["--env", "gym/Pendulum-v1"], 2, "Discrete"),
        ([*SMALL, "--frames", "0"], 2, "frames must be at least 1, not 0"),
        ([*SMALL, "--actors", "-2"], 2, "actors must be at least 1, not -2"),
        ([*SMALL, "--agent", "dqn"], 2, "there is no agent 'dqn'"),
        (
            [*SMALL, "--rgvf.repeat", "100"],
            2,
            "repeat 100 is too large: layer 1 has only 32 candidate parents to draw without replacement; "
            "use at most 32, or cap_repeat=True (--TASK.cap-repeat)",
        ),
        (["--env", "gym/CartPole-v1", "--rgvf.repeat", "1e5"], 2, "1,600,016 predictions (layer 0 + depth · repeat ·"),
        (["--env", "gym/CartPole-v1", "--agent", "a2c", "--stop-gradient"], 2, "--stop-gradient needs an auxiliary"),
        (["--env", "doom"], 2, "doom is a suite of environments; 'rgvf environments doom' lists their names"),
        (
            [],
            2,
            "which environment? For example: rgvf train --env gym/CartPole-v1 ('rgvf environments' lists the suites)",
        ),
        (["--resume", "nowhere"], 1, "nowhere holds no run"),
        (["--resume"], 2, "--resume needs the folder"),
    ],
)
def test_wrong_input_ends_in_a_sentence_and_writes_nothing(capsys, tmp_path, monkeypatch, arguments, status, sentence):
    monkeypatch.chdir(tmp_path)
    found, printed = run(capsys, "train", *arguments)
    assert found == status
    assert printed.err.splitlines()[-1].startswith("rgvf: ")
    assert sentence in words(printed.err)
    assert "Traceback" not in printed.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.medium
def test_options_of_a_task_reach_the_agent(folder):
    (task,) = json.loads((folder / "config.json").read_text())["agent"]["tasks"]
    assert (task["task"], task["depth"], task["repeat"], task["discount"]) == ("rgvf", 2, 2, 0.95)
    agent = rgvf.load(folder)
    network = agent.networks["rgvf"]
    assert network.n_predictions == 16 + 2 * 2 * len(network.actions)  # features; depth · repeat for each action
    assert agent.answer(np.zeros((3, 4), np.float32)).shape == (3, network.n_predictions)


@pytest.mark.medium
def test_a_run_is_resumed_with_its_own_settings_or_more_frames(capsys, folder):
    status, printed = run(capsys, "train", "--resume", str(folder), "--rgvf.depth", "3")
    assert status == 2
    assert "has rgvf.depth = 2, not 3" in printed.err
    status, printed = run(capsys, "train", "--resume", str(folder), "--frames", "1000")
    assert status == 2
    assert "has 2,000 frames, not 1,000; it can only be made longer, and keep_checkpoints, processes" in printed.err
    status, printed = run(capsys, "train", "--resume", str(folder), "--frames", "2400")
    assert status == 0
    assert '"frames": 2400' in (folder / "metrics.jsonl").read_text().splitlines()[-1]


@pytest.mark.medium
def test_evaluate_prints_a_table_and_keeps_the_returns(capsys, folder):
    status, printed = run(capsys, "evaluate", str(folder), "--games", "5")
    assert status == 0
    header, row = printed.out.splitlines()
    assert header.split() == ["seed", "games", "mean", "±", "error", "median", "after"]  # no sticky actions here
    assert row.split()[:2] == ["0", "5"]
    assert row.endswith((" 2,000 frames", " 2,400 frames"))
    (result,) = json.loads((folder / "evaluation.json").read_text())["results"]
    assert len(result["returns"]) == 5
    status, printed = run(capsys, "evaluate", str(folder), "--games", "1", "--greedy")
    assert status == 0
    assert printed.out.splitlines()[1].split()[3] == "–"  # one game has no standard error
    assert printed.out.endswith(" frames, greedy actions\n")
    assert run(capsys, "evaluate", str(folder), "--games", "2", "--greedy")[0] == 0
    results = json.loads((folder / "evaluation.json").read_text())["results"]
    assert [(each["greedy"], len(each["returns"])) for each in results] == [(False, 5), (True, 2)]
    status, printed = run(capsys, "evaluate", str(folder), "--sticky", "0.5")
    assert status == 2
    assert printed.err == "rgvf: actions cannot be sticky in gym/CartPole-v1, only in atari/ and minatar/ games\n"
    assert printed.out == ""
    status, printed = run(capsys, "evaluate", str(folder / "nope"))
    assert status == 1
    assert "holds no run" in printed.err


@pytest.mark.medium
def test_an_evaluation_that_is_interrupted_keeps_what_is_finished(capsys, tmp_path, monkeypatch):
    out = str(tmp_path / "run")
    tiny = ["--frames", "20", "--actors", "4", "--steps", "5", "--hidden", "4", "--dense", "4", "--kernels", "2"]
    assert run(capsys, "train", "--env", "minatar/Breakout", "--agent", "a2c", *tiny, "--out", out)[0] == 0

    def play(agent, games, sticky, **settings):
        if sticky:
            raise KeyboardInterrupt
        return np.ones(games)

    monkeypatch.setattr(
        sys.modules["rgvf.evaluation.evaluate"], "evaluate", play
    )  # the package has a function of its name
    assert run(capsys, "evaluate", out, "--games", "3")[0] == 130
    (result,) = json.loads((tmp_path / "run" / "evaluation.json").read_text())["results"]
    assert (result["sticky"], result["returns"]) == (0.0, [1.0, 1.0, 1.0])


def test_a_film_says_how_rewards_were_changed():
    def said(scale, clip):
        return notes(rgvf.RunConfig("minatar/Breakout", reward_scale=scale, clip_rewards=clip))

    assert [len(said(*each)) for each in ((1, 0), (0.1, 0), (1, 2))] == [1, 2, 2]
    assert said(0.1, 1)[0].startswith("Rewards are scaled by 0.1 and clipped to ±1 in all values")


def test_record_says_that_it_replaces_a_film(capsys, tmp_path, monkeypatch):
    film = tmp_path / "film.mp4"

    def make_film(agent, out, steps, **how):
        out.touch()
        return SimpleNamespace(screens=[None] * steps, reward=np.ones(steps))

    monkeypatch.setattr(rgvf.runs, "load", lambda *arguments, **how: SimpleNamespace(frames=640))
    monkeypatch.setattr("rgvf.analysis.agent_film.make_film", make_film)
    for replaced in ("", " (replaced)"):
        status, printed = run(capsys, "record", str(tmp_path), "--steps", "3", "--seed", "none")
        assert status == 0
        assert printed.out == f"{film}{replaced}: 3 steps, return 3, after 640 frames of training\n"
    status, printed = run(capsys, "record", str(tmp_path), "--seed", "first")
    assert status == 2
    assert "--seed must be a whole number or none, not 'first'" in words(printed.err)


@pytest.mark.slow
def test_record_makes_a_film(capsys, tmp_path):
    out, film = str(tmp_path / "run"), tmp_path / "film.gif"
    size = [*FEW_QUESTIONS, "--hidden", "8", "--actors", "2", "--steps", "5", "--frames", "80"]
    assert run(capsys, "train", "--env", "atari/Pong", *size, "--out", out)[0] == 0
    assert run(capsys, "record", out, "--steps", "12", "--games-seed", "3", "--out", str(film))[0] == 0
    assert film.read_bytes()[:4] == b"GIF8"
    status, printed = run(capsys, "record", out, "--out", str(tmp_path / "film.avi"))
    assert status == 2
    assert ".mp4 or a .gif" in printed.err
    status, printed = run(capsys, "record", out, "--predictions", "77.7", "--out", str(film))
    assert status == 2
    assert "no prediction node '77.7'" in printed.err


def training(path):
    """A process that trains in a folder, after its first checkpoint."""
    command = [sys.executable, "-m", "rgvf", "train", *SMALL, "--frames", "100000000", "--out", str(path)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not list((path / "checkpoints").glob("0*")):
        time.sleep(0.1)
        assert process.poll() is None
    return process


@pytest.mark.medium
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_a_checkpoint_and_no_orphans(tmp_path, number):
    path = tmp_path / "run"
    process = training(path)
    time.sleep(3)
    os.killpg(process.pid, number)  # as Ctrl-C in a terminal does: to the workers too
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"To resume: rgvf train --resume {path}" in error
    assert "Traceback" not in error
    assert len(list((path / "checkpoints").glob("0*.safetensors"))) == 2
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


@pytest.mark.medium
def test_ctrl_c_twice_says_what_is_kept_and_how_to_resume(tmp_path):
    path = tmp_path / "run"
    process = training(path)
    process.send_signal(signal.SIGSTOP)  # both signals are there before it can stop after the first
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGCONT)
    _, error = process.communicate(timeout=60)
    assert process.returncode in (128 + signal.SIGINT, 128 + signal.SIGTERM)
    kept = "the last checkpoint, after 0 frames, is kept"
    assert error.endswith(f"rgvf: stopped at once; {kept}. To resume: rgvf train --resume {path}\n")
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)  # workers that have not seen yet that their learner is gone


@pytest.mark.medium
def test_a_run_ends_as_it_should_where_nobody_reads_what_it_prints(tmp_path):
    """As in `rgvf train … 2>&1 | head -1`."""
    path = tmp_path / "run"
    command = [sys.executable, "-m", "rgvf", "train", *SMALL, "--frames", "2000", "--out", str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.wait(60) in (0, 1)
    assert rgvf.load(path).frames == 2000


@pytest.mark.slow
def test_a_given_question_network_is_kept_with_the_run(capsys, tmp_path):
    network = QuestionNetwork(
        ["pixel-change/3", "reward"],
        {"flicker": "left", "gain": None},
        [("flicker", "pixel-change/3"), ("gain", "reward"), ("gain", "gain", 0.9)],
        ["left"],
    )
    file = network.save(tmp_path / "own.json")
    game = ["--env", "gym/rgvf/Catch-v0", *TINY, "--agent", "questions+pixel-control", "--c", "1", "0.5"]
    game += ["--questions.network", str(file)]
    folder = tmp_path / "run"
    assert run(capsys, "train", *game, "--frames", "600", "--out", str(folder))[0] == 0
    file.unlink()
    folder = folder.rename(tmp_path / "moved")
    status, printed = run(capsys, "train", "--resume", str(folder), "--frames", "1200")
    assert status == 0, printed.err
    agent = rgvf.load(folder)
    assert agent.frames == 1200
    assert repr(agent) == "<questions+pixel-control, gym/rgvf/Catch-v0, seed 0, 1,200 frames>"
    assert agent.networks["questions"].predictions == ("flicker", "gain")
    assert agent.networks["questions"].actions == ("left", "stay", "right")
    assert agent.answer(np.zeros((5, 10, 10, 2), np.uint8)).shape == (5, 2)
    status, printed = run(capsys, "record", str(folder), "--steps", "20", "--predictions", "flicker", "gain")
    assert status == 0, printed.err
    status, printed = run(capsys, "train", *game, "--out", str(tmp_path / "other"))
    assert status == 2
    assert "the question network cannot be read: No such file or directory" in printed.err
    assert not (tmp_path / "other").exists()
