"""The five MinAtar games (Young & Tian 2019) in the compiled program, by the original's rules or as in pgx.

pgx plays four of them by the original's rules, so both are the same there. Seaquest is the exception.
`tests/environments/test_minatar_original.py` compares all five with the original, step by step.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int, Key

from rgvf.environments.environment import Environment, Step
from rgvf.environments.game_names import MINATAR_ACTIONS, find_minatar
from rgvf.environments.libraries import loose_promotion
from rgvf.environments.pgx_patches import game_module
from rgvf.environments.seaquest import Seaquest

STICKY = 0.1


class MinAtar:
    """One of the games: a 10×10 image with a channel of booleans for each kind of object.

    Args:
        game: one of `MINATAR_GAMES`.
        sticky: probability that the last action is repeated.
    """

    def __init__(self, game: str, sticky: float = STICKY) -> None:
        _check_sticky(sticky)
        self.name = find_minatar(game)
        self._game: Environment = Seaquest(sticky) if self.name == "Seaquest" else PgxMinAtar(self.name, sticky)
        self.actions = self._game.actions
        self.observation_shape = self._game.observation_shape

    def reset(self, key: Key[Array, ""]) -> tuple[Any, Bool[Array, "10 10 channels"]]:
        """Start a game."""
        return self._game.reset(key)

    def step(self, state: Any, action: Int[Array, ""], key: Key[Array, ""]) -> tuple[Any, Step]:
        """One step; where an episode ends, the observation is its last."""
        return self._game.step(state, action, key)


class PgxMinAtar:
    """One of the games as pgx plays it, with the arguments of `MinAtar`.

    Args:
        flat: compute the same in fewer and larger kernels; none: on a GPU.
    """

    def __init__(self, game: str, sticky: float = STICKY, flat: bool | None = None) -> None:
        _check_sticky(sticky)
        self.name = find_minatar(game)
        module = game_module(self.name, flat)
        self._game: Any = getattr(module, f"MinAtar{self.name}")(sticky_action_prob=sticky)
        self.actions = tuple(MINATAR_ACTIONS[int(i)] for i in self._game.minimal_action_set)
        self.observation_shape: tuple[int, ...] = tuple(jax.eval_shape(self.reset, jax.random.key(0))[1].shape)

    def reset(self, key: Key[Array, ""]) -> tuple[Any, Bool[Array, "10 10 channels"]]:
        """Start a game."""
        with loose_promotion():
            state = self._game.init(key)
        return state, state.observation

    def step(self, state: Any, action: Int[Array, ""], key: Key[Array, ""]) -> tuple[Any, Step]:
        """One step, without pgx's own reset: where an episode ends, the observation is its last."""
        with loose_promotion():
            state = self._game.step(state, action, key)
        reward = state.rewards[0].astype(jnp.float32)
        return state, Step(state.observation, reward, state.terminated, state.truncated)


def _check_sticky(sticky: float) -> None:
    if not 0.0 <= sticky <= 1.0:
        raise ValueError(f"sticky must be a probability, not {sticky}")
