"""Pytrees as flat dictionaries of named NumPy arrays, for checkpoints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a pytree by their path in it, without what is `is_derived`."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree, is_leaf=is_derived)
    return {jax.tree_util.keystr(path): np.asarray(raw(leaf)) for path, leaf in leaves if not is_derived(leaf)}


def is_derived(node: Any) -> bool:
    """Whether a part of a pytree follows from the configuration and the question networks: it then has the attribute
    `is_derived = True`.
    """
    return getattr(node, "is_derived", False) is True


def derived_parts(tree: Any) -> list[Any]:
    """What `is_derived` in a pytree."""
    return [leaf for leaf in jax.tree.leaves(tree, is_leaf=is_derived) if is_derived(leaf)]


def fill(template: Any, arrays: Mapping[str, np.ndarray], derived: Iterable[Any] = ()) -> Any:
    """A pytree like the template, which may have shapes in place of arrays, with what `named_arrays` gave.

    Args:
        template: what `is_derived` is taken from it, unless it is given.
        arrays: by name.
        derived: `derived_parts` of such a tree.

    Raises:
        ValueError: the arrays do not belong to such a tree.
    """

    given = iter(derived)

    def read(path: Any, leaf: Any) -> Any:
        if is_derived(leaf):
            return next(given, leaf)
        name, like = jax.tree_util.keystr(path), raw(leaf)
        if name not in arrays:
            raise ValueError(f"there is no array {name}")
        array = arrays[name]
        if array.shape != like.shape or array.dtype != like.dtype:
            raise ValueError(f"{name} is {array.dtype}{array.shape}, not {like.dtype}{like.shape}")
        return jax.random.wrap_key_data(jnp.asarray(array)) if like is not leaf else jnp.asarray(array)

    return jax.tree_util.tree_map_with_path(read, template, is_leaf=is_derived)


def raw(leaf: Any) -> Any:
    """A leaf as an array of numbers, or the shape of one: random keys as the integers that they hold."""
    if not isinstance(leaf, jax.Array | jax.ShapeDtypeStruct) or not jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return leaf
    return jax.random.key_data(leaf) if isinstance(leaf, jax.Array) else jax.eval_shape(jax.random.key_data, leaf)
