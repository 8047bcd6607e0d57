"""Scores and lengths of whole games, counted inside the compiled program."""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int

MAX_SCORES = 100
"""Scores that are kept; the reported return is their mean."""


class Scores(NamedTuple):
    """Unclipped returns and numbers of steps of the games of B environments."""

    running: Float[Array, " B"]
    """Return of the game that is being played in each environment."""
    steps: Int[Array, " B"]
    """Steps of that game."""
    recent: Float[Array, " kept"]
    """Returns of games that have ended: game i stands at i mod `MAX_SCORES`."""
    lengths: Int[Array, " kept"]
    """Their steps."""
    games: Int[Array, ""]
    """How many have ended."""

    @classmethod
    def zero(cls, environments: int) -> Scores:
        """Before the first step."""
        counts = jnp.zeros(environments, jnp.int32), jnp.zeros(MAX_SCORES, jnp.int32)
        return cls(jnp.zeros(environments), counts[0], jnp.zeros(MAX_SCORES), counts[1], jnp.int32(0))

    def add(self, reward: Float[Array, "T B"], valid: Bool[Array, "T B"], over: Bool[Array, "T B"]) -> Scores:
        """Add a segment; `over` says which steps ended a game. Steps that are not `valid` belong to none."""

        def one_step(
            running: tuple[Float[Array, " B"], Int[Array, " B"]], step: tuple[Array, Array, Array]
        ) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
            reward, valid, over = step
            total, length = running[0] + reward, running[1] + valid.astype(jnp.int32)
            return (jnp.where(over, 0.0, total), jnp.where(over, 0, length)), (total, length)

        (running, steps), (totals, lengths) = jax.lax.scan(one_step, (self.running, self.steps), (reward, valid, over))
        number = self.games + jnp.cumsum(over.reshape(-1)) - 1
        games = self.games + jnp.sum(over)
        kept = over.reshape(-1) & (number >= games - MAX_SCORES)  # only the last, so that no place is written twice
        place = jnp.where(kept, number % MAX_SCORES, MAX_SCORES)
        recent = self.recent.at[place].set(totals.reshape(-1), mode="drop")
        return Scores(running, steps, recent, self.lengths.at[place].set(lengths.reshape(-1), mode="drop"), games)

    def newest(self, n: int) -> list[tuple[float, int]]:
        """Return and steps of the last n games, oldest first, or of as many as are kept."""
        recent, lengths, games = np.asarray(self.recent), np.asarray(self.lengths), int(self.games)
        places = [i % MAX_SCORES for i in range(games - min(n, MAX_SCORES), games)]
        return [(float(recent[i]), int(lengths[i])) for i in places]
