"""Environments in JAX with the interface of games on the host, for evaluation and films."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from rgvf.environments.environment import Environment, environment_spec, step_or_reset
from rgvf.environments.game import Game
from rgvf.environments.one_game import OneGame, WorkerGame
from rgvf.environments.picture import checked_picture, picture_of
from rgvf.environments.registry import find_environment, make_game, takes_option, worker_needs
from rgvf.environments.workers.memory import TimeSteps
from rgvf.seeding import Purpose, key_for

SavedGames: TypeAlias = tuple[Any, TimeSteps]
"""What `DeviceGames.save` gives."""


class DeviceGames:
    """Several games at once, with the interface of `Workers`: `reset`, then `send` and `receive` in turn.

    A game is truncated after `max_steps`.
    """

    def __init__(self, environment: Environment, seeds: Sequence[int], max_steps: float = math.inf) -> None:
        self.max_steps = max_steps
        self.spec = environment_spec(environment)
        self.n = len(seeds)
        self._keys = jnp.stack([key_for(int(seed), Purpose.GAMES) for seed in seeds])
        self._reset = jax.jit(jax.vmap(environment.reset))
        self._step = jax.jit(jax.vmap(partial(step_or_reset, environment)))
        self._time = 0

    def _next_keys(self) -> Any:
        self._time += 1
        return jax.vmap(lambda key: jax.random.fold_in(key, self._time))(self._keys)

    def reset(self) -> TimeSteps:
        """Start every game."""
        self._state, observation = self._reset(self._next_keys())
        zero, no = np.zeros(self.n), np.zeros(self.n, bool)
        self._steps = _time_steps(observation, zero, no, no, ~no, zero, np.zeros(self.n, np.int64))
        return self._steps

    def send(self, actions: NDArray[np.integer]) -> None:
        """Take one action in every game."""
        before = self._steps
        ended = before.terminal | before.truncated
        self._state, step = self._step(self._state, jnp.asarray(ended), jnp.asarray(actions), self._next_keys())
        observation, reward, terminal, truncated = map(np.asarray, step)
        score = np.where(ended, 0.0, before.game_return + reward)
        length = np.where(ended, 0, before.game_length + 1)
        truncated = truncated | ~terminal & (length >= self.max_steps)
        self._steps = _time_steps(observation, reward, terminal, truncated, ended, score, length)

    def receive(self) -> TimeSteps:
        """What the last actions gave."""
        return self._steps

    def save(self) -> SavedGames:
        """The environments' states and newest time steps. What is random in a game does not belong to them."""
        return self._state, self._steps

    def restore(self, saved: Sequence[SavedGames]) -> TimeSteps:
        """Continue from what `save` gave, of n games in all; what is random from here on is of this object's seeds."""
        states, steps = zip(*saved, strict=True)
        self._state = jax.tree.map(lambda *parts: jnp.concatenate(parts), *states)
        self._steps = TimeSteps._make(np.concatenate(parts) for parts in zip(*steps, strict=True))
        if len(self._steps.reward) != self.n:
            raise ValueError(f"there are {self.n} games, but {len(self._steps.reward)} saved states")
        return self._steps

    def close(self) -> None:
        """Nothing but memory is held."""

    def __enter__(self) -> DeviceGames:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class DeviceGame(OneGame):
    """One such game."""

    def __init__(self, environment: Environment, seed: int) -> None:
        self._environment = environment
        self._games = DeviceGames(environment, [seed])

    def save(self) -> SavedGames:
        """The state of the game, to be restored by `DeviceGames`."""
        return self._games.save()

    def render(self) -> NDArray[np.uint8]:
        """The environment's own picture; else one of the observation."""
        draw = getattr(self._environment, "render", None)
        if draw is not None:
            state, _ = self._games.save()
            return checked_picture(draw(jax.tree.map(lambda leaf: leaf[0], state)))
        return picture_of(self.newest.observation)


def game_to_film(
    name: str, seed: int, given: Environment | None = None, **options: Any
) -> Game | WorkerGame | DeviceGame:
    """The game of this name, with what it needs to be drawn. An engine that may end its process gets another one."""
    environment = find_environment(name, given, **options)
    if environment is not None:
        return DeviceGame(environment, seed)
    if takes_option(name, "render"):
        options["render"] = True
    return (WorkerGame if worker_needs(name).alone else make_game)(name, seed, **options)


def _time_steps(
    observation: Any,
    reward: np.ndarray,
    terminal: np.ndarray,
    truncated: np.ndarray,
    first: np.ndarray,
    score: np.ndarray,
    length: np.ndarray,
) -> TimeSteps:
    over = terminal | truncated
    return TimeSteps(
        np.asarray(observation), reward.astype(np.float32), terminal, truncated, first, over, score, length
    )
