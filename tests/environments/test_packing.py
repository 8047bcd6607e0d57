"""Trees as a few arrays, and back."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from rgvf.environments.packing import LARGE, Packing


class State(NamedTuple):
    """Of several types and sizes."""

    board: Any
    """Large."""
    health: Any
    position: Any
    wall: Any
    alone: Any
    """The only one of its type."""
    key: Any


def make(seed: Any) -> State:
    key = jax.random.key(seed)
    numbers = jnp.arange(LARGE + 1, dtype=jnp.int32) + seed
    walls = jax.random.bernoulli(key, 0.5, (2, 2))
    return State(numbers, numbers[7], numbers[:6].reshape(3, 2), (walls, walls[0, 0]), jnp.float32(seed), key)


def equal(one: Any, other: Any) -> None:
    assert jax.tree.structure(one) == jax.tree.structure(other)
    for a, b in zip(jax.tree.leaves(one), jax.tree.leaves(other), strict=True):
        assert a.dtype == b.dtype
        a, b = (jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x for x in (a, b))
        np.testing.assert_array_equal(a, b)


def test_a_tree_comes_back_as_it_was_alone_and_among_others():
    packing = Packing(jax.eval_shape(make, 0))
    equal(packing.unpack(packing.pack(make(3))), make(3))
    many = jax.vmap(make)(jnp.arange(5))
    equal(jax.jit(jax.vmap(packing.unpack))(jax.jit(jax.vmap(packing.pack))(many)), many)


def test_small_arrays_of_a_type_are_one_and_large_ones_stay():
    packed = Packing(make(0)).pack(make(2))
    assert sorted((str(each.dtype), each.size) for each in packed) == [
        ("bool", 5),
        ("float32", 1),
        ("int32", 7),
        ("int32", LARGE + 1),
        ("key<fry>", 1),
    ]
