"""Several runs in one compiled program."""

import dataclasses
import signal
from dataclasses import dataclass
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.agents import AgentConfig
from rgvf.loops import JointLoop, start
from rgvf.questions import random_network
from rgvf.runs import RunConfig, RunFolder, resume, train, train_together
from rgvf.runs.checkpoint import load_checkpoint
from rgvf.tasks import (
    TASKS,
    ActorCriticSettings,
    AnswersTask,
    CURLSettings,
    GivenQuestions,
    QuestionSettings,
    RandomQuestions,
)
from tests.helpers import Listener, loop_of, stop_after

pytestmark = pytest.mark.medium

SMALL = AgentConfig(RandomQuestions(depth=1, repeat=2, features=4), stop_gradient=True, hidden=8)
LARGE = RandomQuestions(depth=5, repeat=3, features=7, discount=0.5)
AGENTS = (
    AgentConfig("a2c", hidden=8),
    # Arrays of the same shapes, but another program:
    AgentConfig("a2c", hidden=8, actor_critic=ActorCriticSettings(entropy=0.5)),
    SMALL,
    dataclasses.replace(SMALL, tasks=LARGE, learning_rate=2e-3, c=(0.5,)),
)


def run_of(agent, seeds=2, **settings):
    fields = {"frames": 400, "actors": 4, "steps": 5, "log_every": 100, "checkpoint_every": 200, **settings}
    return RunConfig("minatar/Breakout", agent, seeds=seeds, **fields)


def leaves(state):
    return [leaf for leaf in jax.tree.leaves(state) if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)]


@pytest.mark.slow
def test_an_agent_among_others_is_what_it_is_alone(stacked):
    runs = [run_of(agent, seeds) for agent, seeds in zip(AGENTS, (2, 1, 1, 2), strict=True)]
    loops = [loop_of(run) for run in runs]
    states = [start(loop) for loop in loops]
    joint = JointLoop(loops, [run.agent.program for run in runs])
    together = joint.advance(jax.tree.map(jnp.copy, states), 1)
    for loop, initial, (state, progress) in zip(loops, states, together, strict=True):
        alone, expected = loop.advance(initial, 1)
        for a, b in zip(leaves(state.actors), leaves(alone.actors), strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(leaves(state.agent), leaves(alone.agent), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
        assert isinstance(expected.metrics, dict)
        assert expected.metrics.keys() == set(progress.metrics)
        for name, values in expected.metrics.items():
            np.testing.assert_allclose(progress.metrics[name][:, :1], values[:, :1], rtol=1e-4)
        assert (progress.updates, progress.scores, progress.games) == (
            expected.updates,
            expected.scores,
            expected.games,
        )


def test_only_agents_of_one_program_are_updated_together():
    programs = [agent.program for agent in AGENTS]
    assert programs[2] == programs[3]
    assert len(set(programs)) == 3


@dataclass(frozen=True)
class OwnQuestions(QuestionSettings):
    """A task that is made in its own way: its settings may be compiled into it."""

    name: ClassVar[str] = "own-questions"
    width: int = 8

    def make_network(self, spec, seed):
        return random_network(["reward"], spec.actions, depth=1, repeat=1, seed=seed)

    def make(self, spec, seed, hidden, network=None):
        made = super().make(spec, seed, hidden, network)
        return AnswersTask(made.questions, self.width)


@pytest.mark.parametrize(
    ("one", "other"), [(CURLSettings(margin=2), CURLSettings(margin=4)), (OwnQuestions(8), OwnQuestions(16))]
)
def test_settings_that_agents_may_not_carry_as_arrays_belong_to_the_program(monkeypatch, one, other):
    monkeypatch.setitem(TASKS, OwnQuestions.name, OwnQuestions)
    assert AgentConfig(one).program != AgentConfig(other).program
    assert AgentConfig(one).program == AgentConfig(one, learning_rate=1e-2).program


@pytest.mark.slow
def test_runs_together_stop_and_resume_as_they_would_alone(stacked, tmp_path):
    """The program is another one when one of them is ahead. Checkpoints have no padding."""
    runs = {tmp_path / str(i): run_of(agent) for i, agent in enumerate(AGENTS[2:])}
    assert not train_together(runs, should_stop=stop_after(2))
    ahead = next(iter(runs))
    assert resume(ahead, runs[ahead], progress=False).frames == 400
    assert train_together(runs)
    whole = {tmp_path / f"whole{i}": run for i, run in enumerate(runs.values())}
    assert train_together(whole)
    for stopped, uninterrupted in zip(runs, whole, strict=True):
        agents = [rgvf.load(path, seed=1) for path in (stopped, uninterrupted)]
        assert agents[0].frames == agents[1].frames == 400
        for a, b in zip(*(leaves(agent.agent) for agent in agents), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-4)
        lines = [(path / "metrics.jsonl").read_text().splitlines() for path in (stopped, uninterrupted)]
        assert len(lines[0]) == len(lines[1]) == 2 * 4
        alone = loop_of(runs[stopped])
        arrays, _ = load_checkpoint(RunFolder(stopped).checkpoints()[0])
        expected = alone.save(start(alone))
        assert {name: a.shape for name, a in arrays.items()} == {name: a.shape for name, a in expected.items()}


@pytest.mark.slow
def test_on_a_cpu_runs_follow_each_other_bit_by_bit(tmp_path):
    runs = {tmp_path / str(i): run_of(agent) for i, agent in enumerate(AGENTS[:2])}
    reports = []

    class Recorder(Listener):
        def progress(self, frames, total, speed, lines):
            reports.append((frames, total, len(lines)))

    recorder = Recorder()
    assert train_together(runs, progress=recorder)
    assert reports[0][1:] == (400, 4)  # of two runs with two seeds each
    assert [frames for frames, *_ in reports] == [100, 200, 300, 400]
    folders = [folder for _, found, folder in (each.partition(", folder ") for each in recorder.messages) if found]
    assert folders == list(map(str, runs))
    for path, run in list(runs.items())[1:]:
        loop = loop_of(run)
        state = start(loop)
        for _ in range(20):
            state, _ = loop.advance(state, 1)
        trained = rgvf.load(path, seed=1).agent
        for a, b in zip(leaves(trained), leaves(state[1].agent), strict=True):
            np.testing.assert_array_equal(a, b)


def test_runs_that_cannot_share_a_program_are_refused(tmp_path):
    runs = {tmp_path / "a": run_of(AGENTS[0]), tmp_path / "b": run_of(AGENTS[0], actors=2)}
    with pytest.raises(ValueError, match="share a program only with the same env, actors, steps"):
        train_together(runs)
    games = {tmp_path / name: RunConfig("gym/rgvf/Catch-v0", AGENTS[0]) for name in "ab"}
    with pytest.raises(ValueError, match="does not run inside the compiled program"):
        train_together(games)
    wrong = AgentConfig(RandomQuestions(repeat=100_000))
    with pytest.raises(ValueError, match="predictions .* are more than 1,000,000"):
        train_together({tmp_path / "a": run_of(AGENTS[0]), tmp_path / "b": run_of(wrong)})
    assert not list(tmp_path.iterdir())


def test_a_folder_of_another_run_is_refused(tmp_path):
    run = run_of(AGENTS[0], frames=20)
    assert train_together({str(tmp_path / "a"): run})
    faster = dataclasses.replace(run, agent=dataclasses.replace(run.agent, learning_rate=0.1))
    with pytest.raises(ValueError, match=r"has learning_rate = 0.0007, not 0.1; it can only be made longer"):
        train_together({tmp_path / "a": faster})
    assert train_together({tmp_path / "a": dataclasses.replace(run, frames=40)})
    assert rgvf.load(tmp_path / "a").frames == 40


def test_a_single_run_may_have_its_games_on_the_host(tmp_path):
    """It is begun, and then resumed."""
    run = RunConfig("gym/CartPole-v1", AGENTS[0], frames=40, actors=2, steps=5, processes=1)
    assert not train_together({tmp_path / "run": run}, progress=False, should_stop=stop_after(1))
    listener = Listener()
    assert train_together({tmp_path / "run": run}, progress=listener)
    assert any(message.endswith("of 40 frames are done: resuming") for message in listener.messages)
    assert rgvf.load(tmp_path / "run").frames == 40


def test_a_stop_leaves_a_checkpoint_of_every_run(tmp_path):
    """Also of one that is ahead of those that are trained at the time."""
    runs = {tmp_path / "behind": run_of(AGENTS[0], checkpoint_every=400), tmp_path / "ahead": run_of(AGENTS[0])}
    ahead = tmp_path / "ahead"
    assert train(runs[ahead], ahead, progress=False, should_stop=stop_after(1)).frames < 400
    assert not train_together(runs, should_stop=stop_after(2))
    frames = {path.name: rgvf.load(path).frames for path in runs}
    lines = {path.name: len((path / "metrics.jsonl").read_text().splitlines()) for path in runs}
    assert all(count == 2 * (frames[name] // 100) for name, count in lines.items()), (frames, lines)


def test_ctrl_c_in_a_program_leaves_a_checkpoint(tmp_path):
    class Impatient(Listener):
        def progress(self, frames, total, speed, lines):
            if frames >= 200:
                signal.raise_signal(signal.SIGINT)

    run = run_of(AGENTS[0], checkpoint_every=400)
    with pytest.raises(KeyboardInterrupt):
        train(run, tmp_path / "run", progress=Impatient())
    assert rgvf.load(tmp_path / "run").frames == 200


def test_given_questions_are_part_of_the_configuration(tmp_path):
    networks = [random_network(["reward"], ["noop", "left", "right"], depth=d, repeat=1, seed=0) for d in (1, 2)]
    run, other = (run_of(AgentConfig(GivenQuestions.of(each), hidden=8), frames=20) for each in networks)
    assert train_together({tmp_path / "run": run})
    assert train_together({tmp_path / "run": dataclasses.replace(run, frames=40)})
    with pytest.raises(ValueError, match=r"another questions.network"):
        train_together({tmp_path / "run": dataclasses.replace(other, frames=40)})
