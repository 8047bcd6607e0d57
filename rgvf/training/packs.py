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
from jax.sharding import Mesh, NamedSharding, PartitionSpec

T = TypeVar("T")
Pack: TypeAlias = list[T] | T
"""A list with a value for each seed (CPU), or one value with the seed as the first axis of its arrays (GPU)."""

_SPREAD = PartitionSpec("seeds")


def _mesh(*seeds: int) -> Mesh | None:
    """All devices in a row, where there are several and they can share the seeds of every pack evenly."""
    several = jax.device_count() > 1 and all(n % jax.device_count() == 0 for n in seeds)
    return Mesh(np.array(jax.devices()), ("seeds",)) if several else None


def seeds_are_listed() -> bool:
    return jax.default_backend() == "cpu" and jax.device_count() == 1


def pack(values: list[Any]) -> Pack[Any]:
    """Values of several seeds, one for each, as a pack; spread over all devices where they can be, evenly."""
    if seeds_are_listed():
        return values
    stacked = jax.tree.map(_stack, *values)
    mesh = _mesh(len(values))
    return stacked if mesh is None else jax.device_put(stacked, NamedSharding(mesh, _SPREAD))


def _stack(*leaves: jax.Array) -> jax.Array:
    """On the host: a device would compile a program for each shape."""
    if jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(_stack(*map(jax.random.key_data, leaves)), impl=jax.random.key_impl(leaves[0]))
    return jnp.asarray(np.stack([np.asarray(leaf) for leaf in leaves]))


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


def pick(values: Pack[tuple[Any, ...]], i: int) -> Pack[Any]:
    """Of a pack of tuples the i-th element of each seed."""
    return [each[i] for each in values] if seeds_are_listed() else values[i]


def across_seeds(
    function: Callable[..., tuple[Any, ...]], consumes_first: bool = False, shared: int = 0
) -> Callable[..., Any]:
    """A function of one seed's values, jitted, as a function of packs.

    Where it `consumes_first`, the memory of its first argument is used for the result. The last `shared` arguments are
    not packs but the same for all seeds.
    """
    if not seeds_are_listed():

        def every(*arguments: Any) -> tuple[Any, ...]:
            return jax.vmap(function, in_axes=[0] * (len(arguments) - shared) + [None] * shared)(*arguments)

        return spread(every, consumes_first, shared)
    one = jax.jit(function, donate_argnums=(0,) if consumes_first else ())

    def each(*arguments: Any) -> tuple[Any, ...]:
        packs, same = arguments[: len(arguments) - shared], arguments[len(arguments) - shared :]
        results = [one(*mine, *same) for mine in zip(*packs, strict=True)]
        return tuple(list(column) for column in zip(*results, strict=True))

    return each


def spread(
    function: Callable[..., tuple[Any, ...]], consumes_first: bool = False, shared: int = 0
) -> Callable[..., Any]:
    """A function of stacked packs, jitted; where there are several devices, each has its part of every pack."""

    def everywhere(*arguments: Any) -> tuple[Any, ...]:
        own = len(arguments) - shared
        mesh = _mesh(*{leaf.shape[0] for leaf in jax.tree.leaves(arguments[:own])})
        if mesh is None:
            return function(*arguments)
        specs = (_SPREAD,) * own + (PartitionSpec(),) * shared
        return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=_SPREAD, check_vma=False)(*arguments)

    return jax.jit(everywhere, donate_argnums=(0,) if consumes_first else ())
