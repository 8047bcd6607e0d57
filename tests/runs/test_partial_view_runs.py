"""Runs in environments of other packages that are part of the compiled program: xminigrid and Craftax."""

import dataclasses

import jax
import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.loops import ListedSeeds, StackedSeeds, seeds, start
from rgvf.runs import RunConfig, resume, train
from rgvf.tasks import ActionValues, RandomQuestions
from tests.helpers import loop_of, stop_after
from tests.runs.small_runs import assert_same

pytestmark = pytest.mark.medium

AGENT = AgentConfig([RandomQuestions(depth=2, repeat=2), ActionValues(depth=2, repeat=2)], hidden=8)
SLOW = pytest.mark.slow
ENVIRONMENTS = [
    "xminigrid/MiniGrid-MemoryS8",
    pytest.param("craftax/Classic-Symbolic", marks=SLOW),
    pytest.param("craftax/Classic-Pixels", marks=SLOW),
]


def run_of(env, **settings):
    fields = {"seeds": 2, "frames": 1200, "actors": 4, "steps": 5, "log_every": 200, "checkpoint_every": 400}
    return RunConfig(env, AGENT, **{**fields, **settings})


@pytest.mark.slow
@pytest.mark.parametrize("env", ENVIRONMENTS)
def test_a_run_is_resumed_exactly_evaluated_and_recorded(env, tmp_path):
    config = run_of(env)
    whole = train(config, tmp_path / "whole", progress=False)
    assert whole.frames == config.frames
    path = tmp_path / "stopped"
    assert train(config, path, progress=False, should_stop=stop_after(2)).frames < config.frames
    assert resume(path, config, progress=False).frames == config.frames
    assert_same(tmp_path / "whole", path)
    agent = rgvf.load(path)
    returns = rgvf.evaluate(agent, games=2)
    assert returns.shape == (2,)
    assert np.isfinite(returns).all()
    recording = rgvf.record(agent, steps=5)
    assert recording.screens[0].shape[-1] == 3
    assert recording.screens[0].dtype == np.uint8
    assert set(recording.answers) == {"rgvf", "action-values"}


@pytest.mark.slow
@pytest.mark.parametrize(("env", "updates"), [("xminigrid/MiniGrid-Empty-5x5", 30), ("craftax/Classic-Symbolic", 80)])
@pytest.mark.parametrize("stacked", [False, True])
def test_a_seed_of_several_is_what_it_is_alone(monkeypatch, env, updates, stacked):
    """Environments and keys to the bit; what it learns within 1e-5. It learns slowly, so rounding changes no action."""
    states = []
    agent = dataclasses.replace(AGENT, learning_rate=1e-6)
    alone, among = (dataclasses.replace(run_of(env, **own), agent=agent) for own in ({"seeds": 1, "seed": 1}, {}))
    for config, is_stacked in ((alone, False), (among, stacked)):
        monkeypatch.setattr(seeds, "stacking_is_faster", lambda answer=is_stacked: answer)
        loop = loop_of(config)
        assert isinstance(loop.seeds, StackedSeeds if is_stacked else ListedSeeds)
        state, _ = loop.advance(start(loop), updates)
        states.append(loop.seeds.unstack(state)[-1])
    assert int(states[0].scores.games) > 0  # there were resets, and rewards
    assert states[0].agent.task_states["action-values"].features.mean_square.any()
    for a, b in zip(*(jax.tree.leaves((state.actors, state.scores)) for state in states), strict=True):
        if jax.numpy.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        np.testing.assert_array_equal(a, b)
    for a, b in zip(*(jax.tree.leaves(state.agent) for state in states), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)
