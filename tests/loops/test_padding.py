"""Question networks of different shapes, padded to one."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig, World, make_learner
from rgvf.trajectory import Trajectory

T, B = 6, 4
IMAGE, VECTOR = (10, 10, 4), (7,)
AGENT = AgentConfig("rgvf", hidden=16, features=6, depth=3, repeat=4)


def world_of(shape):
    return World(shape, ("left", "right", "fire"))


def batch(shape):
    rng = np.random.default_rng(0)
    terminal = rng.random((T, B)) < 0.1
    return Trajectory(
        jnp.asarray(rng.random((T + 1, B, *shape)), jnp.float32),
        jnp.asarray(rng.integers(3, size=(T, B))),
        jnp.asarray(rng.normal(size=(T, B)), jnp.float32),
        jnp.asarray(terminal),
        jnp.concatenate([jnp.zeros((2, B), bool), jnp.asarray(terminal)[:-1]]),
    )


@pytest.mark.parametrize(
    ("shape", "name", "stop_gradient"),
    [
        (IMAGE, "rgvf", True),
        (VECTOR, "rgvf", False),
        (VECTOR, "rgvf-no-actions", False),
        (IMAGE, "rgvf-shallow", False),
        (VECTOR, "rgvf-discounted-sum", True),
    ],
)
def test_a_padded_agent_learns_what_it_learns_without(shape, name, stop_gradient):
    plain = dataclasses.replace(AGENT, name=name, stop_gradient=stop_gradient)
    padded = dataclasses.replace(plain, pad_predictions=111, pad_features=53)
    results = []
    for config in (plain, padded):
        learner = make_learner(config, world_of(shape), 3)
        agent, metrics = learner.init(jax.random.key(0)), {}
        for step in range(2):
            agent, metrics = jax.jit(learner.update)(agent, batch(shape), jax.random.key(step))
        results.append((agent, metrics))
    (a, told), (b, told_padded) = results
    for metric, value in told.items():
        np.testing.assert_allclose(value, told_padded[metric], rtol=1e-5)
    for module in ("representation", "a2c"):
        for x, y in zip(*(jax.tree.leaves(each.modules[module]) for each in (a, b)), strict=True):
            np.testing.assert_allclose(x, y, atol=1e-5)
    ours, wide = a.modules[name].output.weight, b.modules[name].output.weight
    np.testing.assert_allclose(ours, wide[:, : ours.shape[1]], atol=1e-5)
    assert wide.shape[1] == 111
    assert not wide[:, ours.shape[1] :].any()


def test_too_little_room_is_refused():
    for field, least in (("pad_predictions", 6 + 3 * 4 * 3), ("pad_features", 6)):
        with pytest.raises(ValueError, match=f"{field} must be at least the {least} that are asked, not 5"):
            make_learner(dataclasses.replace(AGENT, **{field: 5}), world_of(IMAGE), 0)
    with pytest.raises(ValueError, match="features like reward cannot be padded"):
        make_learner(AgentConfig("mhvp", pad_predictions=20), world_of(IMAGE), 0)
