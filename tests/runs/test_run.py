"""Runs that are stopped, killed and damaged, and continue as if nothing had happened."""

import dataclasses
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from importlib import import_module

import numpy as np
import pytest

from rgvf.analysis import read_runs
from rgvf.errors import UserError
from rgvf.loops import HostLoop
from rgvf.runs import RunError, RunFolder, resume, train
from rgvf.runs.run import prepare
from tests.helpers import Listener, stop_after
from tests.runs.small_runs import BREAKOUT, CARTPOLE, assert_same, final_state

pytestmark = pytest.mark.medium


@pytest.mark.parametrize(
    ("whole", "config"), [("cartpole", CARTPOLE), pytest.param("breakout", BREAKOUT, marks=pytest.mark.slow)]
)
def test_stopped_and_resumed_ends_bit_identical(request, tmp_path, whole, config):
    out = tmp_path / "run"
    assert train(config, out, progress=False, should_stop=stop_after(7)).frames < config.frames
    assert resume(out, config, progress=False, should_stop=stop_after(0)).frames < config.frames
    assert resume(out, config, progress=False, should_stop=stop_after(20)).frames < config.frames
    assert resume(out, config, progress=False).frames == config.frames
    assert_same(out, request.getfixturevalue(whole))


def test_a_damaged_newest_checkpoint_is_reported_and_the_one_before_used(cartpole, tmp_path):
    out = tmp_path / "run"
    assert train(CARTPOLE, out, progress=False, should_stop=stop_after(50)).frames < CARTPOLE.frames
    newest, *_ = RunFolder(out).checkpoints()
    newest.write_bytes(newest.read_bytes()[:-100])
    listener = Listener()
    assert resume(out, CARTPOLE, progress=listener).frames == CARTPOLE.frames
    assert len(listener.warnings) == 1
    assert str(newest) in listener.warnings[0]
    assert_same(out, cartpole)


def test_the_games_are_ended_where_a_run_cannot_start(tmp_path, monkeypatch):
    closed = []
    monkeypatch.setattr(HostLoop, "close", lambda self: closed.append(self.workers.close()))
    monkeypatch.setattr(import_module("rgvf.runs.run"), "start", lambda loop: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        train(CARTPOLE, tmp_path / "run", progress=False)
    assert len(closed) == 1


def test_resuming_a_finished_run_changes_nothing(cartpole):
    before = final_state(cartpole)[2]
    assert resume(cartpole, CARTPOLE, progress=False).frames == CARTPOLE.frames
    assert final_state(cartpole)[2] == before


def test_a_run_killed_before_its_first_checkpoint_starts_again(cartpole, tmp_path):
    RunFolder.create(tmp_path / "run", CARTPOLE, prepare(CARTPOLE)).close()
    assert resume(tmp_path / "run", CARTPOLE, progress=False).frames == CARTPOLE.frames
    assert_same(tmp_path / "run", cartpole)


def test_lost_lines_of_metrics_are_reported_and_the_run_continues(cartpole, tmp_path):
    folder, listener = tmp_path / "run", Listener()
    train(CARTPOLE, folder, progress=listener, should_stop=stop_after(20))
    first, *_ = (folder / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_bytes(first + b'{"frames": 6')
    with pytest.raises(ValueError, match=r"has actors = 4, not 8; it can only be made longer"):
        resume(folder, dataclasses.replace(CARTPOLE, frames=6000, actors=8), progress=listener)
    assert RunFolder.open(folder)[1] == CARTPOLE  # what is refused changes nothing
    fewer_cores = dataclasses.replace(CARTPOLE, processes=1)  # as on another machine
    assert resume(folder, fewer_cores, progress=listener).frames == CARTPOLE.frames
    assert len(listener.warnings) == 1
    assert "has lost lines" in listener.warnings[0]
    arrays, whole = final_state(folder)[0], final_state(cartpole)[0]
    assert all(np.array_equal(array, whole[name]) for name, array in arrays.items())
    assert len(final_state(folder)[2]) == 1 + 2 * 9  # the first line, and those after the checkpoint


@pytest.mark.parametrize("frames", [3000, 6000])
def test_lines_that_cannot_be_read_are_removed_and_the_run_is_never_taken_for_whole_again(cartpole, tmp_path, frames):
    """Finished or not: the checksum does not say whether other lines were changed, too."""
    out, longer = shutil.copytree(cartpole, tmp_path / "run"), dataclasses.replace(CARTPOLE, frames=frames)
    path, listener = out / "metrics.jsonl", Listener()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:4], b"garbage\n", lines[5].replace(b'"seed": 1', b'"seed": 10'), *lines[6:]]))
    with pytest.raises(
        UserError, match=f"metrics.jsonl is damaged: line 5 cannot be read; 'rgvf train --resume {out}'"
    ):
        read_runs([out])
    assert resume(out, longer, progress=listener).frames == frames
    what = "was damaged: line 5 could not be read, now removed; others may be wrong or missing"
    assert listener.warnings == [f"{path} {what}"]
    assert len(path.read_bytes().splitlines()) == len(lines) * frames // 3000 - 1
    (group,) = read_runs([out])
    assert list(group.lines) == [0, 1, 10]
    assert not RunFolder(out).metrics_are_intact()
    resume(out, longer, progress=listener)
    assert len(listener.warnings) == 2  # as long as the lines are there


def test_a_finished_run_whose_metrics_are_gone_says_so(cartpole, tmp_path):
    out, listener = shutil.copytree(cartpole, tmp_path / "run"), Listener()
    path = out / "metrics.jsonl"
    path.unlink()
    resume(out, CARTPOLE, progress=listener)
    assert listener.warnings == [f"{path} was emptied or removed; the metrics until this checkpoint are lost"]
    with pytest.raises(UserError, match="has lost its metrics: it is trained for 3,000 frames, but metrics.jsonl is"):
        read_runs([out])


def test_a_changed_line_that_is_longer_takes_no_other_with_it(cartpole, tmp_path):
    """What a checkpoint knew no longer ends where it did."""
    out, listener = shutil.copytree(cartpole, tmp_path / "run"), Listener()
    path = out / "metrics.jsonl"
    count = len(path.read_bytes().splitlines())
    path.write_bytes(path.read_bytes().replace(b'"return": ', b'"return":   ', 1))
    assert resume(out, dataclasses.replace(CARTPOLE, frames=6000), progress=listener).frames == 6000
    assert listener.warnings == [f"{path} was changed; some of its lines may be wrong"]
    assert len(read_runs([out])[0].lines[0]) == count  # half of the lines of twice as many frames
    assert not RunFolder(out).metrics_are_intact()


def test_a_full_disk_ends_in_a_sentence_and_loses_nothing(cartpole, tmp_path):
    out = tmp_path / "run"
    assert train(CARTPOLE, out, progress=False, should_stop=stop_after(10)).frames < CARTPOLE.frames
    kept = {p: p.read_bytes() for p in RunFolder(out).checkpoints()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write past the limit fails instead of killing
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        with pytest.raises(RunError, match="cannot write a checkpoint .*; the last good one is"):
            resume(out, CARTPOLE, progress=False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert {p: p.read_bytes() for p in RunFolder(out).checkpoints()} == kept
    assert resume(out, CARTPOLE, progress=False).frames == CARTPOLE.frames
    assert_same(out, cartpole)


def command(out, *, new):
    run = ["--resume", str(out)]
    if new:
        agent = ["--rgvf.depth", "2", "--rgvf.repeat", "2", "--hidden", "8", "--seeds", "2", "--processes", "2"]
        size = ["--actors", "4", "--steps", "5", "--log-every", "300", "--checkpoint-every", "700"]
        run = ["--env", "gym/CartPole-v1", *agent, *size, "--frames", "12000", "--out", str(out)]
    return [sys.executable, "-m", "rgvf", "train", *run]


@pytest.mark.slow
def test_kill_minus_nine_ten_times_in_a_row(tmp_path):
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole, new=True), check=True, env=environment, capture_output=True)
    rng = random.Random(0)
    for _ in range(10):
        new = not (killed / "config.json").exists()
        with subprocess.Popen(command(killed, new=new), env=environment, stderr=subprocess.PIPE, text=True) as process:
            # Some seconds of start-up, then the run itself: it is killed within both.
            time.sleep(8.0 if new else rng.uniform(2.0, 6.0))
            ended = process.poll()
            process.kill()
            _, error = process.communicate()
        assert ended in (None, 0), error
    assert RunFolder(killed).checkpoints()
    done = subprocess.run(command(killed, new=False), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_same(killed, whole)
