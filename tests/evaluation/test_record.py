import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.evaluation import evaluate, record
from rgvf.runs import RunConfig, load, train
from rgvf.tasks import ActorCriticSettings, MultiHorizonValues, RandomQuestions
from tests.evaluation.endless import Endless, Truncated

pytestmark = pytest.mark.medium


@pytest.mark.parametrize(("environment", "steps"), [(Endless(), 10), (Truncated(), 6)])
def test_returns_bootstrap_where_an_episode_is_truncated_or_the_recording_ends(tmp_path, environment, steps):
    """A discounted sum of rewards of 1 is known as far as they go; the rest is the agent's own value."""
    settings = ActorCriticSettings(discount=0.9)
    agent = AgentConfig(MultiHorizonValues(3), actor_critic=settings, hidden=8, representation="mlp")
    config = RunConfig("own/Endless", agent, frames=40, actors=4, steps=5)
    trained = train(config, tmp_path / "run", progress=False, environment=environment)
    recording = record(trained, steps=10)
    assert len(recording.value) == steps
    last = trained.predict(np.full((1, 2, 2, 1), steps - 1, np.float32))
    left = steps - np.arange(steps)
    expected = (1 - 0.9**left) / 0.1 + 0.9**left * float(last["value"][0])
    np.testing.assert_allclose(recording.true_return, expected, rtol=1e-4)
    discounts = np.array([1 - 1 / h for h in (1, 100 / 3, 200 / 3)])
    powers = discounts ** left[:, None]
    expected = (1 - powers) / (1 - discounts) + powers * np.asarray(last["answers"]["mhvp"])
    np.testing.assert_allclose(recording.true_answers["mhvp"], expected, rtol=1e-3)


def test_a_trained_agent_is_loaded_evaluated_and_recorded(tmp_path):
    agent = AgentConfig(RandomQuestions(depth=2, repeat=2), hidden=8)
    config = RunConfig("minatar/Breakout", agent, seeds=2, frames=40, actors=4, steps=5)
    train(config, tmp_path / "run", progress=False)
    trained = load(tmp_path / "run", seed=1)
    assert trained.frames == 40
    scores = evaluate(trained, games=5)
    assert scores.shape == (5,)
    assert (scores >= 0).all()
    recording = record(trained, steps=30)
    assert recording.screens[0].shape == (160, 160, 3)
    assert (
        repr(recording) == f"<recording, {len(recording.value)} steps, return {recording.reward.sum():g}>"
    )  # a notebook shows it
    answers, true_answers = recording.answers["rgvf"], recording.true_answers["rgvf"]
    assert answers.shape == true_answers.shape
    # What the answer would have been is not known where the action of its question was not taken.
    conditions = np.array([-1 if c is None else c for c in trained.networks["rgvf"].conditions])
    unconditioned = conditions == -1
    assert np.isfinite(true_answers[:, unconditioned]).all()
    assert np.isnan(true_answers[~unconditioned & (conditions != recording.action[:, None])]).all()
    assert np.isfinite(recording.true_return).all()
