"""Scores of whole games, counted inside the compiled program."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

MAX_SCORES = 100
"""Scores that are kept; the reported return is their mean."""


class Scores(NamedTuple):
    """Unclipped returns of the games of B environments."""

    running: Float[Array, " B"]
    """Of the game that is being played in each environment."""
    recent: Float[Array, " kept"]
    """Of games that have ended: game i stands at i mod `MAX_SCORES`."""
    games: Int[Array, ""]
    """How many have ended."""

    @classmethod
    def zero(cls, environments: int) -> Scores:
        """Before the first step."""
        return cls(jnp.zeros(environments), jnp.zeros(MAX_SCORES), jnp.int32(0))

    def add(self, reward: Float[Array, "T B"], over: Bool[Array, "T B"]) -> Scores:
        """Add a segment; `over` says which steps ended a game."""

        def one_step(
            running: Float[Array, " B"], step: tuple[Float[Array, " B"], Bool[Array, " B"]]
        ) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
            total = running + step[0]
            return jnp.where(step[1], 0.0, total), total

        running, totals = jax.lax.scan(one_step, self.running, (reward, over))
        number = self.games + jnp.cumsum(over.reshape(-1)) - 1
        games = self.games + jnp.sum(over)
        kept = over.reshape(-1) & (number >= games - MAX_SCORES)  # only the last, so that no place is written twice
        place = jnp.where(kept, number % MAX_SCORES, MAX_SCORES)
        return Scores(running, self.recent.at[place].set(totals.reshape(-1), mode="drop"), games)

    def newest(self, n: int) -> list[float]:
        """The last n scores, oldest first, or as many as are kept."""
        recent, games = np.asarray(self.recent), int(self.games)
        return [float(recent[i % MAX_SCORES]) for i in range(games - min(n, MAX_SCORES), games)]
