"""Environments of the compiled program as games of the host: for evaluation and films."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from rgvf.environments.host import HostSpec, Moment
from rgvf.environments.protocol import Environment, step_or_reset
from rgvf.environments.shared import Batch

_COLOURS = np.array(
    [[255, 255, 255], [230, 80, 60], [90, 170, 250], [250, 200, 70], [120, 210, 120], [190, 120, 220],
     [250, 140, 60], [80, 220, 220], [240, 120, 170], [160, 160, 160]],
    np.float32,
)  # fmt: skip


def spec_of_environment(environment: Environment) -> HostSpec:
    _, observation = jax.eval_shape(environment.reset, jax.random.key(0))
    return HostSpec(tuple(observation.shape), str(observation.dtype), environment.actions)


class DeviceGames:
    """Several games side by side, with the manners of `Workers`: `reset`, then `send` and `receive` in turn.

    A game is cut off after `most_steps`, if it has not ended by itself.
    """

    def __init__(self, environment: Environment, seeds: Sequence[int], most_steps: float = math.inf) -> None:
        self.most_steps = most_steps
        self.spec = spec_of_environment(environment)
        self.n = len(seeds)
        self._keys = jnp.stack([jax.random.key(int(seed)) for seed in seeds])
        self._reset = jax.jit(jax.vmap(environment.reset))
        self._step = jax.jit(jax.vmap(partial(step_or_reset, environment)))
        self._time = 0

    def _draw(self) -> Any:
        self._time += 1
        return jax.vmap(lambda key: jax.random.fold_in(key, self._time))(self._keys)

    def reset(self) -> Batch:
        self._state, observation = self._reset(self._draw())
        nothing, no = np.zeros(self.n), np.zeros(self.n, bool)
        self._batch = _batch(observation, nothing, no, no, ~no, nothing, np.zeros(self.n, np.int64))
        return self._batch

    def send(self, actions: NDArray[np.integer]) -> None:
        before = self._batch
        ended = before.terminal | before.truncated
        self._state, step = self._step(self._state, jnp.asarray(ended), jnp.asarray(actions), self._draw())
        observation, reward, terminal, truncated = map(np.asarray, step)
        score = np.where(ended, 0.0, before.game_return + reward)
        length = np.where(ended, 0, before.game_length + 1)
        truncated = truncated | ~terminal & (length >= self.most_steps)
        self._batch = _batch(observation, reward, terminal, truncated, ended, score, length)

    def receive(self) -> Batch:
        return self._batch

    def close(self) -> None:
        """Nothing is held but memory."""

    def __enter__(self) -> DeviceGames:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class DeviceGame:
    """One such game, a `Moment` at a time."""

    def __init__(self, environment: Environment, seed: int) -> None:
        self._games = DeviceGames(environment, [seed])
        self.spec = self._games.spec

    def reset(self) -> Moment:
        return self._moment(self._games.reset())

    def step(self, action: int) -> Moment:
        self._games.send(np.array([action]))
        return self._moment(self._games.receive())

    def _moment(self, batch: Batch) -> Moment:
        self.moment = Moment(batch.observation[0], *(array[0].item() for array in batch[1:]))
        return self.moment

    def render(self) -> NDArray[np.uint8]:
        """A colour for each channel, one over another, 16 times as large."""
        seen = np.asarray(self.moment.observation, np.float32)
        if seen.ndim != 3:
            raise ValueError(f"observations of shape {seen.shape} cannot be drawn")
        picture = np.zeros((*seen.shape[:2], 3), np.float32)
        for channel in reversed(range(seen.shape[-1])):
            shown = seen[..., channel, None]
            picture = np.where(shown > 0, shown * _COLOURS[channel % len(_COLOURS)], picture)
        return picture.clip(0, 255).astype(np.uint8).repeat(16, axis=0).repeat(16, axis=1)

    def close(self) -> None:
        self._games.close()


def _batch(
    observation: Any,
    reward: np.ndarray,
    terminal: np.ndarray,
    truncated: np.ndarray,
    first: np.ndarray,
    score: np.ndarray,
    length: np.ndarray,
) -> Batch:
    over = terminal | truncated
    return Batch(np.asarray(observation), reward.astype(np.float32), terminal, truncated, first, over, score, length)
