from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.environments import Step, step_or_reset
from rgvf.environments.resets import AT_ONCE, reset_where


def reset(key):
    """A state with a random key, numbers and booleans, and an observation."""
    return {"key": key, "cell": jax.random.randint(key, (3,), 0, 100), "on": jnp.bool_(True)}, jax.random.normal(key)


def plain(tree):
    return jax.tree.map(
        lambda x: np.asarray(jax.random.key_data(x) if jnp.issubdtype(x.dtype, jax.dtypes.prng_key) else x), tree
    )


def assert_same(a, b):
    jax.tree.map(np.testing.assert_array_equal, plain(a), plain(b))


@pytest.mark.parametrize("ended", [0, 1, AT_ONCE, AT_ONCE + 1, 37])
def test_as_many_as_ended_are_reset_each_by_its_own_key(ended):
    n = 37
    going_on = jax.vmap(reset)(jax.random.split(jax.random.key(1), n))
    keys = jax.random.split(jax.random.key(2), n)
    which = np.zeros(n, bool)
    which[np.random.default_rng(0).permutation(n)[:ended]] = True
    found = jax.jit(jax.vmap(partial(reset_where, reset)))(jnp.asarray(which), keys, going_on)
    for i in range(n):
        expected = reset(keys[i]) if which[i] else jax.tree.map(lambda leaf, i=i: leaf[i], going_on)
        assert_same(jax.tree.map(lambda leaf, i=i: leaf[i], found), expected)


def test_seeds_and_single_environments_get_the_same():
    """One environment alone, a row of them, and rows of several seeds, some arguments shared by all."""
    keys = jax.random.split(jax.random.key(2), (3, 5))
    ended = jnp.asarray(np.random.default_rng(0).random((3, 5)) < 0.4)
    going_on = reset(jax.random.key(7))
    one = partial(reset_where, reset)
    found = jax.jit(jax.vmap(jax.vmap(one, (0, 0, None)), (0, 0, None)))(ended, keys, going_on)
    for i in range(3):
        row = jax.vmap(one, (0, 0, None))(ended[i], keys[i], going_on)
        assert_same(jax.tree.map(lambda leaf, i=i: leaf[i], found), row)
        for j in range(5):
            alone = jax.jit(one)(ended[i, j], keys[i, j], going_on)
            assert_same(jax.tree.map(lambda leaf, i=i, j=j: leaf[i, j], found), alone)


class Counter:
    """Counts; resets to a random number."""

    actions: tuple[str, ...] = ("on",)
    observation_shape: tuple[int, ...] = ()

    def __init__(self, costly: bool) -> None:
        self.costly_reset = costly

    def reset(self, key):
        start = jax.random.randint(key, (), 0, 100)
        return start, start.astype(jnp.float32)

    def step(self, state, action, key):
        return state + 1, Step((state + 1).astype(jnp.float32), jnp.float32(1), state > 50, state > 70)


def test_a_costly_reset_gives_what_a_cheap_one_gives():
    n = 20
    keys = jax.random.split(jax.random.key(0), n)
    state = jnp.arange(n) * 5
    ended = jnp.arange(n) % 3 == 0
    arguments = state, ended, jnp.zeros(n, int), keys
    costly, cheap = (jax.vmap(partial(step_or_reset, Counter(costly)))(*arguments) for costly in (True, False))
    assert_same(costly, cheap)
    assert not costly[1].reward[ended].any()
    assert costly[1].reward[~ended].all()
    assert not (costly[1].terminal | costly[1].truncated)[ended].any()


def test_costly_resets_are_not_computed_where_none_is_needed():
    """The compiled program calls back whenever it resets, once for those that it resets together."""
    calls = []

    def counted(key):
        jax.debug.callback(lambda: calls.append(1))
        return jax.random.normal(key)

    n = 40
    run = jax.jit(jax.vmap(partial(reset_where, counted)))
    for ended, expected in ((0, 0), (1, 1), (AT_ONCE, 1), (AT_ONCE + 1, 2)):
        calls.clear()
        jax.block_until_ready(run(jnp.arange(n) < ended, jax.random.split(jax.random.key(0), n), jnp.zeros(n)))
        jax.effects_barrier()
        assert len(calls) == expected
