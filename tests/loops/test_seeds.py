"""Both kinds of seed axis hold the same values and give the same results."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.loops import ListedSeeds, StackedSeeds, on_host

SEEDS = [3, 4, 5]


def one_seed(state, key, shared):
    """Some function of the values of one seed."""
    drawn = jax.random.normal(key, state["x"].shape)
    return {"x": state["x"] * shared + drawn}, jnp.sum(drawn)


@pytest.mark.parametrize("kind", [ListedSeeds, StackedSeeds])
def test_a_function_of_one_seed_is_applied_to_each(kind):
    axis = kind(SEEDS)
    states = [{"x": jnp.arange(4.0) + seed} for seed in SEEDS]
    keys = [jax.random.key(seed) for seed in SEEDS]
    mapped, total = axis.map(one_seed, shared=1)(axis.stack(states), axis.stack(keys), jnp.float32(2))
    for state, key, result, sum_ in zip(states, keys, axis.unstack(mapped), axis.unstack(total), strict=True):
        expected, expected_sum = one_seed(state, key, jnp.float32(2))
        np.testing.assert_allclose(result["x"], expected["x"], rtol=1e-6)
        np.testing.assert_allclose(sum_, expected_sum, rtol=1e-5)


@pytest.mark.parametrize("kind", [ListedSeeds, StackedSeeds])
def test_values_come_back_as_they_went_in(kind):
    axis = kind(SEEDS)
    assert len(axis) == 3
    values = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(axis.to_host(axis.to_device(values)), values)
    np.testing.assert_array_equal(np.stack(axis.unstack(axis.stack([jnp.asarray(row) for row in values]))), values)
    first, second = axis.to_device(values), axis.to_device(-values)
    pairs = axis.zip([first, second])
    np.testing.assert_array_equal(axis.to_host(axis.pick(pairs, 1)), -values)
    keys = [jax.random.key(seed) for seed in SEEDS]
    for key, same in zip(keys, axis.unstack(axis.stack(keys)), strict=True):
        assert jax.random.normal(key) == jax.random.normal(same)


@pytest.mark.parametrize("known", [True, False])
def test_what_many_small_steps_make_is_made_on_the_cpu_if_jax_has_it(monkeypatch, known):
    monkeypatch.setattr(jax, "default_backend", lambda: "gpu")
    devices = jax.local_devices()

    def local_devices(*, backend):
        if not known:
            raise RuntimeError(f"Unknown backend {backend}")
        assert backend == "cpu"
        return devices

    monkeypatch.setattr(jax, "local_devices", local_devices)
    config: Any = jax.config
    with on_host():
        assert config.jax_default_device == (devices[0] if known else None)
    assert config.jax_default_device is None


def test_stacking_compiles_nothing(request):
    """On a GPU each small program takes as long to compile as a second of training."""
    compiled: list[str] = []

    def notice(event: str, duration_secs: float, **kwargs: str | int) -> None:
        del duration_secs, kwargs
        if "backend_compile" in event:
            compiled.append(event)

    jax.monitoring.register_event_duration_secs_listener(notice)
    request.addfinalizer(lambda: jax.monitoring.unregister_event_duration_listener(notice))
    axis = StackedSeeds(SEEDS)
    stacked: Any = axis.stack([{"x": jax.device_put(np.full((13, 17, 3), seed, np.float32))} for seed in SEEDS])
    assert not compiled
    np.testing.assert_array_equal(stacked["x"][:, 2, 1, 0], SEEDS)
    assert compiled  # by the line above: it is noticed
