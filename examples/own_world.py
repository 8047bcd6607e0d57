"""Train an agent in a world of your own, written in JAX: it runs inside the compiled program."""

import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp

import rgvf
from rgvf.environments.protocol import Step
from rgvf.training.play import evaluate


class Walk:
    """Ten cells in a row. Going right from the last gives 5 and ends the episode."""

    actions: tuple[str, ...] = ("left", "right")
    observation_shape: tuple[int, ...] = (10,)

    def reset(self, key):
        return jnp.int32(0), jax.nn.one_hot(0, 10)  # the state, and what the agent sees of it

    def step(self, state, action, key):
        cell = jnp.maximum(state + 2 * action - 1, 0)
        done = cell == 10
        return cell, Step(jax.nn.one_hot(cell, 10), reward=5.0 * done, terminal=done, truncated=jnp.bool_(False))


agent = rgvf.AgentConfig("rgvf", depth=2, repeat=2, hidden=16, learning_rate=0.01)
run = Path(tempfile.mkdtemp()) / "walk"
rgvf.train(rgvf.RunConfig("own/Walk", agent, frames=20_000), run, environment=Walk())
trained = rgvf.load(run, environment=Walk())
print("Return of ten games:", evaluate(trained, games=10).mean())
