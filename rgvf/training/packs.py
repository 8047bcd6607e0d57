"""Several seeds at once.

On a GPU the seeds are one more axis of every array, and a function of one seed is vmapped over it. On a CPU they are a
list, one call after another: convolutions whose weights differ from seed to seed are several times slower side by side
there, and taking a slice of stacked parameters means copying them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np

T = TypeVar("T")
Pack: TypeAlias = list[T] | T
"""A list with a value for each seed (CPU), or one value with the seed as the first axis of its arrays (GPU)."""


def seeds_are_listed() -> bool:
    return jax.default_backend() == "cpu"


def pack(values: list[Any]) -> Pack[Any]:
    """Values of several seeds, one for each, as a pack."""
    if seeds_are_listed():
        return values
    return jax.tree.map(lambda *leaves: jnp.stack(leaves), *values)


def pack_array(values: np.ndarray) -> Pack[jax.Array]:
    """An array with the seed as its first axis, brought to the device, as a pack."""
    return [jax.device_put(each) for each in values] if seeds_are_listed() else jax.device_put(values)


def unpack_array(values: Pack[jax.Array]) -> np.ndarray:
    """A pack of arrays as one array with the seed as its first axis."""
    return np.stack([np.asarray(each) for each in values]) if seeds_are_listed() else np.asarray(values)


def listed(values: Pack[Any], seeds: int) -> list[Any]:
    """A pack as a list with a value for each seed, whichever form it has."""
    return values if seeds_are_listed() else [jax.tree.map(lambda leaf, i=i: leaf[i], values) for i in range(seeds)]


def by_seed(steps: list[Pack[Any]]) -> Pack[tuple[Any, ...]]:
    """A list over time of packs as a pack of tuples over time."""
    return list(zip(*steps, strict=True)) if seeds_are_listed() else tuple(steps)


def pick(values: Any, i: int) -> Any:
    """Of a pack of tuples (or arrays) the i-th element (row) of each seed."""
    if seeds_are_listed():
        return [each[i] for each in values]
    return values[i] if isinstance(values, tuple) else values[:, i]


def across_seeds(function: Callable[..., tuple[Any, ...]], consumes_first: bool = False) -> Callable[..., Any]:
    """A function of one seed's values, jitted, as a function of packs.

    Where it `consumes_first`, the memory of its first argument is used for the result.
    """
    donated = (0,) if consumes_first else ()
    if not seeds_are_listed():
        return jax.jit(jax.vmap(function), donate_argnums=donated)
    one = jax.jit(function, donate_argnums=donated)

    def each(*packs: Pack[Any]) -> tuple[Any, ...]:
        results = [one(*arguments) for arguments in zip(*packs, strict=True)]
        return tuple(list(column) for column in zip(*results, strict=True))

    return each
