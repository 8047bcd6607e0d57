"""Runs whose losses or parameters are not finite stop with an error, and keep what was good."""

import json
import re

import jax.numpy as jnp
import numpy as np
import pytest

import rgvf
from rgvf.cli import main
from rgvf.runs import RunConfig, RunError, RunFolder
from rgvf.runs.checkpoint import load_checkpoint
from rgvf.tasks import ActorCriticSettings
from tests.runs.small_runs import AGENT

pytestmark = pytest.mark.medium


class Explodes:
    """One observation, and rewards that become infinite after some steps."""

    actions = ("stay",)
    observation_shape = (1,)

    def reset(self, key):
        del key
        return jnp.int32(0), jnp.ones(1)

    def step(self, state, action, key):
        del action, key
        reward = jnp.where(state > 30, jnp.inf, 1.0)
        return state + 1, rgvf.Step(jnp.ones(1), reward, jnp.bool_(False), jnp.bool_(False))


CONFIG = RunConfig(
    "own/Explodes", AGENT, frames=400, actors=2, steps=5, clip_rewards=0, log_every=10, checkpoint_every=20
)


def finite(path):
    arrays, _ = load_checkpoint(path)
    return all(
        np.isfinite(array).all() for name, array in arrays.items() if array.dtype.kind == "f" and "agent" in name
    )


@pytest.mark.parametrize("log_every", [10, 1000])
def test_a_loss_that_is_not_finite_stops_the_run_and_keeps_the_last_good_checkpoint(tmp_path, log_every):
    config = rgvf.RunConfig(**{**vars(CONFIG), "log_every": log_every})
    with pytest.raises(
        RunError, match=r"diverged by frame (70|80): a2c/policy_loss of seed 0 became -?(inf|nan)"
    ) as error:
        rgvf.train(config, tmp_path / "run", progress=False, environment=Explodes())
    assert "last good checkpoint" in str(error.value)
    checkpoints = RunFolder(tmp_path / "run").checkpoints()
    assert checkpoints
    assert all(map(finite, checkpoints))
    for line in (tmp_path / "run/metrics.jsonl").read_text().splitlines():
        json.loads(line, parse_constant=lambda constant: pytest.fail(constant))
    agent = rgvf.load(tmp_path / "run", environment=Explodes())
    assert np.isfinite(agent.predict(np.ones(1, np.float32))["value"])


def test_parameters_that_are_not_finite_are_never_saved(tmp_path):
    agent = rgvf.AgentConfig("a2c", actor_critic=ActorCriticSettings(), learning_rate=1e38, clip_norm=1e38, hidden=4)
    config = RunConfig("gym/CartPole-v1", agent, frames=2000, actors=2, steps=5, checkpoint_every=10, processes=1)
    with pytest.raises(RunError, match="diverged"):
        rgvf.train(config, tmp_path / "run", progress=False)
    assert all(map(finite, RunFolder(tmp_path / "run").checkpoints()))


def test_the_command_fails(capsys, tmp_path):
    size = ["--agent", "a2c", "--hidden", "4", "--actors", "2", "--steps", "5", "--frames", "2000", "--processes", "1"]
    rates = ["--learning-rate", "1e38", "--clip-norm", "1e38", "--checkpoint-every", "10"]
    assert main(["train", "--env", "gym/CartPole-v1", *size, *rates, "--out", str(tmp_path / "run")]) == 1
    printed = capsys.readouterr()
    assert "Done" not in printed.out
    assert re.match(
        r"rgvf: training diverged by frame \d+: \S+ .*; the last good checkpoint is ", printed.err.splitlines()[-1]
    )


def test_a_run_whose_checkpoints_are_gone_is_not_trained_again_silently(tmp_path):
    config = RunConfig("gym/CartPole-v1", AGENT, frames=400, actors=2, steps=5, log_every=50, processes=1)
    rgvf.train(config, tmp_path / "run", progress=False)
    before = (tmp_path / "run/metrics.jsonl").read_bytes()
    for checkpoint in (tmp_path / "run/checkpoints").iterdir():
        checkpoint.unlink()
    with pytest.raises(RunError, match="has metrics but no checkpoint"):
        rgvf.resume(tmp_path / "run", progress=False)
    assert (tmp_path / "run/metrics.jsonl").read_bytes() == before
