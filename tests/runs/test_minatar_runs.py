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
from rgvf.agents import TASKS, AgentConfig
from rgvf.environments.protocol import Step
from rgvf.training import packs, play
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


@pytest.mark.parametrize("as_on_a_gpu", [False, True])
def test_a_seed_of_several_is_what_it_is_alone(monkeypatch, as_on_a_gpu):
    """Keys, games, questions and features to the bit; what it learns within 1e-5."""
    alone = RunConfig("minatar/Breakout", AGENT, seed=1, actors=4, steps=5)
    states = []
    for config in (alone, BREAKOUT):
        if config == BREAKOUT and as_on_a_gpu:  # seeds as an axis of the arrays
            monkeypatch.setattr(packs, "seeds_are_listed", lambda: False)
        loop = make_loop(config)
        seeds = range(config.seed, config.seed + config.seeds)
        state, _ = loop.advance(loop.start(seeds), 1)
        states.append(packs.listed(state, config.seeds)[-1])
    for a, b in zip(*(jax.tree.leaves((state.actors, state.tally)) for state in states), strict=True):
        np.testing.assert_array_equal(a, b)
    one, other = (jax.random.key_data(state.key) for state in states)
    np.testing.assert_array_equal(one, other)
    for a, b in zip(*(jax.tree.leaves(state.agent.task_states["rgvf"]) for state in states), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(*(jax.tree.leaves(state.agent) for state in states), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


@pytest.mark.parametrize("stop_gradient", [False, True])
def test_every_task_learns_where_the_game_is_compiled(stop_gradient):
    """All at once, in one agent."""
    agent = AgentConfig("+".join(TASKS), stop_gradient, depth=2, repeat=2, features=4, hidden=8, curl_outputs=4)
    loop = make_loop(RunConfig("minatar/Breakout", agent, actors=2, steps=4))
    start = loop.start([0])
    before = [jax.tree.map(np.asarray, start[0].agent.modules[task]) for task in TASKS]
    state, progress = loop.advance(start, 2)
    assert isinstance(progress.losses, list)
    for task, module in zip(TASKS, before, strict=True):
        told = [values for name, values in progress.losses[0].items() if name.startswith(f"{task}/")]
        assert told, task
        assert all(np.isfinite(values).all() for values in told), task
        after = jax.tree.leaves(state[0].agent.modules[task])
        changed = [bool(np.any(a != b)) for a, b in zip(jax.tree.leaves(module), after, strict=True)]
        assert any(changed), task


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


class Endless:
    """Reward 1 for ever."""

    actions = ("go", "stay")
    observation_shape: tuple[int, ...] = (2, 2, 1)

    def reset(self, key):
        return jnp.float32(0), jnp.zeros((2, 2, 1))

    def step(self, state, action, key):
        return state + 1, Step(jnp.full((2, 2, 1), state), jnp.float32(1), jnp.bool_(False), jnp.bool_(False))


class Mistaken(Endless):
    observation_shape = (3, 2, 1)


class CutOff(Endless):
    """Each episode is cut off after six steps."""

    def step(self, state, action, key):
        state, step = super().step(state, action, key)
        return state, step._replace(truncated=state == 6)


@pytest.mark.parametrize(("world", "cut_after"), [(Endless(), 10), (CutOff(), 6)])
def test_what_comes_after_a_cut_is_what_the_agent_expects_there(tmp_path, world, cut_after):
    """A discounted sum of rewards of 1 is known as far as they go; the rest is the agent's own value."""
    agent = AgentConfig("mhvp", discount=0.9, horizons=3, hidden=8, representation="mlp")
    config = RunConfig("own/Endless", agent, frames=40, actors=4, steps=5)
    assert rgvf.train(config, tmp_path / "run", environment=world)
    trained = rgvf.load(tmp_path / "run", environment=world)
    film = record(trained, steps=10)
    assert len(film.value) == cut_after
    last = trained.look(np.full((1, 2, 2, 1), cut_after - 1, np.float32))
    left = cut_after - np.arange(cut_after)
    expected = (1 - 0.9**left) / 0.1 + 0.9**left * float(last["value"][0])
    np.testing.assert_allclose(film.realised, expected, rtol=1e-4)
    discounts = np.array([1 - 1 / h for h in (1, 100 / 3, 200 / 3)])
    expected = (1 - discounts ** left[:, None]) / (1 - discounts) + discounts ** left[:, None] * last["answers"]["mhvp"]
    np.testing.assert_allclose(film.happened["mhvp"], expected, rtol=1e-3)


def test_a_game_that_never_ends_is_cut_off_when_it_is_evaluated(tmp_path, monkeypatch):
    monkeypatch.setattr(play, "MOST_STEPS", 30)
    config = RunConfig("own/Endless", AgentConfig("a2c", hidden=8, representation="mlp"), frames=40, actors=4, steps=5)
    assert rgvf.train(config, tmp_path / "run", environment=Endless())
    agent = rgvf.load(tmp_path / "run", environment=Endless())
    np.testing.assert_array_equal(evaluate(agent, games=20), np.full(20, 30.0))
    with pytest.raises(ValueError, match="cannot be made to stick in own/Endless"):
        evaluate(agent, games=1, sticky=0.5)


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
        ("own/Walk", example["Walk"], r"must be made first: Walk\(…\), not Walk"),
        ("own/Walk", Mistaken(), r"`reset` shows an observation of shape \(2, 2, 1\), but `observation_shape` says"),
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
