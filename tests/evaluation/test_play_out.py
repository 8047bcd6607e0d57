"""Answers that are played out, against exact answers and games that are restored by hand."""

import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.environments import GridWorld, make_game
from rgvf.evaluation import play_out, record
from rgvf.evaluation.play_out import sample
from rgvf.questions import QuestionNetwork, exact_answers
from rgvf.runs import RunConfig, train
from rgvf.tasks import GivenQuestions, RandomQuestions
from rgvf.trajectory import Transition

pytestmark = pytest.mark.medium


def agent_of(network, env, folder, **options):
    config = RunConfig(env, AgentConfig(GivenQuestions.of(network), hidden=8), frames=40, actors=4, steps=5)
    return train(config, folder / "run", progress=False, **options)


def test_played_out_answers_are_the_exact_ones(tmp_path):
    room = GridWorld(size=3)
    network = QuestionNetwork(
        ["reward", "constant"],
        {"sum": None, "up": "up", "right, up": "right", "both": None},
        [
            ("sum", "reward"),
            ("sum", "sum", 0.5),
            ("up", "reward", 2.0),
            ("up", "sum"),
            ("right, up", "up"),
            ("right, up", "constant", 0.3),
            ("both", "up"),
            ("both", "right, up", -1.0),
        ],
        room.actions,
    )
    agent = agent_of(network, "own/Grid", tmp_path, environment=room)
    game = record(agent, steps=12, greedy=True, save=True)
    found = play_out(agent, game.saved, "questions", range(4), samples=1, greedy=True)
    policy = np.eye(4)[np.asarray(agent.act(room.views))]
    cells = [int(np.argmax((room.views == saved.observation).all((1, 2, 3)))) for saved in game.saved]
    answers = exact_answers(network, room.mdp(), policy)[cells]
    assert [saved.step for saved in game.saved] == list(range(12))
    # Once the rest counts for 2% it is the agent's own answer, which is about 0: it has learned nothing yet.
    np.testing.assert_allclose(found, answers, atol=0.06)


@pytest.mark.parametrize("representation", ["auto", pytest.param("gru", marks=pytest.mark.slow)])
def test_on_the_host_they_are_those_of_a_game_that_is_restored_by_hand(tmp_path, representation):
    questions = AgentConfig(RandomQuestions(depth=2, repeat=2), hidden=8, representation=representation)
    config = RunConfig("gym/rgvf/Catch-v0", questions, frames=40, actors=2, steps=5, processes=1)
    agent = train(config, tmp_path / "run", progress=False)
    network = agent.networks["rgvf"]
    game = record(agent, steps=4, save=True)
    rng = np.random.default_rng(0)
    nodes = rng.choice(np.arange(network.n_features, network.n_predictions), 4, replace=False).tolist()
    found = play_out(agent, game.saved, "rgvf", nodes, samples=2, greedy=True)
    features = agent.agent.task_states["rgvf"].features
    by_hand = make_game(config.env, 7)

    def answer(node, steps, past):
        """The target of the node, with what follows in place of a prediction; greedy, so one future is all."""
        step = by_hand.current()
        if steps == 0 or step.terminal:
            return 0.0
        condition = network.conditions[node]
        past, chosen = agent.step(past, step.observation, reward=step.reward, first=step.first)
        action = chosen if condition is None else condition
        after = by_hand.step(int(action))
        pair = (x.observation[None] for x in (step, after))
        before, following = map(jnp.asarray, pair)
        f = np.asarray(features(Transition(before, jnp.array([action]), jnp.array([after.reward]), following)))[0]
        total = network.dense[node, network.n_predictions :] @ f
        for child in np.flatnonzero(network.dense[node, : network.n_predictions]):  # one at most
            total += network.dense[node, child] * answer(child, steps - 1, past.acted(action))
        return total

    past = agent.begin()
    for row, saved in enumerate(game.saved):
        for column, node in enumerate(nodes):
            by_hand.restore(saved.state)
            np.testing.assert_allclose(found[row, column], answer(node, 90, past), rtol=0.05, atol=0.05)
        by_hand.restore(saved.state)
        step = by_hand.current()
        past, _ = agent.step(past, step.observation, reward=step.reward, first=step.first)
        past = past.acted(game.action[row])


def test_actions_are_drawn_from_the_policy():
    policy = np.tile(np.array([0.2, 0.0, 0.5, 0.3], np.float32), (20_000, 1))
    counts = np.bincount(sample(policy, np.random.default_rng(0)), minlength=4) / len(policy)
    np.testing.assert_allclose(counts, policy[0], atol=0.015)
    assert set(sample(policy, None)) == {2}
