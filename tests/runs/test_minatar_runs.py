"""Runs whose environments are part of the compiled program."""

import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import gymnasium
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.environments import Step
from rgvf.loops import ListedSeeds, StackedSeeds, seeds, start
from rgvf.questions import reward_prediction
from rgvf.runs import RunConfig, RunError, resume, train
from rgvf.tasks import (
    TASKS,
    ActionValues,
    ActionValuesNoActions,
    CURLSettings,
    DiscountedSums,
    GivenQuestions,
    MultiHorizonValues,
    NoActions,
    PixelControlSettings,
    RandomAndActionValues,
    RandomQuestions,
    RewardPrediction,
    Shallow,
    TerminationPrediction,
)
from tests.helpers import loop_of, stop_after
from tests.runs.small_runs import assert_same

pytestmark = pytest.mark.medium

TASKS_OF_AGENT = [RandomQuestions(depth=2, repeat=2), ActionValues(depth=2, repeat=2), CURLSettings(outputs=4)]
AGENT = AgentConfig(TASKS_OF_AGENT, hidden=8, learn_balance=True)
BREAKOUT = RunConfig(
    "minatar/Breakout", AGENT, seeds=2, frames=4200, actors=4, steps=5, log_every=500, checkpoint_every=700
)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "breakout"
    assert train(BREAKOUT, path, progress=False).frames == BREAKOUT.frames
    return path


@pytest.mark.parametrize("stops", [pytest.param([1], marks=pytest.mark.slow), [3, 2]])
def test_stopped_and_resumed_ends_bit_identical(whole, tmp_path, stops):
    path = tmp_path / "run"
    assert train(BREAKOUT, path, progress=False, should_stop=stop_after(stops[0])).frames < BREAKOUT.frames
    for stop in stops[1:]:
        assert resume(path, BREAKOUT, progress=False, should_stop=stop_after(stop)).frames < BREAKOUT.frames
    assert resume(path, BREAKOUT, progress=False).frames == BREAKOUT.frames
    assert_same(whole, path)


@pytest.mark.parametrize("stacked", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_seed_of_several_is_what_it_is_alone(monkeypatch, stacked):
    """Keys, environments, questions and features to the bit; what it learns within 1e-5."""
    alone = RunConfig("minatar/Breakout", AGENT, seed=1, actors=4, steps=5)
    states = []
    for config, is_stacked in ((alone, False), (BREAKOUT, stacked)):
        monkeypatch.setattr(seeds, "stacking_is_faster", lambda answer=is_stacked: answer)
        loop = loop_of(config)
        assert isinstance(loop.seeds, StackedSeeds if is_stacked else ListedSeeds)
        state, _ = loop.advance(start(loop), 6)
        states.append(loop.seeds.unstack(state)[-1])
    assert int(states[0].scores.games) > 0
    assert states[0].agent.task_states["action-values"].features.mean_square.any()  # there were rewards
    for a, b in zip(*(jax.tree.leaves((state.actors, state.scores)) for state in states), strict=True):
        np.testing.assert_array_equal(a, b)
    one, other = (jax.random.key_data(state.key) for state in states)
    np.testing.assert_array_equal(one, other)
    for a, b in zip(*(jax.tree.leaves(state.agent.task_states["rgvf"]) for state in states), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(*(jax.tree.leaves(state.agent) for state in states), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-5)


SMALL = (2, 2, 4)  # depth, repeat, features
EVERY_TASK = [
    *(kind(*SMALL) for kind in (RandomQuestions, NoActions, Shallow, DiscountedSums)),
    ActionValues(depth=2, repeat=2),
    ActionValuesNoActions(depth=2, repeat=2),
    RandomAndActionValues(depth=2, repeat=2, features=2),
    MultiHorizonValues(),
    RewardPrediction(),
    TerminationPrediction(),
    GivenQuestions.of(reward_prediction()),
    PixelControlSettings(),
    CURLSettings(outputs=4),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop_gradient", "representation"), [(False, "auto"), (True, "auto"), (False, "gru"), (True, "gru")]
)
def test_every_task_learns_in_the_compiled_program(stop_gradient, representation):
    """All at once, in one agent; but for CURL where it has memory."""
    assert {settings.name for settings in EVERY_TASK} == set(TASKS)
    tasks = [settings for settings in EVERY_TASK if representation == "auto" or settings.name != "curl"]
    agent = AgentConfig(tasks, stop_gradient, hidden=8, representation=representation)
    loop = loop_of(RunConfig("minatar/Breakout", agent, actors=2, steps=4))
    initial = start(loop)
    before = {task: jax.tree.map(np.asarray, initial[0].agent.modules[task]) for task in agent.task_names}
    state, progress = loop.advance(initial, 2)
    for task, module in before.items():
        own = {name: values for name, values in progress.metrics[0].items() if name.startswith(f"{task}/")}
        logged = [values for name, values in own.items() if not name.endswith("/relative_error")]  # NaN without targets
        assert logged, task
        assert all(np.isfinite(values).all() for values in logged), task
        after = jax.tree.leaves(state[0].agent.modules[task])
        changed = [bool(np.any(a != b)) for a, b in zip(jax.tree.leaves(module), after, strict=True)]
        assert any(changed), task


@dataclass(frozen=True)
class Count:
    """The observation is the number of steps so far."""

    observation_shape: tuple[int, ...] = (1,)
    actions = ("go", "stay")

    def reset(self, key):
        return jnp.float32(0), jnp.zeros(1)

    def step(self, state, action, key):
        return state + 1, Step((state + 1)[None], jnp.float32(1), jnp.bool_(False), jnp.bool_(False))


class LikeGymnasium:
    """Its `step` gives what Gymnasium's does."""

    observation_shape = (1,)
    actions = ("go", "stay")

    def reset(self, key):
        return jnp.float32(0), jnp.zeros(1)

    def step(self, state, action, key):
        return jnp.zeros(1), 0.0, False, False


class Widening(Count):
    """Its state is of another type after a step."""

    def reset(self, key):
        return {"t": jnp.int32(0)}, jnp.zeros(1)

    def step(self, state, action, key):
        return {"t": state["t"].astype(jnp.float32)}, Step(
            jnp.zeros(1), jnp.float32(0), jnp.bool_(False), jnp.bool_(False)
        )


class Growing(Widening):
    """Its state has more after a step."""

    def step(self, state, action, key):
        return {"t": state["t"], "seen": jnp.int32(1)}, Step(
            jnp.zeros(1), jnp.float32(0), jnp.bool_(False), jnp.bool_(False)
        )


class Giving(Count):
    """What its `step` gives differs in one part."""

    def __init__(self, **part):
        super().__init__()
        self.part = part

    def step(self, state, action, key):
        following, step = super().step(state, action, key)
        return following, step._replace(**self.part)


class With(Giving):
    """It has other attributes."""

    def __init__(self, **attributes):
        super().__init__()
        vars(self).update(attributes)


def test_an_environment_can_be_passed(tmp_path):
    config = rgvf.preset(Count(), "a2c", hidden=8, frames=40, actors=4, steps=5)
    assert (config.env, config.clip_rewards) == ("own/Count", 0)  # the preset for vectors
    trained = train(config, tmp_path / "run", progress=False, environment=Count())
    assert trained.frames == resume(tmp_path / "run", progress=False, environment=Count()).frames == 40
    with pytest.raises(ValueError, match="own/Count is known only to the program that made it"):
        rgvf.load(tmp_path / "run")
    with pytest.raises(ValueError, match="must end in axes of"):
        rgvf.load(tmp_path / "run", environment=Count()).act(np.zeros((3, 9)))


@pytest.mark.unchecked_types
@pytest.mark.parametrize(
    ("env", "environment", "message"),
    [
        ("minatar/Breakout", Count(), "is named own/NAME, not minatar/Breakout"),
        ("own/Count", object(), "an environment needs `actions`, and object has none"),
        ("own/Count", gymnasium.make("CartPole-v1"), "TimeLimit has none; a Gymnasium environment is named gym/ID"),
        ("own/Count", With(actions=2), r'`actions` must be names, such as \("left", "right"\), not 2'),
        ("own/Count", With(actions="left"), "`actions` must be names, .*, not 'left'"),
        ("own/Count", With(actions=(0, 1)), r"`actions` must be names, .*, not \(0, 1\)"),
        ("own/Count", With(observation_shape=None), r"`observation_shape` must be a tuple of .*, not None"),
        ("own/Count", With(observation_shape=4), r"`observation_shape` must be a tuple of whole numbers, .*, not 4"),
        ("own/Count", With(reset=lambda key: jnp.zeros(1)), r"`reset` must give \(state, observation\)"),
        ("own/Count", With(reset=lambda key: (1, {"x": 2})), "`reset` must give an array as observation, not dict"),
        ("own/Count", Giving(observation=(1, 2)), "`step` must give an array as observation, not tuple"),
        ("own/Count", LikeGymnasium(), "`step` must give the next state and a rgvf.environments.Step"),
        (
            "own/Count",
            Widening(),
            r"`step` must give a state like that of `reset`.*\['t'\] is int32\[\] at first, then float32\[\]",
        ),
        ("own/Count", Growing(), r"`step` must give a state like .* \['seen'\] is missing at first, then int32\[\]"),
        ("own/Count", Giving(observation=jnp.zeros(1, int)), "an observation of float32, but `step` one of int32"),
        ("own/Count", Giving(reward=jnp.zeros(1)), r"`step` must give a number as reward, not float32\[1\]"),
        ("own/Count", Giving(reward=jnp.bool_(True)), r"`step` must give a number as reward, not bool\[\]"),
        ("own/Count", Giving(terminal=jnp.float32(0)), r"`step` must give a boolean as terminal, not float32\[\]"),
        ("own/Count", Giving(truncated=None), "`step` must give a boolean as truncated, not NoneType"),
        ("own/Count", Giving(truncated=jnp.zeros(1, bool)), r"`step` must give a boolean as truncated, not bool\[1\]"),
        ("own/Count", Count, r"pass an environment object, Count\(…\), not the class Count"),
        (
            "own/Count",
            Count((3,)),
            r"`reset` gives an observation of shape \(1,\), but `observation_shape` says \(3,\)",
        ),
    ],
)
def test_what_is_no_environment_is_refused(tmp_path, env, environment, message):
    with pytest.raises(ValueError, match=message):
        train(RunConfig(env, AGENT), tmp_path / "wrong", progress=False, environment=environment)
    assert not (tmp_path / "wrong").exists()
    if env == "own/Count":
        with pytest.raises(ValueError, match=message):
            rgvf.preset(environment, name="vectors")


@pytest.mark.slow
def test_seeds_are_spread_over_several_devices():
    """Two devices, made of one CPU: the same agents, one on each."""
    program = """
import jax, numpy as np
from rgvf.loops import start
from tests.helpers import loop_of
from tests.runs.test_minatar_runs import BREAKOUT
assert jax.device_count() == 2
loop = loop_of(BREAKOUT)
state, progress = loop.advance(start(loop), 1)
leaf = state.agent.modules["a2c"].value.weight
assert len(leaf.sharding.device_set) == 2, leaf.sharding
print(" ".join(map(str, np.asarray(leaf)[:, :, 0].ravel())))
"""
    environment = {**os.environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=2"}
    root = Path(__file__).parents[2]
    there = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, cwd=root)
    assert there.returncode == 0, there.stderr
    loop = loop_of(BREAKOUT)
    state, _ = loop.advance(start(loop), 1)
    here = np.stack([np.asarray(each.agent.modules["a2c"].value.weight)[:, 0] for each in state])
    np.testing.assert_allclose(np.array(there.stdout.split(), float).reshape(here.shape), here, atol=1e-5)


def test_a_run_from_before_the_rules_changed_is_not_resumed(whole, monkeypatch):
    monkeypatch.setattr(import_module("rgvf.runs.train"), "RULES", {"minatar/Breakout": 2})
    with pytest.raises(RunError, match="was trained before the rules of minatar/Breakout changed"):
        resume(whole, progress=False)


def test_an_agent_from_before_the_rules_changed_is_loaded_with_a_warning(whole, monkeypatch):
    monkeypatch.setattr(import_module("rgvf.runs.trained_agent"), "RULES", {"minatar/Breakout": 2})
    with pytest.warns(UserWarning, match="the rules of minatar/Breakout have changed since"):
        rgvf.load(whole)
