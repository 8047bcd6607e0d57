"""Copies of modules without loops and scatters, beside the modules themselves."""

import importlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.environments.flat_copy import BRANCHES, _place_in_tree, flat_copy

pytestmark = pytest.mark.loose_promotion

MODULE = """
import jax
import jax.numpy as jnp

def places(x, i, j, y):
    x = x.at[i, j].set(y)
    x = x.at[i].set(x[j] + 1).at[(j, 1)].set(3)
    x = x.at[:, i].set(x[0]).at[j, :].add(x[:, 2])
    x = x.at[jnp.array([0, 2])].max(2).at[i, j].multiply(3).at[..., 0].set(8).at[None, j].set(4)
    return x.at[0:2, 1].set(7).at[j, i].add(2)

def counted(start):
    return jax.lax.fori_loop(1, 4, lambda i, x: x * 2 + i, start)

def long(start):
    return jax.lax.fori_loop(0, 1000, lambda i, x: x + i, start)

def running(start, xs):
    return jax.lax.scan(lambda total, x: (total + x, total * x), start, xs)

def pairs(start, xs):
    return jax.lax.scan(lambda total, x: (total + x[0] * x[1], x[1]), start, (xs, xs + 1))

def reduced(x):
    few, many = x[:7], x
    results = [each.sum() for each in (few, many)] + [few.all(), few.any(), few.max(), few.min(), jnp.argmax(few)]
    of_all = [jnp.sum(few), jnp.all(few), jnp.any(few), jnp.max(few), jnp.min(few), many.argmax(), few[:1].sum()]
    square = few[:6].reshape(2, 3)
    return results + of_all + [square.sum(), square.sum(axis=1), jnp.max(square, 0), jnp.arange(2, 5) + few[0]]

def by_place(x):
    return jax.lax.scan(lambda total, i: (total * 2 + x[i], x.at[i].set(0)), 0, jnp.arange(4))

def which_of_two(key, p):
    return jax.random.choice(key, jnp.arange(2), p=p)

def drawn(key, p):
    a, b, c = jax.random.split(key, 3)
    values = jnp.arange(3, 3 + len(p))
    one, many = jax.random.choice(a, values, p=p), jax.random.choice(b, values, shape=(50,), p=p)
    return one, many, jax.random.choice(c, values, (4,)), jax.random.choice(c, values, (2,), replace=False, p=p)
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory):
    """A module and its copy."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "some_game_rules.py").write_text(MODULE)
    sys.path.insert(0, str(folder))
    yield importlib.import_module("some_game_rules"), flat_copy("some_game_rules")
    sys.path.remove(str(folder))
    del sys.modules["some_game_rules"]


@pytest.mark.parametrize(("i", "j"), [(0, 3), (2, -1), (-4, 1), (4, 0), (0, -5), (7, 9)])
def test_single_places_are_set_also_from_the_end_and_not_beyond_it(modules, i, j):
    x = jnp.arange(16, dtype=jnp.int32).reshape(4, 4)
    own, flat = (jax.jit(each.places)(x, jnp.int32(i), jnp.int32(j), jnp.int8(5)) for each in modules)
    np.testing.assert_array_equal(flat, own)
    assert flat.dtype == jnp.int32


def test_scans_give_the_last_state_and_all_results(modules):
    for name in ("running", "pairs"):
        results = (getattr(each, name)(jnp.float32(2), jnp.arange(5.0)) for each in modules)
        for own, flat in zip(*results, strict=True):
            np.testing.assert_array_equal(flat, own)


def test_counted_loops_are_unrolled_if_they_are_short(modules):
    for name in ("counted", "long"):
        own, flat = (getattr(each, name)(jnp.int32(1)) for each in modules)
        assert own == flat
    assert [str(jax.make_jaxpr(modules[1].counted)(1)).count(loop) for loop in ("scan", "while")] == [0, 0]


@pytest.mark.parametrize(("places", "likely"), [(30, 0.3), (BRANCHES**3, 0.3), (BRANCHES**3, 0.002)])
def test_choices_are_the_same(modules, places, likely):
    rng = np.random.default_rng(0)
    for seed in range(20):
        p = jnp.asarray(rng.random(places) * (rng.random(places) < likely), jnp.float32)
        for own, flat in zip(*(each.drawn(jax.random.key(seed), p / p.sum()) for each in modules), strict=True):
            np.testing.assert_array_equal(flat, own)


def test_a_place_without_probability_is_never_chosen():
    """Also where the sums are rounded: the numbers drawn are just above, at and below those of each sum."""
    rng = np.random.default_rng(0)
    p = jnp.asarray(rng.random(BRANCHES**3) * (rng.random(BRANCHES**3) < 0.1), jnp.float32)
    exact = np.cumsum(np.asarray(p, np.float64))
    left = jnp.asarray(np.clip((exact / exact[-1])[:, None] * (1 + 1e-7 * np.arange(-3, 4)), 1e-12, 1), jnp.float32)
    places = np.asarray(jax.jit(_place_in_tree)(p, left))
    assert (np.asarray(p)[places] > 0).all()
    # No further from where the exact sum is reached than rounding explains.
    reached = exact[places] / exact[-1]
    assert (reached > np.asarray(left) - 1e-5).all()
    assert (reached - np.asarray(p)[places] / exact[-1] < np.asarray(left) + 1e-5).all()


@pytest.mark.parametrize("places", [4, BRANCHES**3])
def test_without_any_place_to_choose_the_first_is_chosen(modules, places):
    nowhere = jnp.zeros(places) / 0
    for own, flat in zip(*(each.drawn(jax.random.key(0), nowhere) for each in modules), strict=True):
        np.testing.assert_array_equal(flat, own)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int32", "float32"])
def test_short_reductions_are_the_same(modules, dtype):
    rng = np.random.default_rng(0)
    for numbers in (rng.integers(-3, 4, 12), rng.integers(0, 2, 12), np.zeros(12), np.ones(12), np.arange(12) % 3):
        x = jnp.asarray(numbers).astype(dtype)
        for own, flat in zip(*(jax.jit(each.reduced)(x) for each in modules), strict=True):
            np.testing.assert_array_equal(flat, own)
            assert flat.dtype == own.dtype


def test_few_integers_are_reduced_in_pairs(modules):
    few = jax.ShapeDtypeStruct((7,), jnp.int32)
    own, flat = (str(jax.make_jaxpr(lambda x, f=f: (f.all(x != 3), f.argmax(x)))(few)) for f in (jnp, modules[1].jnp))
    assert "reduce" in own
    assert "argmax" in own
    assert "reduce" not in flat
    assert "argmax" not in flat


def test_known_places_are_slices(modules):
    x = jnp.arange(5, dtype=jnp.int32)
    for own, flat in zip(*(each.by_place(x) for each in modules), strict=True):
        np.testing.assert_array_equal(flat, own)
    assert "gather" not in str(jax.make_jaxpr(modules[1].by_place)(x))


def test_one_of_two_is_chosen_alike(modules):
    rng = np.random.default_rng(1)
    cases = [[1.0, 0.0], [0.0, 1.0], [0.5, 0.5], [np.nan, np.nan], [0.0, 0.0], *rng.dirichlet([1, 1], 40)]
    for seed, p in enumerate(cases):
        own, flat = (each.which_of_two(jax.random.key(seed), jnp.asarray(p, jnp.float32)) for each in modules)
        assert own == flat
