"""An environment that runs inside a compiled program: pure functions of its state."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

State = Any


class Step(NamedTuple):
    """What one step of one environment gives."""

    observation: Shaped[Array, "*observation"]
    reward: Float[Array, ""]
    terminal: Bool[Array, ""]
    """The episode ended for good; `observation` is its last."""
    truncated: Bool[Array, ""]
    """The episode was cut off; `observation` is its last."""


class Environment(Protocol):
    """`reset` and `step` of a single environment, to be vmapped. `step` does not reset: the rollout does."""

    @property
    def actions(self) -> tuple[str, ...]: ...

    @property
    def observation_shape(self) -> tuple[int, ...]: ...

    def reset(self, key: Key[Array, ""]) -> tuple[State, Shaped[Array, "*observation"]]: ...

    def step(self, state: State, action: Int[Array, ""], key: Key[Array, ""]) -> tuple[State, Step]: ...


def check_environment(environment: Any) -> None:
    """ValueError where something that it must have is not there, or it does not show what it says."""
    if isinstance(environment, type):
        raise ValueError(f"an environment must be made first: {environment.__name__}(…), not {environment.__name__}")
    for name in ("actions", "observation_shape", "reset", "step"):
        if not hasattr(environment, name):
            raise ValueError(f"an environment needs `{name}`, and {type(environment).__name__} has none")
    key, action = jax.random.key(0), jax.ShapeDtypeStruct((), jnp.int32)
    state, first = jax.eval_shape(environment.reset, key)
    _, step = jax.eval_shape(environment.step, state, action, key)
    for name, shown in (("reset", first), ("step", step.observation)):
        if tuple(shown.shape) != tuple(environment.observation_shape):
            expected = f"`observation_shape` says {tuple(environment.observation_shape)}"
            raise ValueError(f"`{name}` shows an observation of shape {tuple(shown.shape)}, but {expected}")


def step_or_reset(
    environment: Environment, state: State, ended: Bool[Array, ""], action: Int[Array, ""], key: Key[Array, ""]
) -> tuple[State, Step]:
    """One step, or where the episode has `ended` the beginning of the next, which ignores the action; to be vmapped."""
    fresh, first = environment.reset(key)
    following, step = environment.step(state, action, key)

    def either(a: Any, b: Any) -> Any:
        return jax.tree.map(lambda x, y: jnp.where(ended, x, y), a, b)

    begun = Step(first, jnp.zeros_like(step.reward), jnp.zeros_like(step.terminal), jnp.zeros_like(step.truncated))
    return either(fresh, following), either(begun, step)
