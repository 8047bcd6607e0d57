"""Environments, wrappers and tasks of the user's own modules, from the command line."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import rgvf
from tests.cli.command import run

ROOT = Path(__file__).parents[2]
TINY = ["--agent", "a2c", "--hidden", "8", "--actors", "2", "--steps", "5", "--frames", "40", "--processes", "1"]
ODD = "tests.environments.odd_gym"
MODULE = '''
import gymnasium


class Slow(gymnasium.Wrapper):
    """A wrapper that changes nothing."""


if "Mine/Pole-v0" not in gymnasium.registry:
    gymnasium.register("Mine/Pole-v0", entry_point="gymnasium.envs.classic_control:CartPoleEnv", max_episode_steps=30)
'''
TASK = '''
from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
from rgvf.networks import Head
from rgvf.tasks import register


@dataclass(frozen=True)
class Task:
    def init(self, key, representation):
        return Head(key, representation.size, 4, 1), None

    def loss(self, params, state, view, key):
        loss = jnp.mean(params(view.states) ** 2)
        return loss, state, {"loss": loss}


@register
@dataclass(frozen=True)
class Settings:
    """A task for tests."""

    name: ClassVar[str] = "mytask"
    width: int = 4
    """Nothing depends on it."""

    def make(self, spec, seed, hidden):
        return Task()
'''


def rgvf_in(folder, *arguments):
    """A command in its own process, so that nothing of the user is imported yet."""
    command = [sys.executable, "-P", "-m", "rgvf", *map(str, arguments)]  # -P: as the command rgvf does
    return subprocess.run(command, cwd=folder, env=variables(), capture_output=True, text=True, check=False)


def variables():
    return {**os.environ, "PYTHONPATH": str(ROOT)}


@pytest.mark.medium
def test_a_module_in_the_current_folder_is_found_by_the_name_of_its_environment(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    described = rgvf_in(tmp_path, "environments", "gym/mine:Mine/Pole-v0")
    assert described.returncode == 0, described.stderr
    assert "observation: 4 float32" in described.stdout
    made = rgvf_in(tmp_path, "train", "--env", "gym/mine:Mine/Pole-v0", *TINY, "--out", "run")
    assert made.returncode == 0, made.stderr
    described = rgvf_in(tmp_path, "environments", "--import", "mine", "gym/Mine/Pole-v0")
    assert "'rgvf train --import mine --env gym/Mine/Pole-v0 --help' shows its settings." in described.stdout


@pytest.mark.slow
def test_a_run_with_modules_of_the_user_needs_them_imported(tmp_path):
    (tmp_path / "mine.py").write_text(MODULE)
    made = rgvf_in(tmp_path, "train", "--import", "mine", "--env", "gym/Mine/Pole-v0", *TINY, "--out", "run")
    assert made.returncode == 0, made.stderr
    for command in (
        ["train", "--resume", "run"],
        ["evaluate", "run", "--games", "2"],
        ["record", "run", "--steps", "3"],
    ):
        refused = rgvf_in(tmp_path, *command)
        assert refused.returncode == 1
        assert refused.stderr.startswith("rgvf: run cannot be loaded: it needs code of other modules;")
        assert "add --import mine" in refused.stderr
        assert len(refused.stderr.splitlines()) == 1
        allowed = rgvf_in(tmp_path, *command, "--import", "mine")
        assert allowed.returncode == 0, allowed.stderr
    loaded = rgvf_in(tmp_path, "evaluate", "run", "--import", "no_such_module")
    assert loaded.returncode == 2
    assert loaded.stderr.startswith("rgvf: the module no_such_module cannot be imported: ModuleNotFoundError")


@pytest.mark.medium
@pytest.mark.parametrize(
    ("environment", "missing"),
    [
        (["--env", "gym/mine:Mine/Pole-v0"], "--import mine"),
        (["--env", "gym/CartPole-v1", "--wrappers", "mine:Slow"], "--import mine"),
        (["--env", "gym/mine:Mine/Pole-v0", "--wrappers", "other:Slow"], "--import mine --import other"),
    ],
)
def test_a_file_does_not_decide_which_modules_are_imported(capsys, tmp_path, monkeypatch, environment, missing):
    for name in ("mine", "other"):
        (tmp_path / f"{name}.py").write_text(MODULE)
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{ROOT}")
    status, printed = run(capsys, "train", *environment, *TINY, "--out", "run")
    assert status == 0, printed.err
    for name in ("mine", "other"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(rgvf.RunError, match=f"add {missing} "):
        rgvf.load("run")
    with pytest.raises(rgvf.RunError, match=f"add {missing} "):
        rgvf.resume("run", progress=False)
    status, printed = run(capsys, "evaluate", "run", "--games", "1", *missing.split())
    assert status == 0, printed.err


@pytest.mark.medium
def test_arguments_of_the_environment_and_wrappers(capsys, tmp_path):
    lake = ["--env", "gym/FrozenLake-v1", "--env-kwargs", "map_name=8x8", "is_slippery=false"]
    status, printed = run(capsys, "train", *lake, *TINY, "--out", str(tmp_path / "lake"))
    assert status == 0, printed.err
    agent = rgvf.load(tmp_path / "lake")
    assert agent.spec.observation_shape == (64,)  # one-hot; the usual map has 16 cells
    assert agent.config.env == "gym/FrozenLake-v1?map_name=8x8&is_slippery=false"
    pole = ["--env", "gym/CartPole-v1", "--wrappers", "gymnasium.wrappers:TimeAwareObservation"]
    status, printed = run(capsys, "train", *pole, *TINY, "--out", str(tmp_path / "pole"))
    assert status == 0, printed.err
    assert rgvf.load(tmp_path / "pole").spec.observation_shape == (5,)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--env-kwargs", "map_name"], "--env-kwargs takes NAME=VALUE, such as map_name=8x8, not 'map_name'"),
        (["--env-kwargs", "speed=3"], "cannot be made: TypeError"),
        (["--wrappers", "gymnasium.wrappers"], "a wrapper is named MODULE:CLASS"),
        (["--wrappers", "gymnasium.wrappers:Nothing"], "the wrapper gymnasium.wrappers:Nothing cannot be used"),
        (["--wrappers", "sys:exit"], "the wrapper sys:exit cannot be used: TypeError: it is no subclass of"),
        (["--wrappers", "no_such_module:Wrapper"], "cannot be used: ModuleNotFoundError"),
        (["--env", "minatar/Breakout", "--env-kwargs", "a=1"], "are for Gymnasium environments, gym/ID"),
        (["--env", f"gym/{ODD}:Odd/Quits-v0"], "cannot be made: SystemExit: 5"),
        (["--env", f"gym/{ODD}:Odd/Broken-v0"], "cannot be made: ZeroDivisionError: no level was found"),
        (["--import"], "--import needs the name of a Python module."),
        (["--import", "my/ends.py"], "--import takes the name of a module, not a file: --import my.ends"),
        (["--import", "ends"], "the module ends cannot be imported: SystemExit: at once"),
    ],
)
def test_what_is_wrong_with_them_is_one_sentence(capsys, tmp_path, monkeypatch, arguments, sentence):
    (tmp_path / "ends.py").write_text("import sys\nsys.exit('at\\nonce')\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    before = [] if "--env" in arguments else ["--env", "gym/FrozenLake-v1"]
    status, printed = run(capsys, "train", *before, *TINY, "--out", "run", *arguments)
    assert status == 2
    assert sentence in printed.err
    assert len(printed.err.splitlines()) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.slow
def test_a_task_of_the_user_has_options(tmp_path):
    (tmp_path / "mytask.py").write_text(TASK)
    command = ["train", "--import", "mytask", "--env", "gym/CartPole-v1", *TINY, "--out", "run"]
    command[command.index("a2c")] = "mytask"
    made = rgvf_in(tmp_path, *command, "--mytask.width", "7")
    assert made.returncode == 0, made.stderr
    assert '"width": 7' in (tmp_path / "run/config.json").read_text()
    assert "mytask/loss" in (tmp_path / "run/metrics.jsonl").read_text()
    wrong = rgvf_in(tmp_path, *command, "--mytask.height", "7")
    assert wrong.returncode == 2
    assert len(wrong.stderr.splitlines()) == 1
    assert "--mytask.height" in wrong.stderr
    refused = rgvf_in(tmp_path, "evaluate", "run")
    assert "add --import mytask" in refused.stderr
    assert rgvf_in(tmp_path, "evaluate", "run", "--games", "1", "--import", "mytask").returncode == 0


@pytest.mark.medium
@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("KilledWhenMade", "was killed by signal 9"),
        ("QuitsInWorkers", "cannot be made: SystemExit: not in a worker"),
        ("NoStart", "failed: SystemExit: no display was found (odd_gym.py:130, in reset) (game 0)"),
    ],
)
def test_an_environment_that_fails_at_the_start_prints_one_line(capfd, tmp_path, name, sentence):
    env = ["--env", f"gym/{ODD}:Odd/{name}-v0"]
    status, printed = run(capfd, "train", *env, *TINY, "--out", str(tmp_path / "run"))
    assert status == 1
    lines = [line for line in printed.err.splitlines() if line.startswith("rgvf: ")]
    assert len(lines) == 1
    assert sentence in lines[0]
    assert lines[0].endswith(f"; to start again: rgvf train --resume {tmp_path / 'run'} --import {ODD}")
    assert printed.err.endswith(lines[0] + "\n")
    assert "Traceback" not in printed.err


@pytest.mark.slow
def test_a_run_whose_game_hangs_ends_after_a_signal_and_keeps_its_checkpoint(tmp_path):
    command = [sys.executable, "-m", "rgvf", "train", "--env", f"gym/{ODD}:Odd/Hangs-v0", *TINY, "--out", "run"]
    with subprocess.Popen(command, cwd=tmp_path, env=variables(), stderr=subprocess.PIPE, text=True) as process:
        try:
            while not list((tmp_path / "run/checkpoints").glob("0*")):
                assert process.poll() is None
                time.sleep(0.1)
            time.sleep(3)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            _, error = process.communicate(timeout=30)
        finally:
            process.kill()
    assert time.monotonic() - began < 16
    assert process.returncode == 1
    assert "rgvf: a worker process hangs" in error
    assert f"to continue from the last checkpoint: rgvf train --resume run --import {ODD}" in error
    assert "Traceback" not in error
    assert [path.name for path in (tmp_path / "run/checkpoints").iterdir()] == ["000000000000.safetensors"]
