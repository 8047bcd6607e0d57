"""Train an agent in your own environment, written in JAX: it runs inside the compiled program."""

import tempfile

import jax
import jax.numpy as jnp

import rgvf


class Walk:
    """Ten cells in a row. Going right from the last one gives 5 and ends the episode."""

    actions: tuple[str, ...] = ("left", "right")
    observation_shape: tuple[int, ...] = (10,)

    def reset(self, key):
        """The state, and what the agent sees of it."""
        return jnp.int32(0), jax.nn.one_hot(0, 10)

    def step(self, state, action, key):
        """The next state, and what the step gave. Whoever calls it resets the environment after an episode."""
        cell = jnp.maximum(state + 2 * action - 1, 0)
        done = cell == 10
        return cell, rgvf.Step(jax.nn.one_hot(cell, 10), reward=5.0 * done, terminal=done, truncated=jnp.bool_(False))


config = rgvf.preset(Walk(), rgvf.tasks.RandomQuestions(depth=2, repeat=2), frames=20_000, hidden=16)
trained = rgvf.train(config, tempfile.mkdtemp(), environment=Walk())
print("Mean return of ten games:", rgvf.evaluate(trained, games=10).mean())
