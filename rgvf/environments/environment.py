"""An environment that runs inside a compiled program: pure functions of its state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, Key, Shaped

from rgvf.environments.resets import reset_where
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
    """`reset` and `step` of a single environment in JAX, to be vmapped. `step` does not reset: the loop does.

    It may have three things more. `costly_reset = True`: a reset takes much longer than a step, so it is computed only
    where it is needed; `reset` and `step` must then give states of the same types. `render(state)`: a picture for
    films, in bytes (height, width, RGB), of NumPy or JAX. `memory_steps`: the steps from what an agent must
    remember to where it needs it, both counted; a run then says where an agent cannot learn that.
    """

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
    """ValueError where the environment lacks something, or what it gives is not of the kind that it must be."""
    if isinstance(environment, type):
        raise ValueError(f"pass an environment object, {environment.__name__}(…), not the class {environment.__name__}")
    for name in ("actions", "observation_shape", "reset", "step"):
        if not hasattr(environment, name):
            hint = "; a Gymnasium environment is named gym/ID" if hasattr(environment, "action_space") else ""
            raise ValueError(f"an environment needs `{name}`, and {type(environment).__name__} has none{hint}")
    if isinstance(environment.actions, str) or not _has_each(environment.actions, str) or not len(environment.actions):
        raise ValueError(f'`actions` must be names, such as ("left", "right"), not {environment.actions!r}')
    if not _has_each(environment.observation_shape, int | np.integer):
        expected = "a tuple of whole numbers, such as (10, 10, 4)"
        raise ValueError(f"`observation_shape` must be {expected}, not {environment.observation_shape!r}")
    key, action = jax.random.key(0), jax.ShapeDtypeStruct((), jnp.int32)
    begun = jax.eval_shape(environment.reset, key)
    if not (isinstance(begun, tuple) and len(begun) == 2):
        raise ValueError("`reset` must give (state, observation)")
    state, first = begun
    given = jax.eval_shape(environment.step, state, action, key)
    if not (isinstance(given, tuple) and len(given) == 2 and isinstance(given[1], Step)):
        raise ValueError("`step` must give the next state and a rgvf.environments.Step")
    following, step = given
    if (before := _kinds(state)) != (after := _kinds(following)):
        raise ValueError(f"`step` must give a state like that of `reset`, and does not: {_difference(before, after)}")
    for name, shown in (("reset", first), ("step", step.observation)):
        if not isinstance(shown, jax.ShapeDtypeStruct):
            raise ValueError(f"`{name}` must give an array as observation, not {type(shown).__name__}")
        if tuple(shown.shape) != tuple(environment.observation_shape):
            expected = f"`observation_shape` says {tuple(environment.observation_shape)}"
            raise ValueError(f"`{name}` gives an observation of shape {tuple(shown.shape)}, but {expected}")
    if first.dtype != step.observation.dtype:
        raise ValueError(f"`reset` gives an observation of {first.dtype}, but `step` one of {step.observation.dtype}")
    for name, each in (("reward", step.reward), ("terminal", step.terminal), ("truncated", step.truncated)):
        kind, wanted = ("a number", jnp.number) if name == "reward" else ("a boolean", jnp.bool_)
        if not isinstance(each, jax.ShapeDtypeStruct):
            raise ValueError(f"`step` must give {kind} as {name}, not {type(each).__name__}")
        if each.shape or not jnp.issubdtype(each.dtype, wanted) or jnp.issubdtype(each.dtype, jnp.complexfloating):
            raise ValueError(f"`step` must give {kind} as {name}, not {each.dtype}{list(each.shape)}")


def _has_each(values: Any, kind: Any) -> bool:
    """Whether it holds values of a kind, and can be read more than once."""
    if not isinstance(values, Iterable) or isinstance(values, Iterator):
        return False
    return all(isinstance(each, kind) for each in values)


def _kinds(state: State) -> dict[str, str]:
    """Shape and type of each array of a state, by its place."""
    leaves = jax.tree_util.tree_leaves_with_path(state)
    return {jax.tree_util.keystr(path) or "the state": f"{each.dtype}{list(each.shape)}" for path, each in leaves}


def _difference(before: dict[str, str], after: dict[str, str]) -> str:
    """The first place where two states differ."""
    place = next(each for each in {**before, **after} if before.get(each) != after.get(each))
    return f"{place} is {before.get(place, 'missing')} at first, then {after.get(place, 'missing')}"


def environment_spec(environment: Environment) -> EnvironmentSpec:
    """The spec of an environment in JAX. It runs nothing."""
    _, observation = jax.eval_shape(environment.reset, jax.random.key(0))
    return EnvironmentSpec(tuple(observation.shape), str(observation.dtype), tuple(environment.actions))


def step_or_reset(
    environment: Environment, state: State, ended: Bool[Array, ""], action: Int[Array, ""], key: Key[Array, ""]
) -> tuple[State, Step]:
    """One step; or a reset step, which ignores the action, where the episode has `ended`. To be vmapped."""
    next_state, step = environment.step(state, action, key)
    following = next_state, step.observation
    if getattr(environment, "costly_reset", False):
        new_state, observation = reset_where(environment.reset, ended, key, following)
    else:
        new_state, observation = jax.tree.map(partial(jnp.where, ended), environment.reset(key), following)
    reward, terminal, truncated = (jnp.where(ended, jnp.zeros_like(each), each) for each in step[1:])
    return new_state, Step(observation, reward, terminal, truncated)
