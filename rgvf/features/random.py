"""Random features of the screen: f_k(t+1) = |g_k(O_{t+1}) − g_k(O_t)| with g_k random and linear.

As g is linear, the change of g is g of the change, and one product serves both observations.
"""

from __future__ import annotations

import math

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Key

from rgvf.features.observation import change
from rgvf.trajectory import Transition


class RandomLinear(eqx.Module):
    """f_k = |g_k · (O_{t+1} − O_t)|: linear maps g_k of the whole observation, with standard normal entries."""

    weight: Float[Array, "pixels n"]
    observation_rank: int = eqx.field(static=True)

    def __init__(self, key: Key[Array, ""], observation_shape: tuple[int, ...], n: int) -> None:
        _require_positive("number of features", n)
        self.weight = jax.random.normal(key, (math.prod(observation_shape), n))
        self.observation_rank = len(observation_shape)

    @property
    def names(self) -> tuple[str, ...]:
        """random-linear/K for each K below n."""
        return tuple(f"random-linear/{k}" for k in range(self.weight.shape[-1]))

    def padded(self, n: int) -> RandomLinear:
        """The same feature with n numbers; those added have no meaning."""
        more = ((0, 0), (0, n - self.weight.shape[-1]))
        return eqx.tree_at(lambda feature: feature.weight, self, jnp.pad(self.weight, more))

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        moved = change(transition)
        flat = moved.reshape(*moved.shape[: moved.ndim - self.observation_rank], -1)
        return jnp.abs(flat @ self.weight)


class RandomPatches(eqx.Module):
    """Each feature is the change of a random linear map of one patch of the image; a map is shared by all patches.

    Maps are random unit vectors times `scale`. Features are ordered map by map: the first `n` of the patches under
    the first map, then under the second, and so on.
    """

    weight: Float[Array, "maps patch_pixels"]
    patch: tuple[int, int] = eqx.field(static=True)
    newest_only: bool = eqx.field(static=True)
    n: int = eqx.field(static=True)
    tiles: int = eqx.field(static=True)

    def __init__(
        self,
        key: Key[Array, ""],
        observation_shape: tuple[int, int, int],
        patch: tuple[int, int],
        n: int | None = None,
        scale: float = 1.0,
        newest_only: bool = False,
    ) -> None:
        """Draw the maps.

        Args:
            observation_shape: height, width, channels.
            patch: height and width of a patch; patches tile the image.
            n: number of features; by default one for each patch.
            scale: length of a map's vector.
            newest_only: look at the last channel alone: the newest of a stack of frames.
        """
        (height, width, channels), (rows, columns) = observation_shape, patch
        if min(rows, columns) < 1 or height % rows or width % columns:
            raise ValueError(f"patches of {rows}×{columns} do not tile an image of {height}×{width}")
        self.tiles = (height // rows) * (width // columns)
        self.n = self.tiles if n is None else n
        _require_positive("number of features", self.n)
        pixels = rows * columns * (1 if newest_only else channels)
        maps = jax.random.normal(key, (-(-self.n // self.tiles), pixels))
        self.weight = scale * maps / jnp.linalg.norm(maps, axis=-1, keepdims=True)
        self.patch = patch
        self.newest_only = newest_only

    @property
    def names(self) -> tuple[str, ...]:
        """random-patches/K for each K below n."""
        return tuple(f"random-patches/{k}" for k in range(self.n))

    def padded(self, n: int) -> RandomPatches:
        """The same feature with n numbers; those added have no meaning."""
        more = ((0, -(-n // self.tiles) - self.weight.shape[0]), (0, 0))
        wider = eqx.tree_at(lambda feature: feature.weight, self, jnp.pad(self.weight, more))
        object.__setattr__(wider, "n", n)  # `tree_at` gives a copy, but changes arrays only
        return wider

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        moved = change(transition, self.newest_only)
        *batch, height, width, channels = moved.shape
        (rows, columns), down, across = self.patch, height // self.patch[0], width // self.patch[1]
        tiles = moved.reshape(*batch, down, rows, across, columns, channels)
        maps = self.weight.reshape(-1, rows, columns, channels)
        projected = jnp.einsum("...iyjxc,myxc->...mij", tiles, maps)
        return jnp.abs(projected.reshape(*batch, -1)[..., : self.n])


def _require_positive(what: str, n: int) -> None:
    if n < 1:
        raise ValueError(f"{what} must be at least 1, not {n}")
