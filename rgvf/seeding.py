"""One seed decides everything. Each purpose gets its own random keys from it, so that no two share one."""

from __future__ import annotations

from enum import IntEnum

import jax
import numpy as np
from jaxtyping import Array, Key


class Purpose(IntEnum):
    """What a random key of a run is for."""

    AGENT = 0
    """Initial weights."""
    ACTORS = 1
    """Environments, actions and whatever else is random while training."""
    FEATURES = 2
    """Random features."""
    EVALUATION = 3
    """Actions of `evaluate`."""
    RECORDING = 4
    """Actions of `record`."""
    GAMES = 5
    """Environments in JAX that are evaluated or recorded."""
    PLAYING_OUT = 6
    """Actions of `play_out`."""


class GamePurpose(IntEnum):
    """What the seeds of games on the host are for."""

    TRAINING = 1
    EVALUATION = 2
    PLAYING_OUT = 3


def key_for(seed: int, purpose: Purpose) -> Key[Array, ""]:
    """The JAX key of a seed for a purpose."""
    return jax.random.fold_in(jax.random.key(seed), int(purpose))


def game_seeds(seed: int, n: int, purpose: GamePurpose) -> np.ndarray:
    """Seeds of n games on the host, each below 2^31: [n]."""
    return np.random.SeedSequence([seed, int(purpose)]).generate_state(n) & 0x7FFFFFFF
