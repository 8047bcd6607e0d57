"""Runs that are stopped, killed and damaged, and go on as if nothing had happened."""

import dataclasses
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from typing import Any, cast

import jax
import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.training.checkpoint import load_checkpoint
from rgvf.training.config import RunConfig
from rgvf.training.folder import RunError, RunFolder
from rgvf.training.run import resume, train

AGENT = AgentConfig(depth=2, repeat=2, hidden=8)
CARTPOLE = RunConfig(
    env="gym/CartPole-v1", agent=AGENT, seeds=2, frames=3000, actors=4, steps=5, log_every=300, checkpoint_every=700,
    processes=2,
)  # fmt: skip
BREAKOUT = RunConfig(
    env="atari/Breakout", agent=AGENT, frames=9600, actors=4, steps=5, log_every=800, checkpoint_every=3000, processes=2
)


class Quiet:
    def __init__(self):
        self.warnings = []

    def warn(self, message):
        self.warnings.append(message)

    def progress(self, frames, total, speed, lines):
        pass


def stop_after(updates):
    left = [updates]

    def should_stop():
        left[0] -= 1
        return left[0] < 0

    return should_stop


def final_state(path):
    """All that the last checkpoint holds but the emulators, and the metrics without the clock."""
    arrays, facts = load_checkpoint(RunFolder(path).checkpoints()[0])
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    for line in lines:
        del line["seconds"], line["frames_per_second"]
    del facts["metrics_length"]
    return arrays, facts, lines


def assert_same(a, b):
    (arrays, facts, lines), (other_arrays, other_facts, other_lines) = final_state(a), final_state(b)
    assert facts == other_facts
    assert lines == other_lines
    assert arrays.keys() == other_arrays.keys()
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, other_arrays[name], err_msg=name)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    paths = {}
    for name, config in (("cartpole", CARTPOLE), ("breakout", BREAKOUT)):
        paths[name] = tmp_path_factory.mktemp("runs") / name
        assert train(config, paths[name], Quiet(), lambda: False)
    return paths


@pytest.mark.parametrize(("name", "config"), [("cartpole", CARTPOLE), ("breakout", BREAKOUT)])
def test_stopped_and_resumed_ends_bit_identical(whole, tmp_path, name, config):
    out = tmp_path / "run"
    assert not train(config, out, Quiet(), stop_after(7))
    assert not resume(out, config, Quiet(), stop_after(0))
    assert not resume(out, config, Quiet(), stop_after(20))
    assert resume(out, config, Quiet(), lambda: False)
    assert_same(out, whole[name])


def test_a_damaged_newest_checkpoint_is_reported_and_the_one_before_used(whole, tmp_path):
    out = tmp_path / "run"
    assert not train(CARTPOLE, out, Quiet(), stop_after(50))
    newest, _ = RunFolder(out).checkpoints()
    newest.write_bytes(newest.read_bytes()[:-100])
    listener = Quiet()
    assert resume(out, CARTPOLE, listener, lambda: False)
    assert len(listener.warnings) == 1
    assert str(newest) in listener.warnings[0]
    assert_same(out, whole["cartpole"])


def test_resuming_a_finished_run_changes_nothing(whole):
    before = final_state(whole["cartpole"])[2]
    assert resume(whole["cartpole"], CARTPOLE, Quiet(), lambda: False)
    assert final_state(whole["cartpole"])[2] == before


def test_a_run_killed_before_its_first_checkpoint_starts_again(whole, tmp_path):
    RunFolder.create(tmp_path / "run", CARTPOLE).close()
    assert resume(tmp_path / "run", CARTPOLE, Quiet(), lambda: False)
    assert_same(tmp_path / "run", whole["cartpole"])


def test_a_run_s_folder(whole):
    files = {p.name for p in whole["cartpole"].iterdir()}
    assert files == {
        "config.json", "questions.seed-0.json", "questions.seed-1.json", "metrics.jsonl", "tensorboard", "checkpoints",
        ".lock",
    }  # fmt: skip
    assert RunFolder.open(whole["cartpole"])[1] == CARTPOLE
    lines = final_state(whole["cartpole"])[2]
    assert [line["seed"] for line in lines[:4]] == [0, 1, 0, 1]
    assert lines[-1]["frames"] == 3000
    assert lines[-1]["games"] > 20
    assert {"a2c/policy_loss", "a2c/value_loss", "a2c/entropy", "rgvf/loss"} <= lines[-1].keys()
    asked = rgvf.questions.QuestionNetwork.load(whole["cartpole"] / "questions.seed-1.json")
    assert asked == rgvf.load(whole["cartpole"], seed=1).questions["rgvf"]


def test_the_trained_agent_comes_back(whole):
    agent = rgvf.load(whole["breakout"])
    assert agent.frames == 9600
    shown = np.random.default_rng(0).integers(0, 256, size=(3, 2, 84, 84, 4), dtype=np.uint8)
    looked = agent.look(shown)
    np.testing.assert_allclose(looked["policy"].sum(-1), 1, rtol=1e-5)
    assert agent.represent(shown).shape == (3, 2, 3136)
    assert agent.answer(shown).shape == (3, 2, agent.questions["rgvf"].n_predictions)
    np.testing.assert_array_equal(agent.act(shown), looked["policy"].argmax(-1))
    assert agent.act(shown, jax.random.key(0)).shape == (3, 2)
    with pytest.raises(ValueError, match="must be bytes"):
        agent.act(shown.astype(np.int64))
    with pytest.raises(RunError, match="seeds 0 to 0, not 5"):
        rgvf.load(whole["breakout"], seed=5)


def test_lost_lines_of_metrics_are_told_and_the_run_goes_on(whole, tmp_path):
    folder, quiet = tmp_path / "run", Quiet()
    train(CARTPOLE, folder, quiet, stop_after(20))
    first, *_ = (folder / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    (folder / "metrics.jsonl").write_bytes(first + b'{"frames": 6')
    with pytest.raises(ValueError, match="only more frames"):
        resume(folder, dataclasses.replace(CARTPOLE, frames=6000, actors=8), quiet)
    assert RunFolder.open(folder)[1] == CARTPOLE  # what is refused changes nothing
    assert resume(folder, dataclasses.replace(CARTPOLE, processes=1), quiet)  # another machine may have fewer cores
    assert len(quiet.warnings) == 1
    assert "has lost lines" in quiet.warnings[0]
    arrays, there = final_state(folder)[0], final_state(whole["cartpole"])[0]
    assert all(np.array_equal(array, there[name]) for name, array in arrays.items())
    assert len(final_state(folder)[2]) == 1 + 2 * 9  # the first line, and those after the checkpoint


def test_two_processes_never_train_in_one_folder(tmp_path):
    def meddle():
        with pytest.raises(RunError, match="being trained in by another process"):
            resume(tmp_path / "run", None, Quiet(), lambda: True)
        return True

    assert not train(CARTPOLE, tmp_path / "run", Quiet(), meddle)
    assert not resume(tmp_path / "run", None, Quiet(), lambda: True)


def test_a_run_killed_at_once_does_not_block_its_folder(tmp_path):
    (tmp_path / "run" / "checkpoints").mkdir(parents=True)
    (tmp_path / "run" / ".config.json.4711").write_text("{")
    assert not train(CARTPOLE, tmp_path / "run", Quiet(), lambda: True)
    broken = tmp_path / "run" / "checkpoints" / ".000000000700.safetensors.4711"
    broken.write_bytes(b"half")
    assert resume(tmp_path / "run", None, Quiet())
    assert not broken.exists()


def test_what_cannot_be_made_shows_before_anything_is_written(tmp_path):
    with pytest.raises(ValueError, match="an image of 10×10 is too small"):
        train(RunConfig("minatar/Breakout", AgentConfig("a2c", representation="conv")), tmp_path / "run", Quiet())
    assert not (tmp_path / "run").exists()


def test_numbers_may_be_given_in_any_form():
    many, third, half, halves = cast(Any, (5e6, np.int64(3), 0.5, [0.5]))
    config = RunConfig("gym/CartPole-v1", AgentConfig(c=half), frames=many, seed=third)
    assert (config.frames, config.seed, config.agent.c) == (5_000_000, 3, (0.5,))
    assert RunConfig.from_json(config.to_json()) == config
    assert AgentConfig(c=halves) == AgentConfig(c=(0.5,))
    with pytest.raises(ValueError, match=r"frames must be a whole number, not 1\.5"):
        RunConfig("gym/CartPole-v1", frames=cast(Any, 1.5))
    with pytest.raises(ValueError, match="seed must be a number, not 'x'"):
        RunConfig("gym/CartPole-v1", seed=cast(Any, "x"))


def test_a_new_run_never_overwrites_anything(whole, tmp_path):
    with pytest.raises(RunError, match="holds a run already; go on with it .rgvf train --resume"):
        train(CARTPOLE, whole["cartpole"], Quiet(), lambda: False)
    (tmp_path / "thesis.txt").write_text("precious")
    with pytest.raises(RunError, match="is not empty"):
        train(CARTPOLE, tmp_path, Quiet(), lambda: False)
    too_large = RunConfig(env="gym/CartPole-v1", agent=AgentConfig(repeat=99))
    with pytest.raises(ValueError, match="repeat 99"):
        train(too_large, tmp_path / "new", Quiet(), lambda: False)
    assert not (tmp_path / "new").exists()


def test_a_full_disk_ends_in_a_sentence_and_loses_nothing(whole, tmp_path):
    out = tmp_path / "run"
    assert not train(CARTPOLE, out, Quiet(), stop_after(10))
    kept = {p: p.read_bytes() for p in RunFolder(out).checkpoints()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # a write past the limit fails instead of killing
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
        with pytest.raises(RunError, match="cannot write a checkpoint .*; the last good one is"):
            resume(out, CARTPOLE, Quiet(), lambda: False)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert {p: p.read_bytes() for p in RunFolder(out).checkpoints()} == kept
    assert resume(out, CARTPOLE, Quiet(), lambda: False)
    assert_same(out, whole["cartpole"])


def command(out, *, new):
    run = ["--resume", str(out)]
    if new:
        agent = ["--depth", "2", "--repeat", "2", "--hidden", "8", "--seeds", "2", "--processes", "2"]
        size = ["--actors", "4", "--steps", "5", "--log-every", "300", "--checkpoint-every", "700"]
        run = ["--env", "gym/CartPole-v1", *agent, *size, "--frames", "12000", "--out", str(out)]
    return [sys.executable, "-m", "rgvf.cli", "train", *run]


@pytest.mark.slow
def test_kill_minus_nine_ten_times_in_a_row(tmp_path):
    environment = {**os.environ, "JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    environment["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole, new=True), check=True, env=environment, capture_output=True)
    rng = random.Random(0)
    kills = 0
    while kills < 10:
        new = not killed.exists()
        with subprocess.Popen(command(killed, new=new), env=environment, stderr=subprocess.PIPE, text=True) as process:
            # Some seconds of start-up, then the run itself: moments within both.
            time.sleep(8.0 if new else rng.uniform(2.0, 6.0))
            ended = process.poll()
            process.kill()
            _, error = process.communicate()
        assert ended in (None, 0), error
        kills += 1
    assert RunFolder(killed).checkpoints()
    done = subprocess.run(command(killed, new=False), env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert_same(killed, whole)
