"""Quick keys beside plain integers, and how random what they give is."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.environments.quick_keys import quick_key, wrap_quick_key

WORD = 2**32


def test_the_published_value_of_the_finaliser():
    assert mixed(1) == 0x514E28B7


def mixed(x):
    """MurmurHash3's finaliser, in Python's integers."""
    x = (x ^ (x >> 16)) * 0x85EBCA6B % WORD
    x = (x ^ (x >> 13)) * 0xC2B2AE35 % WORD
    return x ^ (x >> 16)


def number(key, i):
    return mixed(int(key[1]) ^ mixed((int(key[0]) + (i + 1) * 0x9E3779B9) % WORD))


@pytest.mark.parametrize("seed", [0, 1, 2**31])
def test_numbers_and_splits_are_those_of_plain_integers(seed):
    words = np.asarray(jax.random.key_data(jax.random.key(seed)))
    key = quick_key(jax.random.key(seed))
    np.testing.assert_array_equal(jax.random.key_data(key), words)
    expected = [number(words, i) for i in range(12)]
    np.testing.assert_array_equal(jax.random.bits(key, (3, 4)), np.reshape(expected, (3, 4)))
    np.testing.assert_array_equal(jax.random.key_data(jax.random.split(key, 6)), np.reshape(expected, (6, 2)))


def test_they_do_all_that_keys_do():
    keys = jax.random.split(quick_key(jax.random.key(3)), 5)
    once, again = (jax.jit(jax.vmap(lambda key: jax.random.permutation(key, 7)))(keys) for _ in range(2))
    np.testing.assert_array_equal(once, again)
    np.testing.assert_array_equal(np.sort(once), np.tile(np.arange(7), (5, 1)))
    np.testing.assert_array_equal(once[2], jax.random.permutation(keys[2], 7))
    seeded = [int(jax.random.bits(jax.random.key(seed, impl=jax.random.key_impl(keys)))) for seed in range(100)]
    assert len(set(seeded)) == 100
    folded = [int(jax.random.bits(jax.random.fold_in(keys[0], i))) for i in range(100)]
    assert len(set(folded)) == 100
    assert jax.random.bits(keys[0], (), jnp.uint8).dtype == jnp.uint8
    with pytest.raises(ValueError, match="8, 16 or 32 bits, not 64"), jax.enable_x64(True):
        jax.random.bits(keys[0], (), jnp.uint64)


def test_each_bit_of_a_key_changes_half_of_what_it_gives():
    words = jax.random.bits(jax.random.key(0), (2000, 2))
    draw = jax.jit(jax.vmap(lambda each: jax.random.bits(wrap_quick_key(each), (2,))))
    before = draw(words)
    for word in range(2):
        for bit in range(32):
            flip = np.zeros((1, 2), np.uint32)
            flip[0, word] = 1 << bit
            changed = np.asarray(jax.lax.population_count(before ^ draw(words ^ flip)), float) / 32
            assert abs(changed.mean() - 0.5) < 0.03, (word, bit)


def test_numbers_along_a_chain_of_splits_are_uniform_and_independent():
    """As games draw: split off a key, draw from it, and split the other one again."""
    games, length = 20_000, 30

    @jax.jit
    @jax.vmap
    def play(key):
        drawn = []
        for _ in range(length):
            key, now = jax.random.split(key)
            drawn.append(jax.random.uniform(now))
        return jnp.stack(drawn)

    keys = jax.vmap(quick_key)(jax.random.split(jax.random.key(1), games))
    x = np.asarray(play(keys), float)
    assert_uniform(np.floor(x * 64).astype(int), 64)
    for lag in (1, 2, 7):
        pairs = np.floor(x[:, lag:] * 16) * 16 + np.floor(x[:, :-lag] * 16)
        assert_uniform(pairs.astype(int), 256)
    neighbours = np.floor(x[1:] * 16) * 16 + np.floor(x[:-1] * 16)
    assert_uniform(neighbours.astype(int), 256)


def test_keys_whose_words_are_small_numbers_give_uniform_and_independent_ones():
    words = np.stack(np.meshgrid(np.arange(200), np.arange(200)), -1).reshape(-1, 2).astype(np.uint32)
    x = np.asarray(jax.jit(jax.vmap(lambda each: jax.random.uniform(wrap_quick_key(each), (4,))))(words), float)
    assert_uniform(np.floor(x * 64).astype(int), 64)
    assert_uniform((np.floor(x[1:] * 16) * 16 + np.floor(x[:-1] * 16)).astype(int), 256)
    correlations = np.corrcoef(x.T)[np.triu_indices(4, 1)]
    assert np.abs(correlations).max() < 4.5 / np.sqrt(len(x))


def assert_uniform(places, n):
    """Chi-squared of how often each place occurs is within five standard deviations of what it should be."""
    counts = np.bincount(places.ravel(), minlength=n)
    expected = places.size / n
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_squared - (n - 1)) < 5 * np.sqrt(2 * (n - 1))
