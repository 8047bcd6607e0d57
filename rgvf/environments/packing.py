"""A tree of many small arrays as a few larger ones.

A compiled loop copies what it carries and selects where an episode has ended, on a GPU one array after another. The
state of an environment may have fifty arrays of a few numbers each.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

LARGE = 256
"""Arrays of more numbers stay as they are."""


class Packing:
    """How trees like an example are packed: their small arrays one after another, by type.

    Args:
        example: arrays, or their shapes and types.
    """

    def __init__(self, example: Any) -> None:
        self._leaves, self._structure = jax.tree.flatten(example)
        groups: dict[Any, list[int]] = {}
        for i, leaf in enumerate(self._leaves):
            groups.setdefault(leaf.dtype if math.prod(leaf.shape) <= LARGE else i, []).append(i)
        self._groups = list(groups.values())

    def pack(self, tree: Any) -> tuple[Array, ...]:
        """A tree as a tuple of arrays."""
        leaves = jax.tree.leaves(tree)
        return tuple(
            jnp.concatenate([leaves[i].ravel() for i in group]) if len(group) > 1 else leaves[group[0]]
            for group in self._groups
        )

    def unpack(self, packed: tuple[Array, ...]) -> Any:
        """The tree again."""
        leaves: dict[int, Array] = {}
        for group, array in zip(self._groups, packed, strict=True):
            stops = np.cumsum([math.prod(self._leaves[i].shape) for i in group])
            parts = jnp.split(array, stops[:-1]) if len(group) > 1 else [array]
            leaves |= {i: part.reshape(self._leaves[i].shape) for i, part in zip(group, parts, strict=True)}
        return self._structure.unflatten([leaves[i] for i in range(len(leaves))])
