"""What many tests need: specs, batches of experience, learners and short runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from rgvf.agents import AgentConfig, Learner, make_learner, make_networks
from rgvf.runs import RunConfig
from rgvf.runs.run import make_loop, prepare
from rgvf.spec import EnvironmentSpec
from rgvf.trajectory import Trajectory

ATARI = EnvironmentSpec((84, 84, 4), "uint8", ("NOOP", "FIRE", "RIGHT", "LEFT"), stack=4, frames_per_step=4)
SMALL_IMAGE = EnvironmentSpec((10, 10, 2), "uint8", ("left", "stay", "right"))
VECTOR = EnvironmentSpec((4,), "float32", ("left", "right"))


def trajectory(
    spec: EnvironmentSpec,
    seed: int = 0,
    steps: int = 3,
    environments: int = 2,
    *,
    terminal: Any = (),
    first: Any = (),
    reward: Any = None,
) -> Trajectory:
    """Random experience; `terminal` and `first` list the (t, b) where the flags are set.

    Observations are random bytes, or normal numbers where the spec says float32. Rewards are normal unless given.
    """
    rng = np.random.default_rng(seed)
    shape = (steps + 1, environments, *spec.observation_shape)
    if spec.observation_dtype == "uint8":
        observation = jnp.asarray(rng.integers(0, 256, size=shape), jnp.uint8)
    else:
        observation = jnp.asarray(rng.normal(size=shape), jnp.float32)
    action = jnp.asarray(rng.integers(len(spec.actions), size=(steps, environments)), jnp.int32)
    rewards = rng.normal(size=(steps, environments)) if reward is None else np.broadcast_to(reward, action.shape)
    terminals, firsts = np.zeros((steps, environments), bool), np.zeros((steps + 1, environments), bool)
    for place in terminal:
        terminals[place] = True
    for place in first:
        firsts[place] = True
    return Trajectory(
        observation, action, jnp.asarray(rewards, jnp.float32), jnp.asarray(terminals), jnp.asarray(firsts)
    )


def learner_of(config: AgentConfig, spec: EnvironmentSpec, seed: int = 0) -> Learner:
    """The learner of a seed, with question networks made for it."""
    return make_learner(config, spec, seed, make_networks(config, spec, seed))


def loop_of(config: RunConfig, environment: Any = None) -> Any:
    """The loop of a run, without a folder."""
    return make_loop(config, prepare(config, environment), environment)


def stop_after(calls: int) -> Callable[[], bool]:
    """A `should_stop` that returns true after so many calls."""
    left = itertools.count(calls - 1, -1)
    return lambda: next(left) < 0


class Listener:
    """A listener that shows nothing and keeps messages and warnings."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.messages: list[str] = []

    def say(self, message: str) -> None:
        self.messages.append(message)

    def waiting(self, what: str) -> None:
        self.messages.append(what)

    def warn(self, message: str) -> None:
        self.warnings.append(message)

    def progress(self, frames: int, total: int, speed: float, lines: list[dict[str, Any]]) -> None:
        pass
