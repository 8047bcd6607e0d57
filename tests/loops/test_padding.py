"""Agents whose question networks differ in size, padded to one size inside the joint loop."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.environments import GridWorld
from rgvf.features import RandomLinear, RandomPatches
from rgvf.loops import JointLoop, start
from rgvf.loops.padding import common_sizes, pad_agent, unpad_agent
from rgvf.questions import QuestionNetwork
from rgvf.runs import RunConfig
from rgvf.spec import EnvironmentSpec
from rgvf.tasks import (
    DiscountedSums,
    GivenQuestions,
    MultiHorizonValues,
    NoActions,
    RandomQuestions,
    Shallow,
    pad_questions,
)
from tests.helpers import learner_of, loop_of, trajectory

pytestmark = pytest.mark.medium

ACTIONS = ("left", "right", "fire")
IMAGE, VECTOR = EnvironmentSpec((10, 10, 4), "float32", ACTIONS), EnvironmentSpec((7,), "float32", ACTIONS)
SMALL = (3, 4, 6)  # depth, repeat, features
ROOM = GridWorld(4)


def assert_close(tree, other, atol=1e-5):
    """The same arrays, and the same shapes."""
    assert jax.tree.structure(tree) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(tree), jax.tree.leaves(other), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(a, b, atol=atol)


@pytest.mark.parametrize(
    ("spec", "settings", "stop_gradient", "feature"),
    [
        (IMAGE, RandomQuestions(*SMALL), True, RandomPatches),
        (VECTOR, RandomQuestions(*SMALL), False, RandomLinear),
        (VECTOR, NoActions(*SMALL), False, RandomLinear),
        pytest.param(IMAGE, Shallow(*SMALL), False, RandomPatches, marks=pytest.mark.slow),
        (VECTOR, DiscountedSums(*SMALL), True, RandomLinear),
    ],
    ids=["rgvf-image", "rgvf-vector", "no-actions-vector", "shallow-image", "discounted-sum-vector"],
)
def test_a_padded_agent_learns_what_it_learns_without_padding(spec, settings, stop_gradient, feature):
    name = settings.name
    learner = learner_of(AgentConfig(settings, stop_gradient, hidden=16), spec, seed=3)
    update = jax.jit(learner.update)
    start = learner.init(jax.random.key(0))
    assert isinstance(start.task_states[name].features, feature)
    agent, padded = start, pad_agent(start, {name: (111, 53)})
    assert len(padded.task_states[name].features.names) == 53
    batch = trajectory(spec, steps=6, environments=4, terminal=[(1, 0), (3, 2)], first=[(3, 0), (5, 2)])
    for step in range(2):
        agent, metrics = update(agent, batch, jax.random.key(step))
        padded, padded_metrics = update(padded, batch, jax.random.key(step))
        for metric, value in metrics.items():
            np.testing.assert_allclose(value, padded_metrics[metric], rtol=1e-5)
    assert_close(unpad_agent(padded, start), agent)
    n, wide = agent.modules[name].output.weight.shape[1], padded.modules[name].output.weight
    assert wide.shape[1] == 111
    assert not wide[:, n:].any()


def test_unpadding_undoes_padding():
    agent = learner_of(AgentConfig(RandomQuestions(*SMALL), hidden=8), IMAGE).init(jax.random.key(0))
    assert_close(unpad_agent(pad_agent(agent, {"rgvf": (80, 20)}), agent), agent, atol=0.0)


def agent_of(settings):
    return learner_of(AgentConfig(settings, hidden=8), IMAGE).init(jax.random.key(0))


def test_agents_are_padded_to_the_largest_sizes_among_them():
    deep, wide = agent_of(RandomQuestions(*SMALL)), agent_of(RandomQuestions(1, 2, features=9))
    assert common_sizes([deep, wide]) == {"rgvf": (6 + 3 * 4 * 3, 9)}
    assert common_sizes([deep, deep]) == {}


def test_what_cannot_be_padded():
    """Features of a fixed number, and networks with a node of many edges."""
    few, many = agent_of(MultiHorizonValues(3)), agent_of(MultiHorizonValues(5))
    assert common_sizes([few, many]) == {}
    with pytest.raises(ValueError, match="features such as reward cannot be padded"):
        pad_questions(few.task_states["mhvp"], 5, 1)
    agents = []
    for n in (9, 10):
        names = [f"random-patches/{k}" for k in range(n)]
        sums = QuestionNetwork(names, {"all": None}, [("all", name) for name in names])
        agents.append(agent_of(GivenQuestions.of(sums)))
    assert isinstance(agents[0].task_states["questions"].features, RandomPatches)
    assert common_sizes(agents) == {}


def run_of(settings, seeds):
    agent = AgentConfig(settings, hidden=8, representation="mlp")
    return RunConfig("own/Room", agent, seeds=seeds, actors=4, steps=5)


def updated_by(loops):
    """Which loops' `update` is called from now on."""
    called = set()
    for i, loop in enumerate(loops):

        def update(*arguments, i=i, original=loop.update):
            called.add(i)
            return original(*arguments)

        loop.update = update
    return called


@pytest.mark.parametrize(
    ("few", "many", "groups"),
    [
        pytest.param(
            RandomQuestions(1, 2, features=4),
            RandomQuestions(3, 3, features=7, discount=0.5),
            {0},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            RandomQuestions(1, 2, features=9, feature_kind="linear"),
            RandomQuestions(3, 3, features=7, feature_kind="linear"),
            {0},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            RandomQuestions(1, 2, features=4, feature_rms=8.0),
            RandomQuestions(3, 3, features=7, feature_rms=1.0),
            {0},
            marks=pytest.mark.slow,
        ),
        pytest.param(MultiHorizonValues(3), MultiHorizonValues(5), {0, 1}, marks=pytest.mark.slow),
    ],
    ids=["random patches", "random linear", "normalised", "not padded"],
)
def test_agents_with_networks_of_different_sizes_learn_together_what_each_learns_alone(stacked, few, many, groups):
    """One update function serves both where they can be padded, else each has its own. States come back unpadded."""
    runs = [run_of(few, seeds=2), run_of(many, seeds=1)]
    loops = [loop_of(run, ROOM) for run in runs]
    called = updated_by(loops)
    programs = [run.agent.program for run in runs]
    assert programs[0] == programs[1]
    states = [start(loop) for loop in loops]
    together = JointLoop(loops, programs).advance(jax.tree.map(jnp.copy, states), 3)
    assert called == groups
    for loop, initial, (state, progress) in zip(loops, states, together, strict=True):
        alone, expected = loop.advance(initial, 3)
        assert_close(state.agent, alone.agent)
        saved, saved_alone = loop.save(state), loop.save(alone)
        assert saved.keys() == saved_alone.keys()
        assert {name: a.shape for name, a in saved.items()} == {name: a.shape for name, a in saved_alone.items()}
        for metric, values in expected.metrics.items():
            np.testing.assert_allclose(progress.metrics[metric][:, :3], values[:, :3], rtol=1e-4)
