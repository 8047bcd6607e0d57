"""Features brought to one size while learning."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from rgvf.features.feature import Feature, Paddable
from rgvf.trajectory import Transition

DECAY = 0.999
"""Of the running mean square, at each update."""


class Normalised(eqx.Module):
    """A feature whose numbers each have the same root mean square, whatever its size is.

        m ← d · m + (1 − d) · mean of f² over the valid steps of a batch
        w ← d · w + (1 − d)
        f ↦ rms · f / √(m / w)

    w corrects the bias of m, which starts at 0. A number that has always been 0 stays 0. The mean is over all steps, so
    a reward of 1 at every hundredth step becomes 10 · rms. The first after a long time of zeros is scaled up the most:
    the root mean square of its batch is at most rms / √(1 − d), 32 times the usual.
    """

    whole: Feature
    """The feature as it is."""
    rms: Float[Array, ""]
    """The root mean square to bring it to."""
    mean_square: Float[Array, " n"]
    """m."""
    weight: Float[Array, ""]
    """w."""

    def __init__(self, whole: Feature, rms: float) -> None:
        self.whole, self.rms = whole, jnp.float32(rms)
        self.mean_square, self.weight = jnp.zeros(len(whole.names)), jnp.float32(0.0)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that the feature has."""
        return self.whole.names

    def observe(
        self, values: Float[Array, "*batch n"], valid: Bool[Array, "*batch"]
    ) -> tuple[Normalised, Float[Array, "*batch n"]]:
        """Learn from a batch of `whole`'s values. Gives the feature with the new statistics, and the scaled values."""
        batch = tuple(range(values.ndim - 1))
        count = jnp.sum(valid, dtype=values.dtype)
        mean = jnp.sum(jnp.where(valid[..., None], values, 0.0) ** 2, batch) / jnp.maximum(count, 1.0)
        decay = jnp.where(count > 0, DECAY, 1.0)
        new = self.mean_square + (1 - decay) * (mean - self.mean_square), self.weight + (1 - decay) * (1 - self.weight)
        observed = eqx.tree_at(lambda each: (each.mean_square, each.weight), self, new)
        return observed, observed._scaled(values)

    @property
    def factor(self) -> Float[Array, " n"]:
        """What each number is multiplied by now."""
        seen = self.mean_square > 0
        root = jnp.sqrt(jnp.where(seen, self.mean_square, 1.0))  # 1 / m itself would overflow for the smallest m
        return jnp.where(seen, self.rms * jnp.sqrt(self.weight) / root, 0.0)

    def padded(self, n: int) -> Normalised:
        """The same feature with n numbers; those added have no meaning. For a feature that `can_be_padded`."""
        assert isinstance(self.whole, Paddable)
        more = jnp.pad(self.mean_square, (0, n - len(self.mean_square)))
        return eqx.tree_at(lambda each: (each.whole, each.mean_square), self, (self.whole.padded(n), more))

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        return self._scaled(self.whole(transition))

    def _scaled(self, values: Float[Array, "*batch n"]) -> Float[Array, "*batch n"]:
        return jnp.expand_dims(self.factor, range(values.ndim - 1)) * values


def can_be_padded(feature: Feature) -> bool:
    """Whether it can be given more numbers."""
    return isinstance(feature.whole if isinstance(feature, Normalised) else feature, Paddable)
