"""Several runs in one compiled program."""

import dataclasses
import signal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.agents import TASKS, AgentConfig
from rgvf.questions import random_network
from rgvf.training import fleet, packs
from rgvf.training.config import RunConfig
from rgvf.training.fleet import Fleet
from rgvf.training.run import make_loop, resume, train, train_together
from tests.training.test_run import Quiet, stop_after

PADDED = AgentConfig(
    "rgvf", stop_gradient=True, hidden=8, features=4, depth=1, repeat=2, pad_predictions=64, pad_features=9
)
AGENTS = (
    AgentConfig("a2c", hidden=8),
    AgentConfig("a2c", hidden=8, entropy=0.5),  # arrays of the same shapes, but another program
    PADDED,
    dataclasses.replace(PADDED, depth=5, repeat=3, features=7, learning_rate=2e-3, c=(0.5,), question_discount=0.5),
)


def run_of(agent, seeds=2, **settings):
    fields = {"frames": 400, "actors": 4, "steps": 5, "log_every": 100, "checkpoint_every": 200, **settings}
    return RunConfig("minatar/Breakout", agent, seeds=seeds, **fields)


@pytest.fixture
def stacked(monkeypatch):
    """Seeds as an axis of the arrays, as on a GPU."""
    for module in (packs, fleet):
        monkeypatch.setattr(module, "seeds_are_listed", lambda: False)


def started(config):
    loop = make_loop(config)
    return loop, loop.start(range(config.seeds))


def leaves(state):
    return [leaf for leaf in jax.tree.leaves(state) if not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)]


def test_an_agent_among_others_is_what_it_is_alone(stacked):
    runs = [run_of(agent, seeds) for agent, seeds in zip(AGENTS, (2, 1, 1, 2), strict=True)]
    loops, states = zip(*map(started, runs), strict=True)
    many = Fleet(loops, [run.agent.program for run in runs])
    together = many.advance(states, 1)
    for run, (state, progress) in zip(runs, together, strict=True):
        loop, fresh = started(run)
        alone, told = loop.advance(fresh, 1)
        for a, b in zip(leaves(state.actors), leaves(alone.actors), strict=True):
            np.testing.assert_array_equal(a, b)
        for a, b in zip(leaves(state.agent), leaves(alone.agent), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-5)
        assert isinstance(progress.losses, dict)
        assert isinstance(told.losses, dict)
        assert progress.losses.keys() == told.losses.keys()
        for name, values in told.losses.items():
            np.testing.assert_allclose(progress.losses[name][:, :1], values[:, :1], rtol=1e-4)
        assert (progress.updates, progress.scores, progress.games) == (told.updates, told.scores, told.games)


def test_only_agents_of_one_program_learn_side_by_side():
    programs = [agent.program for agent in AGENTS]
    assert programs[2] == programs[3]
    assert len(set(programs)) == 3


def test_a_task_of_one_s_own_may_look_at_the_questions_when_it_is_compiled(monkeypatch):
    monkeypatch.setitem(TASKS, "mine", TASKS["curl"])
    one, other = (AgentConfig("mine", question_discount=discount) for discount in (0.5, 0.9))
    assert one.program != other.program
    assert one.program == dataclasses.replace(one, learning_rate=1e-2).program


def test_runs_together_stop_and_go_on_as_they_would_alone(stacked, tmp_path):
    """The program is another one when one of them has got ahead."""
    runs = {tmp_path / str(i): run_of(agent) for i, agent in enumerate(AGENTS[2:])}
    assert not train_together(runs, [Quiet()] * 2, stop_after(2))
    ahead = next(iter(runs))
    assert resume(ahead, runs[ahead], Quiet(), lambda: False)
    assert train_together(runs, [Quiet()] * 2, lambda: False)
    whole = {tmp_path / f"whole{i}": run for i, run in enumerate(runs.values())}
    assert train_together(whole, [Quiet()] * 2, lambda: False)
    for cut, uncut in zip(runs, whole, strict=True):
        agents = [rgvf.load(path, seed=1) for path in (cut, uncut)]
        assert agents[0].frames == agents[1].frames == 400
        for a, b in zip(*(leaves(agent.agent) for agent in agents), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-4)
        lines = [(path / "metrics.jsonl").read_text().splitlines() for path in (cut, uncut)]
        assert len(lines[0]) == len(lines[1]) == 2 * 4


def test_on_a_cpu_runs_follow_each_other_bit_by_bit(tmp_path):
    runs = {tmp_path / str(i): run_of(agent) for i, agent in enumerate(AGENTS[:2])}
    assert train_together(runs, [Quiet()] * 2, lambda: False)
    for path, run in list(runs.items())[1:]:
        loop, state = started(run)
        for _ in range(20):
            state, _ = loop.advance(state, 1)
        trained = rgvf.load(path, seed=1).agent
        for a, b in zip(leaves(trained), leaves(state[1].agent), strict=True):
            np.testing.assert_array_equal(a, b)


def test_runs_that_cannot_share_a_program_are_refused(tmp_path):
    runs = {tmp_path / "a": run_of(AGENTS[0]), tmp_path / "b": run_of(AGENTS[0], actors=2)}
    with pytest.raises(ValueError, match="share a program only in one environment"):
        train_together(runs)
    games = {tmp_path / name: RunConfig("gym/rgvf/Catch-v0", AGENTS[0]) for name in "ab"}
    with pytest.raises(ValueError, match="does not run inside the compiled program"):
        train_together(games)
    wrong = dataclasses.replace(PADDED, pad_predictions=3)
    with pytest.raises(ValueError, match="pad_predictions must be at least"):
        train_together({tmp_path / "a": run_of(AGENTS[0]), tmp_path / "b": run_of(wrong)})
    assert not list(tmp_path.iterdir())


def test_another_run_is_not_gone_on_with(tmp_path):
    run = run_of(AGENTS[0], frames=20)
    assert train_together({str(tmp_path / "a"): run})
    faster = dataclasses.replace(run, agent=dataclasses.replace(run.agent, learning_rate=0.1))
    with pytest.raises(ValueError, match=r"has learning_rate = 0.0007, not 0.1; only more frames"):
        train_together({tmp_path / "a": faster})
    assert train_together({tmp_path / "a": dataclasses.replace(run, frames=40)})
    assert rgvf.load(tmp_path / "a").frames == 40


def test_a_stop_leaves_a_checkpoint_of_every_run(tmp_path):
    """Also of one that has played and is ahead of those that play now."""
    runs = {tmp_path / "behind": run_of(AGENTS[0], checkpoint_every=400), tmp_path / "ahead": run_of(AGENTS[0])}
    ahead = tmp_path / "ahead"
    assert not train(runs[ahead], ahead, Quiet(), stop_after(1))
    assert not train_together(runs, should_stop=stop_after(2))
    frames = {path.name: rgvf.load(path).frames for path in runs}
    lines = {path.name: len((path / "metrics.jsonl").read_text().splitlines()) for path in runs}
    assert all(count == 2 * (frames[name] // 100) for name, count in lines.items()), (frames, lines)


def test_ctrl_c_in_a_program_of_one_s_own_leaves_a_checkpoint(tmp_path):
    class Impatient(Quiet):
        def progress(self, frames, total, speed, lines):
            if frames >= 200:
                signal.raise_signal(signal.SIGINT)

    run = run_of(AGENTS[0], checkpoint_every=400)
    with pytest.raises(KeyboardInterrupt):
        train(run, tmp_path / "run", Impatient())
    assert rgvf.load(tmp_path / "run").frames == 200


def test_questions_of_one_s_own_are_known_again(tmp_path):
    asked = random_network(["reward"], ["noop", "left", "right"], depth=1, repeat=1, seed=0).save(
        tmp_path / "asked.json"
    )
    run = run_of(AgentConfig("rgvf", hidden=8, questions=str(asked)), frames=20)
    assert train_together({tmp_path / "run": run})
    assert train_together({tmp_path / "run": dataclasses.replace(run, frames=40)})
    random_network(["reward"], ["noop", "left", "right"], depth=2, repeat=1, seed=0).save(tmp_path / "asked.json")
    with pytest.raises(ValueError, match=r"questions = .*given.json, not"):
        train_together({tmp_path / "run": run})
