"""Runs whose games are part of the compiled program."""

import os
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.training.config import RunConfig
from rgvf.training.device import Tally
from rgvf.training.loop import RECENT
from rgvf.training.play import evaluate, record
from rgvf.training.run import make_loop, resume, train
from tests.training.test_run import Quiet, assert_same, stop_after

AGENT = AgentConfig("rgvf+curl", depth=2, repeat=2, hidden=8, curl_outputs=4)
BREAKOUT = RunConfig(
    "minatar/Breakout", AGENT, seeds=2, frames=4200, actors=4, steps=5, log_every=500, checkpoint_every=700
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "breakout"
    assert train(BREAKOUT, path, Quiet(), lambda: False)
    return path


@pytest.mark.parametrize("stops", [[1], [3, 2]])
def test_stopped_and_resumed_ends_bit_identical(whole, tmp_path, stops):
    path = tmp_path / "run"
    assert not train(BREAKOUT, path, Quiet(), stop_after(stops[0]))
    for stop in stops[1:]:
        assert not resume(path, BREAKOUT, Quiet(), stop_after(stop))
    assert resume(path, BREAKOUT, Quiet(), lambda: False)
    assert_same(whole, path)


def test_a_seed_of_several_is_what_it_is_alone():
    alone = RunConfig("minatar/Breakout", AGENT, seed=1, actors=4, steps=5)
    states = []
    for config in (BREAKOUT, alone):
        loop = make_loop(config)
        seeds = range(config.seed, config.seed + config.seeds)
        state, _ = loop.advance(loop.start(seeds), 1)
        states.append(state[-1])
    for a, b in zip(*map(jax.tree.leaves, states), strict=True):
        if not jnp.issubdtype(a.dtype, jax.dtypes.prng_key):
            np.testing.assert_allclose(a, b, atol=1e-5)


def test_the_trained_agent_comes_back_and_plays(whole):
    agent = rgvf.load(whole, seed=1)
    assert agent.frames == 4200
    scores = evaluate(agent, games=5)
    assert scores.shape == (5,)
    assert (scores >= 0).all()
    film = record(agent, steps=30)
    assert film.screens[0].shape == (160, 160, 3)
    assert film.answers["rgvf"].shape == film.happened["rgvf"].shape


def test_scores_are_kept_in_order_however_many_end_at_once():
    rng = np.random.default_rng(0)
    tally = Tally(jnp.zeros(7), jnp.zeros(RECENT), jnp.int32(0))
    running, told, before = np.zeros(7), [], 0
    for often in (0.05, 0.9, 0.2, 0.0, 1.0):
        reward = rng.integers(-3, 9, size=(40, 7)).astype(np.float32)
        over = rng.random((40, 7)) < often
        tally = jax.jit(Tally.add)(tally, jnp.asarray(reward), jnp.asarray(over))
        new = []
        for t in range(40):
            running += reward[t]
            new += [float(running[b]) for b in range(7) if over[t, b]]
            running[over[t]] = 0
        told += new
        assert int(tally.games) - before == len(new)
        assert tally.newest(len(new)) == new[-RECENT:]
        before = int(tally.games)
    assert tally.newest(RECENT) == told[-RECENT:]


def test_an_environment_of_one_s_own_can_be_passed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(tempfile, "mkdtemp", lambda: str(tmp_path))
    example = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "own_world.py"))
    assert capsys.readouterr().out == "Return of ten games: 5.0\n"  # unclipped
    assert rgvf.resume(tmp_path / "walk", environment=example["Walk"]())  # it is at its end
    with pytest.raises(ValueError, match="own/Walk is known only to the program that trained in it"):
        rgvf.load(tmp_path / "walk")
    with pytest.raises(ValueError, match="must end in axes of"):
        rgvf.load(tmp_path / "walk", environment=example["Walk"]()).act(np.zeros((3, 9)))
    for env, world, wrong in (
        ("minatar/Breakout", example["Walk"](), "is named own/NAME, not minatar/Breakout"),
        ("own/Walk", cast(Any, object()), "an environment needs `actions`, and object has none"),
    ):
        with pytest.raises(ValueError, match=wrong):
            rgvf.train(RunConfig(env, AGENT), tmp_path / "wrong", environment=world)
    assert not (tmp_path / "wrong").exists()


def test_seeds_are_spread_over_several_devices():
    """Two devices, made of one CPU: the same agents, in both shards."""
    program = """
import jax, numpy as np
from rgvf.training.run import make_loop
from tests.training.test_compiled import BREAKOUT
assert jax.device_count() == 2
loop = make_loop(BREAKOUT)
state, progress = loop.advance(loop.start(range(2)), 1)
leaf = state.agent.modules["a2c"].value.weight
assert len(leaf.sharding.device_set) == 2, leaf.sharding
print(" ".join(map(str, np.asarray(leaf)[:, :, 0].ravel())))
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    root = Path(__file__).parents[2]
    told = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, cwd=root)
    assert told.returncode == 0, told.stderr
    loop = make_loop(BREAKOUT)
    state, _ = loop.advance(loop.start(range(2)), 1)
    here = np.stack([np.asarray(each.agent.modules["a2c"].value.weight)[:, 0] for each in state])
    np.testing.assert_allclose(np.array(told.stdout.split(), float).reshape(here.shape), here, atol=1e-5)
