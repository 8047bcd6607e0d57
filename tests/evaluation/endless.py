"""Environments without an end of their own."""

import jax.numpy as jnp

from rgvf.environments import Step


class Endless:
    """Reward 1 for ever; the observation shows how many steps were taken before the last one."""

    actions = ("go", "stay")
    observation_shape = (2, 2, 1)

    def reset(self, key):
        return jnp.float32(0), jnp.zeros((2, 2, 1))

    def step(self, state, action, key):
        return state + 1, Step(jnp.full((2, 2, 1), state), jnp.float32(1), jnp.bool_(False), jnp.bool_(False))


class Truncated(Endless):
    """Each episode is truncated after six steps."""

    def step(self, state, action, key):
        state, step = super().step(state, action, key)
        return state, step._replace(truncated=state == 6)
