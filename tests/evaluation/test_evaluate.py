from importlib import import_module

import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.evaluation import evaluate
from rgvf.runs import RunConfig, train
from tests.evaluation.endless import Endless

pytestmark = pytest.mark.medium

module = import_module("rgvf.evaluation.evaluate")  # not the function
A2C = AgentConfig("a2c", hidden=8, representation="mlp")


@pytest.fixture(scope="module")
def cartpole(tmp_path_factory):
    config = RunConfig("gym/CartPole-v1", A2C, frames=20, actors=4, steps=5, processes=1)
    return train(config, tmp_path_factory.mktemp("run"), progress=False)


def test_an_environment_that_never_ends_is_truncated(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "MAX_STEPS", 30)
    config = RunConfig("own/Endless", A2C, frames=40, actors=4, steps=5)
    agent = train(config, tmp_path / "run", progress=False, environment=Endless())
    np.testing.assert_array_equal(evaluate(agent, games=20), np.full(20, 30.0))
    with pytest.raises(ValueError, match="actions cannot be sticky in own/Endless"):
        evaluate(agent, games=1, sticky=0.5)


def test_a_game_on_the_host_that_does_not_end_is_refused(cartpole, monkeypatch):
    monkeypatch.setattr(module, "MAX_STEPS", 3)
    with pytest.raises(ValueError, match="a game of gym/CartPole-v1 has not ended after 3 steps"):
        evaluate(cartpole, games=2, processes=1)


def test_the_seed_decides_the_games_wherever_they_run(cartpole):
    scores = evaluate(cartpole, games=5, processes=1)
    assert scores.shape == (5,)
    assert (scores >= 8).all()  # a pole does not fall sooner
    np.testing.assert_array_equal(evaluate(cartpole, games=5, processes=2), scores)
    assert not np.array_equal(evaluate(cartpole, games=5, processes=1, seed=1), scores)
    assert not np.array_equal(evaluate(cartpole, games=5, processes=1, greedy=True), scores)


def test_every_environment_plays_as_many_games(cartpole, monkeypatch):
    """Seven games in three environments: three in the first, two in the others."""
    monkeypatch.setattr(module, "MAX_GAMES_AT_ONCE", 3)
    scores = evaluate(cartpole, games=7, processes=1)
    assert scores.shape == (7,)
    # With more games wanted, the first ones of each environment are the same.
    more = evaluate(cartpole, games=9, processes=1)
    np.testing.assert_array_equal(np.delete(more, [5, 8]), scores)
