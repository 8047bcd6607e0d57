"""Other packages' environments without short loops and scatters, which on a GPU are long chains of small kernels."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jaxtyping import Array, Key, Shaped

from rgvf.environments.libraries import ModuleProxy, private_copy

MAX_UNROLLED = 10
"""Longer loops stay loops."""


def flat_copy(module: str) -> Any:
    """A copy of a module that computes the same in fewer and larger kernels. On a CPU it is slower than the module.

    Short loops are unrolled. Choices with probabilities search all places at once. `x.at[i].set(y)` and
    `x.at[i].add(y)` are selections among all of x, which can be fused with what comes before and after them.
    """
    copy = private_copy(module, _OwnPlaces(), _Places=_Places)
    return _with(copy, ModuleProxy(jax.random, choice=_choice), scan=_scan, fori_loop=_fori_loop)


def is_flat(chosen: bool | None) -> bool:
    """Whether to use flat copies: as was chosen, or (none) on a GPU."""
    return jax.default_backend() != "cpu" if chosen is None else chosen


def unrolled_copy(module: str) -> Any:
    """A copy of a module with its short counted loops unrolled."""
    return _with(private_copy(module), jax.random, fori_loop=_fori_loop)


def _with(copy: Any, random: Any, **lax: Any) -> Any:
    """A copy that uses these functions of JAX instead of its own."""
    copy.jax = ModuleProxy(jax, lax=ModuleProxy(jax.lax, **lax), random=random)
    if hasattr(copy, "lax"):
        copy.lax = copy.jax.lax
    return copy


class _OwnPlaces(ast.NodeTransformer):
    """x.at ↦ _Places(x)."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_Places", ast.Load()), [node.value], []) if node.attr == "at" else node


class _Places:
    """x.at, where x.at[index] is of integers and whole axes."""

    def __init__(self, x: Any) -> None:
        self._x = x

    def __getitem__(self, index: Any) -> Any:
        places = index if isinstance(index, tuple) else (index,)
        return _Place(self._x, places) if all(map(_is_simple, places)) else self._x.at[index]


def _is_simple(place: Any) -> bool:
    """An integer, or the whole axis."""
    if isinstance(place, slice):
        return place == slice(None)
    return place is not None and place is not Ellipsis and jnp.ndim(place) == 0


class _Place(NamedTuple):
    """x.at[places]."""

    x: Array
    places: tuple[Any, ...]

    def set(self, value: Any) -> Array:
        """x with this value there."""
        return self._put(lambda old, new: new, value)

    def add(self, value: Any) -> Array:
        """x with this more there."""
        return self._put(jnp.add, value)

    def __getattr__(self, how: str) -> Any:
        return getattr(self.x.at[self.places], how)

    def _put(self, change: Callable[[Array, Array], Array], value: Any) -> Array:
        x, chosen = self.x, jnp.ones((1,) * self.x.ndim, bool)
        indexed = [axis for axis, place in enumerate(self.places) if not isinstance(place, slice)]
        for axis in indexed:
            place, size = self.places[axis], x.shape[axis]
            here = jax.lax.broadcasted_iota(jnp.int32, (size,) + (1,) * (x.ndim - axis - 1), 0)
            chosen &= here == jnp.where(jnp.asarray(place) < 0, place + size, place)
        rest = [size for axis, size in enumerate(x.shape) if axis not in indexed]
        new = jnp.broadcast_to(jnp.asarray(value).astype(x.dtype), rest)
        return jnp.where(chosen, change(x, jnp.expand_dims(new, indexed)), x)


def _scan(f: Any, init: Any, xs: Any) -> tuple[Any, Any]:
    """jax.lax.scan, unrolled where it is over a short array."""
    if not isinstance(xs, jax.Array) or len(xs) > MAX_UNROLLED:
        return jax.lax.scan(f, init, xs)
    results = []
    for x in xs:
        init, result = f(init, x)
        results.append(result)
    return init, jax.tree.map(lambda *each: jnp.stack(each), *results)


def _fori_loop(lower: Any, upper: Any, body: Callable[[Any, Any], Any], state: Any) -> Any:
    """jax.lax.fori_loop, unrolled."""
    if not (isinstance(lower, int) and isinstance(upper, int) and upper - lower <= MAX_UNROLLED):
        return jax.lax.fori_loop(lower, upper, body, state)
    for i in range(lower, upper):
        state = body(i, state)
    return state


def _choice(
    key: Key[Array, ""], a: Any, shape: Sequence[int] = (), replace: bool = True, p: Any = None
) -> Shaped[Array, "..."]:
    """jax.random.choice: the same number, without a search by halves."""
    if p is None or not replace:
        return jax.random.choice(key, a, shape, replace, p)
    total = jnp.cumsum(p)
    drawn = total[-1] * (1 - jax.random.uniform(key, shape, total.dtype))
    return cast(Array, a)[(total < drawn[..., None]).sum(-1)]
