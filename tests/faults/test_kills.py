"""Runs and studies that are killed again and again."""

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.faults.common import SHARE
from tests.runs.small_runs import assert_same

KILLED_RUNS = round(70 * SHARE)
KILLED_STUDIES = round(30 * SHARE)


pytestmark = [pytest.mark.slow, pytest.mark.unchecked_types]


SIZE = ["--actors", "4", "--steps", "5", "--hidden", "8", "--seeds", "2", "--rgvf.depth", "2", "--rgvf.repeat", "2"]
RUN = [*SIZE, "--frames", "12000", "--log-every", "300", "--checkpoint-every", "700", "--processes", "2"]


def run_command(folder):
    if (folder / "config.json").exists():
        return ["train", "--resume", str(folder)]
    return ["train", "--env", "gym/CartPole-v1", *RUN, "--out", str(folder)]


def study_command(folder):
    size = ["--seeds", "2", "--frames", "40000", "--evaluations", "10"]
    return ["study", "grid-touch", *size, "--variants", "tree-1", "tree-2", "--out", str(folder)]


def processes_of(session):
    """The processes of a session, zombies not counted."""
    found = set()
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, _, _, owner = (process / "stat").read_text().rsplit(")", 1)[1].split()[:4]
            if int(owner) == session and state != "Z":
                found.add(int(process.name))
    return found


def shared_memory():
    return {path.name for path in Path("/dev/shm").iterdir() if path.name.startswith(("rgvf", "psm_", "sem."))}


def start(command, cache):
    """Begin a command in a session of its own."""
    variables = {"JAX_COMPILATION_CACHE_DIR": str(cache), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
    return subprocess.Popen(
        [sys.executable, "-m", "rgvf", *command],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def finish(process):
    """Wait for a command, which must succeed and leave no process."""
    _, error = process.communicate()
    assert process.returncode == 0, error
    wait_until_nothing_is_left(process.pid)


def wait_until_nothing_is_left(session):
    deadline = time.monotonic() + 10
    while processes_of(session):
        assert time.monotonic() < deadline, "a process outlives its learner"
        time.sleep(0.05)


def kill_again_and_again(tmp_path, kills, command, compare):
    """Kill a command at random moments until it has been killed so often; every folder must end like the first."""
    rng, before, cache = random.Random(0), shared_memory(), tmp_path / "cache"
    whole = tmp_path / "whole"
    finish(start(command(whole), cache))  # compiles
    shutil.rmtree(whole)
    began = time.monotonic()
    finish(start(command(whole), cache))
    duration = time.monotonic() - began
    killed = tmp_path / "killed"
    left = kills
    while left:
        process = start(command(killed), cache)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(rng.uniform(0.2, 1.0) * duration)
        if process.poll() is None:
            left -= 1
            process.send_signal(signal.SIGKILL)
            _, error = process.communicate()
            assert "Traceback" not in error
            wait_until_nothing_is_left(process.pid)
            continue
        finish(process)
        compare(killed, whole)
        assert_no_temporary_files(killed)
        shutil.rmtree(killed)
    finish(start(command(killed), cache))
    compare(killed, whole)
    assert_no_temporary_files(killed)
    assert shared_memory() == before


def assert_no_temporary_files(folder):
    assert {path.name for path in folder.rglob(".*")} <= {".lock"}


def assert_same_study(a, b):
    """The results are the same bits; the drawings are there."""
    for name in ("curves.json", "claims.json", "results/tree-1.json", "results/tree-2.json"):
        assert (a / name).read_bytes() == (b / name).read_bytes()
    assert {path.relative_to(a) for path in a.rglob("*")} == {path.relative_to(b) for path in b.rglob("*")}


def test_killed_runs_end_bit_for_bit_like_undisturbed_ones(tmp_path):
    kill_again_and_again(tmp_path, KILLED_RUNS, run_command, assert_same)


def test_killed_studies_end_bit_for_bit_like_undisturbed_ones(tmp_path):
    kill_again_and_again(tmp_path, KILLED_STUDIES, study_command, assert_same_study)
