"""Other packages' environments without short loops and scatters, which on a GPU are long chains of small kernels."""

from __future__ import annotations

import ast
import functools
import itertools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jaxtyping import Array, Float, Int, Key, Shaped

from rgvf.environments.libraries import ModuleProxy, private_copy

MAX_UNROLLED = 10
"""Longer loops stay loops, and longer sums sums."""
BRANCHES = 16
"""A choice among the cube of this (Craftax has so many cells) goes through sums of so many numbers each."""


def flat_copy(module: str) -> Any:
    """A copy of a module that computes the same in fewer and larger kernels. On a CPU it is slower than the module.

    Short loops are unrolled, and so are sums of a few integers and the like. Choices with probabilities search all
    places at once. `x.at[i].set(y)` and `x.at[i].add(y)` are selections among all of x, which can be fused with what
    comes before and after them.
    """
    copy = private_copy(module, _Edit(), _Places=_Places, _reductions=_REDUCTIONS)
    copy = _with(copy, ModuleProxy(jax.random, choice=_choice), scan=_scan, fori_loop=_fori_loop)
    copy.jnp = ModuleProxy(jnp, arange=_arange, **vars(_REDUCTIONS))
    return copy


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


class _Edit(ast.NodeTransformer):
    """x.at ↦ _Places(x), and x.sum() ↦ _reductions.sum(x)."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return ast.Call(ast.Name("_Places", ast.Load()), [node.value], []) if node.attr == "at" else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        method = node.func
        if isinstance(method, ast.Attribute) and method.attr in vars(_REDUCTIONS) and not node.args + node.keywords:
            reductions = ast.Name("_reductions", ast.Load())
            return ast.Call(ast.Attribute(reductions, method.attr, ast.Load()), [method.value], [])
        return node


class _Places:
    """x.at, where x.at[index] is of integers and whole axes."""

    def __init__(self, x: Any) -> None:
        self._x = jnp.asarray(x)

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
        x, chosen = self.x, jnp.ones(self.x.shape, bool)
        indexed = [axis for axis, place in enumerate(self.places) if not isinstance(place, slice)]
        for axis in indexed:  # masks of x's own shape: smaller ones would be kernels of their own
            place, size = jnp.asarray(self.places[axis]), x.shape[axis]
            place = jnp.where(place < 0, place + size, place)
            chosen &= jax.lax.broadcasted_iota(jnp.int32, x.shape, axis) == place
        rest = [size for axis, size in enumerate(x.shape) if axis not in indexed]
        new = jnp.broadcast_to(jnp.asarray(value).astype(x.dtype), rest)
        return jnp.where(chosen, change(x, jnp.expand_dims(new, indexed)), x)


def _scan(f: Any, init: Any, xs: Any) -> tuple[Any, Any]:
    """jax.lax.scan, unrolled where it is over a short array; known places in it are known to the compiler, too."""
    if not isinstance(xs, jax.Array | np.ndarray) or len(xs) > MAX_UNROLLED:
        return jax.lax.scan(f, init, xs)
    results = []
    for x in xs if isinstance(xs, Tracer) else np.asarray(xs):
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
    """jax.random.choice: the same number up to rounding, without a search by halves."""
    if p is None or not replace:
        return jax.random.choice(key, a, shape, replace, p)
    left = 1 - jax.random.uniform(key, shape, p.dtype)
    if len(p) == BRANCHES**3:
        return jnp.asarray(a)[_place_in_tree(p, left)]
    total = jnp.cumsum(p) if len(p) > 2 else jnp.stack([p[0], p[0] + p[1]])  # 2: which of two directions
    drawn = total[-1] * left
    places = sum(total[i] < drawn for i in range(2)) if len(p) == 2 else (total < drawn[..., None]).sum(-1)
    return jnp.asarray(a)[places]


def _place_in_tree(p: Float[Array, " n"], left: Float[Array, "*shape"]) -> Int[Array, "*shape"]:
    """Where the sum of p reaches this part of the whole: first among sums of many, then of fewer, then in p itself.

    Adding up in another order may round otherwise. A place without probability is never chosen.
    """
    leaves = p.reshape(-1, BRANCHES)
    twigs = leaves.sum(-1).reshape(-1, BRANCHES)
    place, before, drawn = jnp.zeros(left.shape, jnp.int32), jnp.zeros_like(left), None
    for level in (twigs.sum(-1)[None], twigs, leaves):
        here = level[place]
        through = list(itertools.accumulate((here[..., i] for i in range(BRANCHES)), jnp.add, initial=before))
        drawn = through[-1] * left if drawn is None else drawn
        below = [(total < drawn) & (total < through[-1]) for total in through[1:]]
        for total, is_below in zip(through[1:], below, strict=True):
            before = jnp.where(is_below, total, before)
        place = place * BRANCHES + sum(is_below.astype(jnp.int32) for is_below in below)
    return place


def _arange(*numbers: Any, **options: Any) -> Any:
    """jnp.arange; its numbers are known to the compiler where the ends are."""
    if options or not all(isinstance(each, int) for each in numbers):
        return jnp.arange(*numbers, **options)
    return np.arange(*numbers, dtype=np.int32)


def _short(reduction: Callable[[Any], Array], pair: Callable[[Any, Any], Any]) -> Callable[..., Array]:
    """A reduction, where it is of a few integers or booleans in pairs: it can then be fused with what needs it."""

    def reduce(x: Any, *arguments: Any, **options: Any) -> Array:
        is_short = not arguments and not options and jnp.ndim(x) == 1 and 0 < len(x) <= MAX_UNROLLED
        if not is_short or jnp.issubdtype(jnp.result_type(x), jnp.inexact):  # sums of floats would be rounded otherwise
            return cast(Any, reduction)(x, *arguments, **options)
        result = jax.eval_shape(reduction, x)
        return functools.reduce(pair, [x[i].astype(result.dtype) for i in range(len(x))])

    return reduce


def _argmax(x: Any, *arguments: Any, **options: Any) -> Array:
    """jnp.argmax: the first of the largest, of a few numbers in pairs."""
    is_short = not arguments and not options and jnp.ndim(x) == 1 and 0 < len(x) <= MAX_UNROLLED
    if not is_short or jnp.issubdtype(jnp.result_type(x), jnp.inexact):
        return jnp.argmax(x, *arguments, **options)
    best, place = x[0], jnp.int32(0)
    for i in range(1, len(x)):
        place, best = jnp.where(x[i] > best, i, place), jnp.maximum(x[i], best)
    return place


_REDUCTIONS = SimpleNamespace(
    sum=_short(jnp.sum, jnp.add),
    all=_short(jnp.all, jnp.logical_and),
    any=_short(jnp.any, jnp.logical_or),
    max=_short(jnp.max, jnp.maximum),
    min=_short(jnp.min, jnp.minimum),
    argmax=_argmax,
)
