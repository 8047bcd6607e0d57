"""Memory in the loops: it is carried from segment to segment, saved, and each seed's own."""

import re
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import REPRESENTATION, AgentConfig
from rgvf.environments.workers import Workers
from rgvf.loops import DeviceLoop, JointLoop, ListedSeeds, StackedSeeds, seeds, start
from rgvf.runs import RunConfig, RunFolder, resume, train
from rgvf.runs.checkpoint import load_checkpoint
from rgvf.tasks import RandomQuestions, View
from tests.helpers import loop_of, stop_after
from tests.runs.small_runs import assert_same

pytestmark = pytest.mark.medium

QUESTIONS = RandomQuestions(depth=2, repeat=2, features=2)
AGENT = AgentConfig(QUESTIONS, hidden=8, representation="gru", dense=(8,), memory=6)
CUE = RunConfig(
    "cue/3", AGENT, seeds=2, frames=480, actors=4, steps=3, log_every=48, checkpoint_every=120, clip_rewards=0.5
)
CATCH = replace(CUE, env="gym/rgvf/Catch-v0", actors=4, frames=360, processes=2)


@pytest.mark.parametrize("config", [CUE, pytest.param(CATCH, marks=pytest.mark.slow)], ids=["device loop", "host loop"])
def test_a_run_stopped_within_an_episode_ends_bit_identical(tmp_path, config):
    train(config, tmp_path / "whole", progress=False)
    path = tmp_path / "run"
    assert train(config, path, progress=False, should_stop=stop_after(2)).frames < config.frames
    arrays, _ = load_checkpoint(RunFolder(path).checkpoints()[0])
    memories = [array for name, array in arrays.items() if name.endswith("memory") or "memory[" in name]
    assert len(memories) == config.seeds
    assert all(np.abs(memory).max() > 0.01 for memory in memories)  # there is something to remember
    assert resume(path, progress=False, should_stop=stop_after(1)).frames < config.frames
    assert resume(path, progress=False).frames == config.frames
    assert_same(tmp_path / "whole", path)


def test_a_segment_starts_from_the_memory_that_acting_left():
    """The states of a segment go on where those of the segment before ended. The agent does not learn in between."""
    loop = loop_of(replace(CUE, seeds=1, steps=5))  # an episode is six steps: some rewards come with the last of five
    assert isinstance(loop, DeviceLoop)
    state = start(loop)[0]
    representation = state.agent.modules[REPRESENTATION]
    before, firsts, rewards = None, [], []
    for _ in range(4):
        state, trajectory, _ = loop.play(state)
        states = View.of(trajectory, representation).states
        if before is not None:
            np.testing.assert_allclose(states[0], before, atol=1e-6)
            np.testing.assert_array_equal(np.asarray(trajectory.past.last_reward), rewards[-1])
        np.testing.assert_allclose(state.actors.past.memory, states[-2], atol=1e-6)
        np.testing.assert_array_equal(state.actors.past.last_action, trajectory.action[-1])
        before = states[-1]
        firsts.append(np.asarray(trajectory.first[1:]))
        rewards.append(np.asarray(trajectory.reward[-1]))
    assert np.any(firsts)
    assert np.abs(rewards).max() == 0.5  # as learned from


@pytest.mark.parametrize("config", [CUE, pytest.param(CATCH, marks=pytest.mark.slow)], ids=["device loop", "host loop"])
@pytest.mark.parametrize("axis", [ListedSeeds, StackedSeeds])
def test_a_seed_among_several_is_what_it_is_alone(monkeypatch, config, axis):
    found = []
    for run, is_stacked in ((config, axis is StackedSeeds), (replace(config, seed=1, seeds=1), False)):
        monkeypatch.setattr(seeds, "stacking_is_faster", lambda answer=is_stacked: answer)
        loop = loop_of(run)
        state = start(loop)
        for _ in range(3):
            state, _ = loop.advance(state, 1)
        of_seed = re.compile(rf"\.\w+\[{run.seeds - 1}\]")  # .FIELD[SEED]…
        saved = loop.save(state).items()
        found.append({of_seed.sub(lambda m: m[0][:-3], name, 1): a for name, a in saved if of_seed.match(name)})
        loop.close()
    together, alone = found
    assert together.keys() == alone.keys()
    assert [name for name in together if "memory" in name]
    for name, array in together.items():
        np.testing.assert_allclose(array, alone[name], atol=1e-5, err_msg=name)


@pytest.mark.slow
def test_runs_in_one_program_are_what_they_are_alone(stacked):
    """Agents with memory, of two learning rates, and one without."""
    agents = [AGENT, replace(AGENT, learning_rate=2e-3), replace(AGENT, representation="auto", memory=0)]
    runs = [replace(CUE, agent=agent) for agent in agents]
    loops = [loop_of(run) for run in runs]
    states = [start(loop) for loop in loops]
    joint = JointLoop(loops, [run.agent.program for run in runs])
    together = joint.advance(jax.tree.map(jnp.copy, states), 3)
    for loop, initial, (state, _) in zip(loops, states, together, strict=True):
        alone, _ = loop.advance(initial, 3)
        for a, b in zip(jax.tree.leaves(state.actors), jax.tree.leaves(alone.actors), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
        for a, b in zip(jax.tree.leaves(state.agent), jax.tree.leaves(alone.agent), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
    assert jax.tree.leaves(together[0][0].actors.past)
    assert not jax.tree.leaves(together[2][0].actors.past)


def test_agents_without_memory_carry_and_save_nothing_for_it():
    for run in (CUE, CATCH):
        loop = loop_of(replace(run, agent=replace(AGENT, representation="auto", memory=0)))
        names = loop.save(start(loop))
        loop.close()
        assert not [name for name in names if "past" in name or "memory" in name or "last_action" in name]


def test_resumed_games_know_their_last_reward():
    """The host loop does not save it: the newest time step of a restored game has it."""
    with Workers("gym/rgvf/Catch-v0", [0, 1]) as workers:
        workers.reset()
        reward = np.zeros(2)
        while not reward.any():
            workers.send(np.zeros(2, np.int32))
            reward = workers.receive().reward.copy()
        saved = workers.save()
        workers.reset()
        np.testing.assert_array_equal(workers.restore(saved).reward, reward)
