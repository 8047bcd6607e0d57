import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import MAIN, REPRESENTATION, AgentConfig, Learner, World, make_learner, make_questions
from rgvf.agents.tasks import gradient_scale
from rgvf.features import RandomPatches
from rgvf.trajectory import Trajectory

ATARI = World((84, 84, 4), ("NOOP", "FIRE", "RIGHT", "LEFT"), stacked=True)
SMALL = World((10, 10, 2), ("a", "b", "c"))
VECTOR = World((4,), ("left", "right"))


def batch(world, seed=0, steps=3, envs=2):
    rng = np.random.default_rng(seed)
    shape = (steps + 1, envs, *world.observation_shape)
    return Trajectory(
        jnp.asarray(rng.integers(0, 256, size=shape), jnp.uint8),
        jnp.asarray(rng.integers(len(world.actions), size=(steps, envs)), jnp.int32),
        jnp.asarray(rng.normal(size=(steps, envs)), jnp.float32),
        jnp.zeros((steps, envs), bool),
        jnp.zeros((steps + 1, envs), bool),
    )


@pytest.mark.parametrize(
    ("name", "n_features", "n_predictions", "trained"),
    [
        ("rgvf", 16, 16 + 8 * 16 * 4, 16 + 8 * 16),
        ("rgvf-no-actions", 16, 16 + 8 * 16 * 4, 16 + 8 * 16 * 4),
        ("rgvf-shallow", 128, 128 * 4, 128),
        ("rgvf-discounted-sum", 16 + 8 * 16 * 4, 16 + 8 * 16 * 4, 16 + 8 * 16 * 4),
    ],
)
def test_the_paper_s_questions_for_atari(name, n_features, n_predictions, trained):
    network, features = make_questions(AgentConfig(name=name), ATARI, 0, name)
    assert (network.n_features, network.n_predictions) == (n_features, n_predictions)
    assert features.names == network.features
    assert isinstance(features, RandomPatches)
    assert features.weight.shape == (-(-n_features // 16), 441)
    np.testing.assert_allclose(jnp.linalg.norm(features.weight, axis=1), 8.0, rtol=1e-5)
    assert gradient_scale(network) == pytest.approx(trained**-0.5)


def test_the_paper_s_layers_for_atari():
    agent = make_learner(AgentConfig(), ATARI, 0).init(jax.random.key(0))
    assert agent.modules[REPRESENTATION].size == 3136
    assert agent.modules[MAIN].hidden.weight.shape == (3136, 512)
    assert agent.modules[MAIN].policy.weight.shape == (512, 4)
    assert agent.modules["rgvf"].hidden.weight.shape == (3136, 512)
    assert agent.modules["rgvf"].output.weight.shape == (512, 528)


@pytest.mark.parametrize("world", [SMALL, VECTOR], ids=["small image", "vector"])
@pytest.mark.parametrize("name", ["a2c", "rgvf", "rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum"])
def test_every_agent_learns_in_every_kind_of_world(world, name):
    learner = make_learner(AgentConfig(name=name, depth=2, repeat=3, hidden=16), world, 0)
    agent = learner.init(jax.random.key(0))
    after, metrics = jax.jit(learner.update)(agent, batch(world), jax.random.key(1))
    assert all(np.isfinite(value) for value in metrics.values())
    moved = jax.tree.map(lambda a, b: bool(jnp.any(a != b)), agent.modules, after.modules)
    assert any(jax.tree.leaves(moved[REPRESENTATION]))


def test_an_atari_shaped_update_shares_its_pass_exactly():
    """With stop-gradient, one fused update equals RL first and the answers after it, on the paper's network."""
    config = AgentConfig(stop_gradient=True)
    learner = make_learner(config, ATARI, 0)
    agent = learner.init(jax.random.key(0))
    key, experience = jax.random.key(1), batch(ATARI)
    together, _ = jax.jit(learner.update)(agent, experience, key)
    after_rl, _ = jax.jit(Learner(learner.representation, learner.tasks[:1]).update)(agent, experience, key)
    for before, after in zip(
        jax.tree.leaves(agent.modules[REPRESENTATION]), jax.tree.leaves(after_rl.modules[REPRESENTATION]), strict=True
    ):
        np.testing.assert_array_equal(before, after)
    apart, _ = jax.jit(Learner(learner.representation, learner.tasks[1:]).update)(after_rl, experience, key)
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(apart), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_c_multiplies_the_auxiliary_learning_rate():
    def change(c):
        learner = make_learner(AgentConfig(c=(c,), depth=2, repeat=3, hidden=16, stop_gradient=True), VECTOR, 0)
        agent = learner.init(jax.random.key(0))
        after, _ = learner.update(agent, batch(VECTOR), jax.random.key(1))
        return np.asarray(after.modules["rgvf"].output.weight - agent.modules["rgvf"].output.weight)

    np.testing.assert_allclose(change(0.5), 0.5 * change(1.0), rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        (dict(name="rgvv"), "did you mean rgvf"),
        (dict(name="a2c", stop_gradient=True), "stop_gradient"),
        (dict(depth=0), "depth"),
        (dict(repeat=-1), "repeat"),
        (dict(features=0), "features"),
        (dict(discount=1.0), "discount"),
        (dict(learning_rate=0.0), "learning_rate"),
        (dict(c=(float("nan"),)), "c must"),
        (dict(entropy=-0.1), "entropy"),
    ],
)
def test_a_wrong_configuration_is_refused_with_the_field_named(wrong, named):
    with pytest.raises(ValueError, match=named):
        AgentConfig(**wrong)


def test_what_does_not_fit_the_observation_is_refused():
    for config, what in (
        (AgentConfig(representation="conv"), "needs an image"),
        (AgentConfig(feature_kind="patches"), "needs an image"),
    ):
        with pytest.raises(ValueError, match=what):
            make_learner(config, VECTOR, 0).init(jax.random.key(0))
    with pytest.raises(ValueError, match="repeat 33 is too large: layer 1 has only 32"):
        make_questions(AgentConfig(repeat=33), ATARI, 0)
