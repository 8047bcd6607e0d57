"""Random keys that are cheap to split, for games that split keys dozens of times a step.

A split of JAX's own keys (Threefry) is 160 operations, so on a GPU each is a kernel of its own. A split of these is
thirty, which are fused with what needs the numbers. They are for games, not for secrets: no two numbers of a key are
equal, and those drawn from a key that is also split are those that its new keys are made of.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.random import define_prng_impl
from jaxtyping import Array, Key, UInt32

GOLDEN = np.uint32(0x9E3779B9)
"""2³² divided by the golden ratio: its multiples are far apart."""


def quick_key(key: Key[Array, ""]) -> Key[Array, ""]:
    """A key for all of `jax.random` with the two words of a key of JAX's own."""
    return wrap_quick_key(jax.random.key_data(key))


def wrap_quick_key(words: UInt32[Array, "2"]) -> Key[Array, ""]:
    """The key of two words; `jax.random.key_data` gives them back.

    Words should be random. All keys with the same second word share one cycle of numbers, and where the first ones
    are a small multiple of `GOLDEN` apart, they give the same ones a little later.
    """
    return jax.random.wrap_key_data(words, impl=_QUICK)


def _mix(x: UInt32[Array, "..."]) -> UInt32[Array, "..."]:
    """A bijection that scatters its input: the finaliser of MurmurHash3 (Austin Appleby, public domain)."""
    x = (x ^ (x >> np.uint32(16))) * np.uint32(0x85EBCA6B)
    x = (x ^ (x >> np.uint32(13))) * np.uint32(0xC2B2AE35)
    return x ^ (x >> np.uint32(16))


def _words(key: UInt32[Array, "2"], shape: Sequence[int]) -> UInt32[Array, "..."]:
    """Number i is mix(k₁ ⊕ mix(k₀ + i · GOLDEN)), i = 1, 2, …"""
    i = jax.lax.iota(jnp.uint32, math.prod(shape)).reshape(shape)
    return _mix(key[1] ^ _mix(key[0] + (i + np.uint32(1)) * GOLDEN))


def _bits(key: UInt32[Array, "2"], bit_width: int, shape: Sequence[int]) -> Array:
    """Numbers of 8, 16 or 32 bits."""
    types = {8: jnp.uint8, 16: jnp.uint16, 32: jnp.uint32}
    if bit_width not in types:
        raise ValueError(f"quick keys give numbers of 8, 16 or 32 bits, not {bit_width}")
    return _words(key, shape).astype(types[bit_width])


def _split(key: UInt32[Array, "2"], shape: Sequence[int]) -> UInt32[Array, "... 2"]:
    """Keys of the next numbers, two for each."""
    return _words(key, (*shape, 2))


def _seed(seed: Array) -> UInt32[Array, "2"]:
    return _words(jnp.stack([seed.astype(jnp.uint32), jnp.uint32(0)]), (2,))


def _fold_in(key: UInt32[Array, "2"], data: Any) -> UInt32[Array, "2"]:
    return _words(jnp.stack([key[0], key[1] ^ _mix(jnp.asarray(data).astype(jnp.uint32) + GOLDEN)]), (2,))


_QUICK = define_prng_impl(
    key_shape=(2,), seed=_seed, split=_split, random_bits=_bits, fold_in=_fold_in, name="rgvf quick", tag="quick"
)
