"""The commands around training, as a user gives them."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import rgvf
from rgvf.questions import QuestionNetwork
from tests.test_cli import run

SMALL = ["--env", "gym/CartPole-v1", "--depth", "2", "--repeat", "2", "--hidden", "8", "--actors", "4", "--steps", "5"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("cli") / "run"
    command = [sys.executable, "-m", "rgvf.cli", "train", *SMALL, "--frames", "2000", "--out", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"Done: {path}" in done.stdout
    return path


def test_help_names_every_hyperparameter_with_its_default(capsys):
    status, printed = run(capsys, "train", "--help")
    assert status == 0
    words = " ".join(printed.out.replace("│", " ").split())
    for option, default in (
        ("--agent", "rgvf"), ("--learning-rate", "0.0007"), ("--rms-epsilon", "1e-05"), ("--depth", "8"),
        ("--repeat", "16"), ("--question-discount", "0.95"), ("--c", "1.0"), ("--entropy", "0.01"),
        ("--actors", "16"), ("--steps", "20"), ("--frames", "200000000"), ("--clip-norm", "0.5"),
    ):  # fmt: skip
        assert option in words
        assert f"(default: {default})" in words


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--env", "atari/Brekout"], "did you mean Breakout?"),
        (["--env", "breakout"], "expected atari/NAME"),
        (["--env", "gym/NoSuchEnvironment-v0"], "NoSuchEnvironment"),
        (["--env", "gym/Pendulum-v1"], "Discrete"),
        ([*SMALL, "--frames", "0"], "frames must be at least 1, not 0"),
        ([*SMALL, "--actors", "-2"], "actors must be at least 1, not -2"),
        ([*SMALL, "--agent", "dqn"], "there is no agent 'dqn'"),
        ([*SMALL, "--repeat", "100"], "repeat 100 is too large: layer 1 has only 32"),
        ([*SMALL, "--agent", "a2c", "--stop-gradient"], "stop_gradient needs an auxiliary task"),
        ([], "--env"),
        (["--resume", "nowhere"], "nowhere holds no run"),
        (["--resume"], "--resume needs the folder"),
    ],
)
def test_bad_input_ends_in_a_sentence_and_writes_nothing(capsys, tmp_path, arguments, sentence):
    os.chdir(tmp_path)
    status, printed = run(capsys, "train", *arguments)
    assert status == 2
    assert sentence in " ".join(printed.err.replace("│", " ").split())
    assert "Traceback" not in printed.err
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_resumed_with_its_own_settings_or_more_frames(capsys, folder):
    status, printed = run(capsys, "train", "--resume", str(folder), "--depth", "3")
    assert status == 2
    assert "has depth = 2, not 3" in printed.err
    status, printed = run(capsys, "train", "--resume", str(folder), "--frames", "1000")
    assert status == 2
    assert "has frames = 2000, not 1000" in printed.err
    status, printed = run(capsys, "train", "--resume", str(folder), "--frames", "2400")
    assert status == 0
    assert '"frames": 2400' in (folder / "metrics.jsonl").read_text().splitlines()[-1]


def test_evaluate_prints_a_table_and_keeps_the_returns(capsys, folder):
    status, printed = run(capsys, "evaluate", str(folder), "--games", "5")
    assert status == 0
    assert "median" in printed.out
    assert (folder / "evaluation.json").exists()
    status, printed = run(capsys, "evaluate", str(folder), "--sticky", "0.5")
    assert status == 1
    assert "cannot be made to stick" in printed.err
    status, printed = run(capsys, "evaluate", str(folder / "nope"))
    assert status == 1
    assert "holds no run" in printed.err


def test_record_makes_a_film(capsys, tmp_path):
    out, film = str(tmp_path / "run"), tmp_path / "film.gif"
    size = ["--depth", "2", "--repeat", "2", "--hidden", "8", "--actors", "2", "--steps", "5", "--frames", "80"]
    assert run(capsys, "train", "--env", "atari/Pong", *size, "--out", out)[0] == 0
    assert run(capsys, "record", out, "--steps", "12", "--out", str(film))[0] == 0
    assert film.read_bytes()[:4] == b"GIF8"
    status, printed = run(capsys, "record", out, "--out", str(tmp_path / "film.avi"))
    assert status == 1
    assert ".mp4 or a .gif" in printed.err
    status, printed = run(capsys, "record", out, "--predictions", "77.7", "--out", str(film))
    assert status == 1
    assert "no prediction node '77.7'" in printed.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_leaves_a_checkpoint_and_no_orphans(tmp_path, number):
    command = [
        sys.executable,
        "-m",
        "rgvf.cli",
        "train",
        *SMALL,
        "--frames",
        "100000000",
        "--out",
        str(tmp_path / "run"),
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    while not (tmp_path / "run" / "checkpoints").exists() or not list((tmp_path / "run" / "checkpoints").glob("0*")):
        time.sleep(0.1)
        assert process.poll() is None
    time.sleep(3)
    os.killpg(process.pid, number)  # as Ctrl-C in a terminal does: to the workers too
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Go on with: rgvf train --resume" in error
    assert "Traceback" not in error
    assert len(list((tmp_path / "run" / "checkpoints").glob("0*.safetensors"))) == 2
    with pytest.raises(ProcessLookupError):
        os.killpg(process.pid, 0)


def test_questions_of_one_s_own_travel_with_the_run(capsys, tmp_path):
    network = QuestionNetwork(
        ["pixel-change/3", "reward"],
        {"flicker": "left", "gain": None},
        [("flicker", "pixel-change/3"), ("gain", "reward"), ("gain", "gain", 0.9)],
        ["left"],
    )
    file = network.save(tmp_path / "own.json")
    game = ["--env", "gym/rgvf/Catch-v0", *SMALL[2:], "--agent", "rgvf+pixel-control", "--c", "1", "0.5"]
    folder = tmp_path / "run"
    status, _ = run(capsys, "train", *game, "--questions", str(file), "--frames", "600", "--out", str(folder))
    assert status == 0
    file.unlink()
    folder = folder.rename(tmp_path / "moved")
    status, printed = run(capsys, "train", "--resume", str(folder), "--frames", "1200")
    assert status == 0, printed.err
    agent = rgvf.load(folder)
    assert agent.frames == 1200
    assert repr(agent) == "<rgvf+pixel-control, gym/rgvf/Catch-v0, seed 0, 1,200 frames>"
    assert agent.questions["rgvf"].predictions == ("flicker", "gain")
    assert agent.questions["rgvf"].actions == ("left", "stay", "right")
    assert agent.answer(np.zeros((5, 10, 10, 2), np.uint8)).shape == (5, 2)
    status, printed = run(capsys, "record", str(folder), "--steps", "20", "--predictions", "flicker", "gain")
    assert status == 0, printed.err
    status, printed = run(capsys, "train", *game, "--questions", str(file), "--out", str(tmp_path / "other"))
    assert status == 1
    assert "No such file or directory" in printed.err
    assert not (tmp_path / "other").exists()
