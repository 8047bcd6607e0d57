import shutil
from typing import Any

import jax
import numpy as np
import pytest

from rgvf.agents import AgentConfig
from rgvf.runs import RunConfig, RunError, load, train
from rgvf.tasks import MultiHorizonValues, RandomQuestions

pytestmark = pytest.mark.medium


@pytest.fixture(scope="module")
def breakout(tmp_path_factory):
    """The folder of a run of two updates."""
    path = tmp_path_factory.mktemp("runs") / "breakout"
    tasks = [RandomQuestions(depth=2, repeat=2), MultiHorizonValues()]
    config = RunConfig("atari/Breakout", AgentConfig(tasks, hidden=8), frames=160, actors=4, steps=5, processes=2)
    train(config, path, progress=False)
    return path


def test_a_loaded_agent_acts_represents_and_answers(breakout):
    agent = load(breakout)
    assert agent.frames == 160
    observation = np.random.default_rng(0).integers(0, 256, size=(3, 2, 84, 84, 4), dtype=np.uint8)
    predicted = agent.predict(observation)
    np.testing.assert_allclose(predicted["policy"].sum(-1), 1, rtol=1e-5)
    assert agent.represent(observation).shape == (3, 2, 3136)
    assert agent.answer(observation, "rgvf").shape == (3, 2, agent.networks["rgvf"].n_predictions)
    np.testing.assert_array_equal(agent.answer(observation, "mhvp"), predicted["answers"]["mhvp"])
    np.testing.assert_array_equal(agent.act(observation), predicted["policy"].argmax(-1))
    assert np.shape(agent.act(observation, jax.random.key(0))) == (3, 2)
    one = agent.act(observation[0, 0])
    assert type(one) is int  # what Gymnasium's `env.step` takes
    assert isinstance(agent.act(observation), np.ndarray)
    assert repr(agent) == "<rgvf+mhvp, atari/Breakout, seed 0, 160 frames>"


@pytest.mark.unchecked_types
def test_wrong_use_is_explained(breakout):
    agent = load(breakout)
    observation = np.zeros((84, 84, 4), np.uint8)
    with pytest.raises(ValueError, match="must be bytes"):
        agent.act(observation.astype(np.int64))
    with pytest.raises(ValueError, match=r"must end in axes of \(84, 84, 4\), not \(84, 84\)"):
        agent.act(observation[..., 0])
    with pytest.raises(ValueError, match="which answers. pass task=, one of: 'rgvf', 'mhvp'"):
        agent.answer(observation)
    keys: list[tuple[Any, str]] = [(3, "3")]
    keys += [(np.zeros((2, 2), np.uint32), r"uint32\[2, 2\]"), (jax.random.key(0)[None], r"key<")]
    for key, given in keys:
        with pytest.raises(TypeError, match=f"key must be one random key, such as jax.random.key.0., not {given}"):
            agent.act(observation, key)
    assert agent.act(observation, jax.random.PRNGKey(0)) == agent.act(observation, jax.random.key(0))
    assert "questions" not in agent.networks
    with pytest.raises(KeyError, match="no question network of a task 'questions'; it has 'rgvf', 'mhvp'"):
        agent.networks["questions"]
    with pytest.raises(RunError, match="has seed 0 only, not 5"):
        load(breakout, seed=5)
    with pytest.raises(RunError, match="holds no run: there is no such folder"):
        load(breakout / "nothing")
    with pytest.raises(RunError, match="checkpoints holds no run: it has no config.json"):
        load(breakout / "checkpoints")


def test_an_older_checkpoint_is_not_loaded_silently(breakout, tmp_path):
    copy = shutil.copytree(breakout, tmp_path / "copy")
    newest = sorted((copy / "checkpoints").iterdir())[-1]
    newest.write_bytes(newest.read_bytes()[:-9])
    with pytest.warns(UserWarning, match="is damaged.*; loading the one before it"):
        assert load(copy).frames < load(breakout).frames
