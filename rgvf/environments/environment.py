"""An environment that runs inside a compiled program: pure functions of its state."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.spec import EnvironmentSpec

State: TypeAlias = Any
"""Whatever an environment keeps between two steps; a pytree."""


class Step(NamedTuple):
    """What one step of one environment gives."""

    observation: Shaped[Array, "*observation"]
    reward: Float[Array, ""]
    terminal: Bool[Array, ""]
    """The episode ended for good; `observation` is its last."""
    truncated: Bool[Array, ""]
    """The episode was truncated; `observation` is its last."""


@runtime_checkable
class Environment(Protocol):
    """`reset` and `step` of a single environment in JAX, to be vmapped. `step` does not reset: the loop does."""

    @property
    def actions(self) -> tuple[str, ...]:
        """A name for each action."""
        ...

    @property
    def observation_shape(self) -> tuple[int, ...]:
        """Shape of an observation."""
        ...

    def reset(self, key: Key[Array, ""]) -> tuple[State, Shaped[Array, "*observation"]]:
        """Start an episode: the state and the first observation."""
        ...

    def step(self, state: State, action: Int[Array, ""], key: Key[Array, ""]) -> tuple[State, Step]:
        """Take an action: the next state, and what it gave."""
        ...


def check_environment(environment: Any) -> None:
    """ValueError where the environment lacks something, or its observations are not of its `observation_shape`."""
    if isinstance(environment, type):
        raise ValueError(f"pass an environment object, {environment.__name__}(…), not the class {environment.__name__}")
    for name in ("actions", "observation_shape", "reset", "step"):
        if not hasattr(environment, name):
            raise ValueError(f"an environment needs `{name}`, and {type(environment).__name__} has none")
    key, action = jax.random.key(0), jax.ShapeDtypeStruct((), jnp.int32)
    state, first = jax.eval_shape(environment.reset, key)
    _, step = jax.eval_shape(environment.step, state, action, key)
    for name, shown in (("reset", first), ("step", step.observation)):
        if tuple(shown.shape) != tuple(environment.observation_shape):
            expected = f"`observation_shape` says {tuple(environment.observation_shape)}"
            raise ValueError(f"`{name}` gives an observation of shape {tuple(shown.shape)}, but {expected}")


def environment_spec(environment: Environment) -> EnvironmentSpec:
    """The spec of an environment in JAX. It runs nothing."""
    _, observation = jax.eval_shape(environment.reset, jax.random.key(0))
    return EnvironmentSpec(tuple(observation.shape), str(observation.dtype), tuple(environment.actions))


def step_or_reset(
    environment: Environment, state: State, ended: Bool[Array, ""], action: Int[Array, ""], key: Key[Array, ""]
) -> tuple[State, Step]:
    """One step; or a reset step, which ignores the action, where the episode has `ended`. To be vmapped."""
    new_state, first = environment.reset(key)
    next_state, step = environment.step(state, action, key)

    def either(a: Any, b: Any) -> Any:
        return jax.tree.map(lambda x, y: jnp.where(ended, x, y), a, b)

    started = Step(first, jnp.zeros_like(step.reward), jnp.zeros_like(step.terminal), jnp.zeros_like(step.truncated))
    return either(new_state, next_state), either(started, step)
