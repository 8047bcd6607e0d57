"""The seed axis: several independent seeds in one process.

On a GPU the seeds are one more axis of every array, and a function of one seed is vmapped over it. On a CPU they are a
list, and the function is called once for each: convolutions whose weights differ from seed to seed are several times
slower there when they are vmapped.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TypeAlias, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

T = TypeVar("T")
PerSeed: TypeAlias = list[T] | T
"""A value for each seed: a list (`ListedSeeds`), or arrays with a leading seed axis (`StackedSeeds`)."""


class SeedAxis(ABC):
    """How the values of several seeds are kept, and how a function of one seed is applied to all of them."""

    def __init__(self, seeds: Sequence[int]) -> None:
        self.seeds = tuple(seeds)

    def __len__(self) -> int:
        return len(self.seeds)

    @abstractmethod
    def stack(self, values: list[T]) -> PerSeed[T]:
        """Join a list with one value for each seed."""

    @abstractmethod
    def unstack(self, values: PerSeed[T]) -> list[T]:
        """The inverse of `stack`."""

    @abstractmethod
    def to_device(self, array: np.ndarray) -> PerSeed[jax.Array]:
        """An array with a leading seed axis, brought to the device."""

    @abstractmethod
    def to_host(self, values: PerSeed[jax.Array]) -> np.ndarray:
        """One array with a leading seed axis, brought to the host."""

    @abstractmethod
    def zip(self, values: Sequence[PerSeed[Any]]) -> PerSeed[tuple[Any, ...]]:
        """A sequence of values for all seeds, as a tuple for each seed."""

    @abstractmethod
    def pick(self, values: PerSeed[tuple[Any, ...]], i: int) -> PerSeed[Any]:
        """Element i of each seed's tuple."""

    @abstractmethod
    def map(
        self, function: Callable[..., tuple[Any, ...]], *, donate_first: bool = False, shared: int = 0
    ) -> Callable[..., Any]:
        """A function of one seed's values, jitted and applied to all seeds.

        Args:
            donate_first: the memory of the first argument may be reused for the result.
            shared: how many of the last arguments are the same for all seeds.
        """


class ListedSeeds(SeedAxis):
    """A list with a value for each seed; functions are called once for each."""

    def stack(self, values: list[T]) -> PerSeed[T]:
        return values

    def unstack(self, values: PerSeed[T]) -> list[T]:
        assert isinstance(values, list)
        return values

    def to_device(self, array: np.ndarray) -> PerSeed[jax.Array]:
        return [jax.device_put(each) for each in array]

    def to_host(self, values: PerSeed[jax.Array]) -> np.ndarray:
        return np.stack([np.asarray(each) for each in values])

    def zip(self, values: Sequence[PerSeed[Any]]) -> PerSeed[tuple[Any, ...]]:
        return list(zip(*values, strict=True))

    def pick(self, values: PerSeed[tuple[Any, ...]], i: int) -> PerSeed[Any]:
        return [each[i] for each in values]

    def map(
        self, function: Callable[..., tuple[Any, ...]], *, donate_first: bool = False, shared: int = 0
    ) -> Callable[..., Any]:
        compiled = jax.jit(function, donate_argnums=(0,) if donate_first else ())

        def call(*arguments: Any) -> tuple[Any, ...]:
            own, same = arguments[: len(arguments) - shared], arguments[len(arguments) - shared :]
            results: list[tuple[Any, ...]] = []
            for mine in zip(*own, strict=True):
                results.append(compiled(*mine, *same))
            return tuple(list(column) for column in zip(*results, strict=True))

        return call


_SEEDS = PartitionSpec("seeds")


class StackedSeeds(SeedAxis):
    """Arrays with a leading seed axis; functions are vmapped. Several devices share the seeds evenly, if they can."""

    def stack(self, values: list[T]) -> PerSeed[T]:
        stacked = jax.tree.map(_stack_on_host, *values)
        mesh = _mesh(len(values))
        return stacked if mesh is None else jax.device_put(stacked, NamedSharding(mesh, _SEEDS))

    def unstack(self, values: PerSeed[T]) -> list[T]:
        return [jax.tree.map(lambda leaf, i=i: leaf[i], values) for i in range(len(self))]

    def to_device(self, array: np.ndarray) -> PerSeed[jax.Array]:
        return jax.device_put(array)

    def to_host(self, values: PerSeed[jax.Array]) -> np.ndarray:
        return np.asarray(values)

    def zip(self, values: Sequence[PerSeed[Any]]) -> PerSeed[tuple[Any, ...]]:
        return tuple(values)

    def pick(self, values: PerSeed[tuple[Any, ...]], i: int) -> PerSeed[Any]:
        return values[i]

    def map(
        self, function: Callable[..., tuple[Any, ...]], *, donate_first: bool = False, shared: int = 0
    ) -> Callable[..., Any]:
        def vmapped(*arguments: Any) -> tuple[Any, ...]:
            axes = [0] * (len(arguments) - shared) + [None] * shared
            return jax.vmap(function, in_axes=axes)(*arguments)

        return over_devices(vmapped, donate_first=donate_first, shared=shared)


def seed_axis(seeds: Sequence[int]) -> SeedAxis:
    """The faster kind of seed axis on this machine."""
    return StackedSeeds(seeds) if stacking_is_faster() else ListedSeeds(seeds)


def stacking_is_faster() -> bool:
    """Whether seeds should be an axis of arrays: everywhere but on a single CPU."""
    return jax.default_backend() != "cpu" or jax.device_count() > 1


def on_host() -> AbstractContextManager[Any]:
    """What many small steps make here, such as an agent's parameters, the CPU computes, where JAX has one.

    Each step is a program of its own, and those for a GPU take several times as long to compile.
    """
    if jax.default_backend() == "cpu":
        return nullcontext()
    try:
        return jax.default_device(jax.local_devices(backend="cpu")[0])
    except RuntimeError:  # JAX_PLATFORMS may name other devices only
        return nullcontext()


def over_devices(
    function: Callable[..., tuple[Any, ...]], *, donate_first: bool = False, shared: int = 0
) -> Callable[..., Any]:
    """A function of values with a leading seed axis, jitted; each of several devices takes its part of the seeds."""

    def sharded(*arguments: Any) -> tuple[Any, ...]:
        own = len(arguments) - shared
        mesh = _mesh(*{leaf.shape[0] for leaf in jax.tree.leaves(arguments[:own])})
        if mesh is None:
            return function(*arguments)
        specs = (_SEEDS,) * own + (PartitionSpec(),) * shared
        return jax.shard_map(function, mesh=mesh, in_specs=specs, out_specs=_SEEDS, check_vma=False)(*arguments)

    return jax.jit(sharded, donate_argnums=(0,) if donate_first else ())


def _mesh(*sizes: int) -> Mesh | None:
    """All devices in a row, where there are several and every seed axis can be divided evenly among them."""
    several = jax.device_count() > 1 and all(n % jax.device_count() == 0 for n in sizes)
    return Mesh(np.array(jax.devices()), ("seeds",)) if several else None


def _stack_on_host(*leaves: jax.Array) -> jax.Array:
    """Stacked on the host, and put on the device as it is: a device would compile a program for each shape."""
    if jnp.issubdtype(leaves[0].dtype, jax.dtypes.prng_key):
        data = _stack_on_host(*map(jax.random.key_data, leaves))
        return jax.random.wrap_key_data(data, impl=jax.random.key_impl(leaves[0]))
    return jax.device_put(np.stack([np.asarray(leaf) for leaf in leaves]))
