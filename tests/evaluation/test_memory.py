"""A trained agent with memory: step by step, in whole games, and in a recording."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import REPRESENTATION, AgentConfig, predict
from rgvf.analysis.film import Curve, Film, write_film
from rgvf.evaluation import evaluate, record
from rgvf.loops import start
from rgvf.runs import RunConfig, TrainedAgent, load, train
from rgvf.tasks import RandomQuestions, View
from rgvf.trajectory import Past, Percept
from tests.helpers import loop_of

pytestmark = pytest.mark.medium

AGENT = AgentConfig(RandomQuestions(depth=2, repeat=2, features=2), hidden=8, representation="gru", memory=6)
CUE = RunConfig("cue/2", AGENT, frames=120, actors=4, steps=10, clip_rewards=0.5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "cue"
    train(CUE, path, progress=False)
    return path


@pytest.fixture
def agent(folder):
    return load(folder)


def test_step_by_step_it_has_the_states_of_training(agent):
    loop = loop_of(CUE)
    state = start(loop)[0]._replace(agent=agent.agent)
    _, trajectory, _ = loop.rollout(state.agent, state.actors, jax.random.key(3))
    assert np.asarray(trajectory.first[1:]).any()
    unclipped = np.concatenate([np.zeros((1, 4)), trajectory.reward])
    assert np.abs(unclipped).max() == 1
    learned_from = trajectory._replace(reward=CUE.rewards(trajectory.reward))
    expected = View.of(learned_from, agent.agent.modules[REPRESENTATION]).states
    past = agent.begin(4)
    for t, observation in enumerate(np.asarray(trajectory.observation)):
        past, predicted = agent.observe(past, observation, reward=unclipped[t], first=np.asarray(trajectory.first[t]))
        np.testing.assert_allclose(predicted["state"], expected[t], atol=1e-6)
        if t < len(trajectory.action):
            past = past.acted(np.asarray(trajectory.action[t]))


def test_a_past_is_shown_on_a_short_line(agent):
    assert repr(agent.begin()) == "<past, 1 game, memory of 6 numbers>"
    assert repr(agent.begin(4)) == "<past, 4 games, memory of 6 numbers each>"
    assert repr(Past()) == "<past, no memory>"
    shown = []
    jax.jit(lambda past: shown.append(repr(past)))(agent.begin(2))
    assert shown == ["<past, 2 games, memory of 6 numbers each>"]  # also while it is compiled


def test_a_compiled_scan_of_the_pure_function_is_the_same(agent):
    rng = np.random.default_rng(0)
    observations = rng.normal(size=(6, 4, 3)).astype(np.float32)
    rewards = rng.normal(size=(6, 4)).astype(np.float32)
    firsts = rng.random((6, 4)) < 0.3
    firsts[0] = True

    @jax.jit
    def play(learned, past, observations, rewards, firsts):
        def step(past, seen):
            observation, reward, first = seen
            past = past._replace(last_reward=reward)
            memory, predicted = predict(learned, past.memory, past.percept(observation, first))
            return past.after(memory, predicted["logits"].argmax(-1), reward), predicted

        return jax.lax.scan(step, past, (observations, rewards, firsts))[1]

    together = play(agent.agent, agent.begin(4), observations, CUE.rewards(rewards), firsts)
    past = agent.begin(4)
    for t, observation in enumerate(observations):
        after, predicted = agent.observe(past, observation, reward=rewards[t], first=firsts[t])
        past, _ = agent.step(past, observation, reward=rewards[t], first=firsts[t])
        np.testing.assert_array_equal(after.memory, past.memory)
        at_t = jax.tree.map(lambda x, t=t: x[t], together)
        jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, atol=1e-5), at_t, predicted)


def test_one_game_and_several(agent):
    observations = np.random.default_rng(0).normal(size=(5, 2, 3)).astype(np.float32)
    together, single = agent.begin(2), agent.begin()
    for t, observation in enumerate(observations):
        rewards = np.array([0.5, -0.25]) * t
        together, actions = agent.step(together, observation, reward=rewards)
        single, action = agent.step(single, observation[1], reward=rewards[1])
        assert isinstance(actions, np.ndarray)
        assert type(action) is int
        assert actions[1] == action
        np.testing.assert_allclose(together.memory[1:], single.memory, atol=1e-6)
    again, _ = agent.step(single, observations[0, 1], first=True)
    fresh, _ = agent.step(agent.begin(), observations[0, 1])
    np.testing.assert_allclose(again.memory, fresh.memory, atol=1e-6)
    drawn = {agent.step(single, observations[0, 1], reward=0.0, key=jax.random.key(i))[1] for i in range(30)}
    assert drawn == {0, 1}


def test_a_reward_from_before_the_first_observation_is_forgotten(agent):
    """That of the game before, which a program may still hold."""
    observations, rewards = np.eye(3, dtype=np.float32)[:2], np.array([1.0, -1.0])
    past, expected = agent.observe(agent.begin(2), observations)
    for first in (False, True):
        after, predicted = agent.observe(agent.begin(2), observations, reward=rewards, first=first)
        np.testing.assert_array_equal(predicted["value"], expected["value"])
        np.testing.assert_array_equal(after.memory, past.memory)
    _, later = agent.observe(past.acted(np.array([1, 0])), observations, reward=rewards)
    _, again = agent.observe(past.acted(np.array([1, 0])), observations, first=True)
    assert not np.allclose(later["value"], expected["value"], atol=1e-4)
    np.testing.assert_array_equal(again["value"], expected["value"])
    _, unacted = agent.observe(past, observations, first=True)
    np.testing.assert_array_equal(unacted["value"], expected["value"])


@pytest.mark.unchecked_types
def test_wrong_use_is_explained(agent):
    observation = np.zeros(3, np.float32)
    for method in (agent.predict, agent.act, agent.represent, agent.answer):
        with pytest.raises(ValueError, match=r"has memory, so one observation is not enough: past = agent.begin\(\)"):
            method(observation)
    for past, games, message in (
        (agent.begin(2), (), r"the past is of 2 games, the observations are of 1: begin\(1\) is for 1 game$"),
        (agent.begin(), (16,), r"the past is of 1 game, the .* of 16: begin\(16\) is for 16 games side by side$"),
        (agent.begin(2), (2, 4), r"2 games, so observations have one leading axis of 2, not axes of \(2, 4\)"),
        (agent.begin(), (0,), r"1 game, so observations have one leading axis of 1, not axes of \(0,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            agent.step(past, np.zeros((*games, 3), np.float32))
    with pytest.raises(ValueError, match=r"must end in axes of \(3,\)"):
        agent.step(agent.begin(), np.zeros(4, np.float32))
    past, _ = agent.step(agent.begin(), observation)
    with pytest.raises(ValueError, match="this agent remembers rewards: pass reward="):
        agent.step(past, observation)
    with pytest.raises(ValueError, match="rewards must be finite, not nan"):
        agent.step(past, observation, reward=np.nan)
    seen, _ = agent.observe(past, observation, reward=0.0)
    with pytest.raises(ValueError, match=r"has not acted since it last observed: past = past.acted\(action\)"):
        agent.observe(seen, observation, reward=0.0)
    with pytest.raises(TypeError, match=r"axes of \(3,\), .*, not of type dict; .* must be flattened"):
        agent.step(agent.begin(), {"cue": observation})
    with pytest.raises(ValueError, match="observations must be finite"):
        agent.step(agent.begin(), np.array([0, np.nan, 0], np.float32))
    with pytest.raises(ValueError, match=r"the last action was \[9\]; there are \d, from 0 on"):
        agent.step(past.acted(9), observation, reward=0.0)
    for action in (-1, -2):
        with pytest.raises(ValueError, match=f"the first action is 0; there is no action {action}"):
            past.acted(action)
    for action in (0.7, "left", None, [[0], [1, 0]]):
        with pytest.raises(TypeError, match=f"a whole number, not {re.escape(repr(action))}"):
            past.acted(action)
    with pytest.raises(ValueError, match="pass as many actions as the past has games: 2, not 1"):
        agent.begin(2).acted(0)
    assert past.acted(1).acted(0).last_action == past.acted(0).last_action  # the last call counts
    assert jax.jit(lambda past, action: past.acted(action))(past, 1).last_action == 1
    for wrong in ({"reward": [0.0, 1.0]}, {"reward": 0.0, "first": "no"}, {"reward": 0.0, "first": [True, False]}):
        with pytest.raises(ValueError, match=r"must be one number, or one for each of 1 games, not "):
            agent.step(past, observation, **wrong)
    for games in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="games must be a whole number of at least 1"):
            agent.begin(games)
    assert agent.begin(np.int64(4)).memory.shape == agent.begin(4).memory.shape
    with pytest.raises(ValueError, match="reward must be one number, or one for each of 1 games, not 'x'"):
        agent.step(past, observation, reward="x")
    for wrong in (None, observation):
        with pytest.raises(
            TypeError, match="first comes the past, as `begin` or the last `step` gave it, not an object"
        ):
            agent.step(wrong, observation)
    alone = Percept(jnp.zeros((1, 3)), jnp.ones(1, bool))
    with pytest.raises(ValueError, match=r"this agent has memory, so it needs its past: past = trained.begin\(B\)"):
        predict(agent.agent, (), alone)
    with pytest.raises(TypeError, match="not a TrainedAgent: pass its `agent`"):
        predict(agent, (), alone)
    with pytest.raises(ValueError, match=r"this agent has memory, so it needs its past"):  # the reward is not in it yet
        predict(agent.agent, past.memory, past.percept(jnp.zeros((1, 3)), jnp.zeros(1, bool)))


def test_an_agent_without_memory_can_be_used_the_same_way(tmp_path):
    config = RunConfig("cue/2", AgentConfig("a2c", hidden=8), frames=40, actors=4, steps=5)
    agent = train(config, tmp_path / "run", progress=False)
    observations = np.eye(3, dtype=np.float32)
    past, actions = agent.step(agent.begin(3), observations, key=jax.random.key(0))
    np.testing.assert_array_equal(actions, agent.act(observations, jax.random.key(0)))
    _, one = agent.step(past, observations[0])
    assert one == agent.act(observations[0])


def test_memory_starts_anew_with_each_game_that_is_evaluated(agent, monkeypatch):
    seen = []
    observe = TrainedAgent.observe

    def spy(self, memory, observation, *, reward, first):
        after, predicted = observe(self, memory, observation, reward=reward, first=first)
        seen.append((np.array(observation), np.array(first), np.asarray(predicted["state"])))
        return after, predicted

    monkeypatch.setattr(TrainedAgent, "observe", spy)
    scores = evaluate(agent, games=40)
    monkeypatch.undo()
    assert set(scores) <= {-1.0, 1.0}
    begun = np.array([first for _, first, _ in seen])
    assert (begun.sum(0) >= 2).all()
    for observation, first, state in seen:
        expected = agent.observe(agent.begin(len(first)), observation)[1]["state"]
        same = np.abs(state - expected).max(-1) < 1e-6
        np.testing.assert_array_equal(same, first)


def test_a_recording_has_the_predictions_of_the_agent_that_remembers(agent, tmp_path):
    game = record(agent, steps=10, seed=1, save=True)
    assert len(game.value) == 4
    past = agent.begin()
    for t, saved in enumerate(game.saved):
        for a, b in zip(jax.tree.leaves(saved.past.memory), jax.tree.leaves(past.memory), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-6)
        reward = 0.0 if t == 0 else game.reward[t - 1]
        past, predicted = agent.observe(past, saved.observation, reward=reward, first=t == 0)
        np.testing.assert_allclose(predicted["value"], game.value[t], atol=1e-6)
        np.testing.assert_allclose(predicted["answers"]["rgvf"], game.answers["rgvf"][t], atol=1e-6)
        past = past.acted(game.action[t])
    curves = [Curve("value", game.value, game.true_return)]
    film = Film("cue", game.screens, game.policy, agent.spec.actions, game.action, game.reward, curves, [])
    assert write_film(tmp_path / "film.gif", film).stat().st_size > 0
