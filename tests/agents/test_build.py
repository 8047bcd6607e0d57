import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import MAIN, REPRESENTATION, AgentConfig, Learner
from rgvf.tasks import DiscountedSums, NoActions, RandomQuestions, Shallow
from tests.helpers import ATARI, SMALL_IMAGE, VECTOR, learner_of, trajectory

pytestmark = pytest.mark.medium


def test_the_paper_s_layers_for_atari():
    agent = eqx.filter_eval_shape(learner_of(AgentConfig(), ATARI).init, jax.random.key(0))
    assert agent.modules[REPRESENTATION].size == 3136
    assert agent.modules[MAIN].hidden.weight.shape == (3136, 512)
    assert agent.modules[MAIN].policy.weight.shape == (512, 4)
    assert agent.modules["rgvf"].hidden.weight.shape == (3136, 512)
    assert agent.modules["rgvf"].output.weight.shape == (512, 528)


@pytest.mark.parametrize("spec", [SMALL_IMAGE, VECTOR], ids=["small image", "vector"])
@pytest.mark.parametrize("kind", [None, RandomQuestions, NoActions, Shallow, DiscountedSums])
def test_every_agent_learns_from_every_kind_of_observation(spec, kind):
    tasks = "a2c" if kind is None else kind(depth=2, repeat=3)
    learner = learner_of(AgentConfig(tasks, hidden=16), spec)
    agent = learner.init(jax.random.key(0))
    after, metrics = jax.jit(learner.update)(agent, trajectory(spec), jax.random.key(1))
    assert all(np.isfinite(value) for value in metrics.values())
    moved = jax.tree.map(lambda a, b: bool(jnp.any(a != b)), agent.modules, after.modules)
    assert any(jax.tree.leaves(moved[REPRESENTATION]))


@pytest.mark.slow
def test_one_shared_pass_equals_two_on_atari():
    """With stop-gradient, one fused update equals the main task's and then the answers', on the paper's network."""
    learner = learner_of(AgentConfig(stop_gradient=True), ATARI)
    agent = learner.init(jax.random.key(0))
    key, experience = jax.random.key(1), trajectory(ATARI)
    together, _ = jax.jit(learner.update)(agent, experience, key)
    after_main, _ = jax.jit(Learner(learner.representation, learner.tasks[:1]).update)(agent, experience, key)
    for before, after in zip(
        jax.tree.leaves(agent.modules[REPRESENTATION]), jax.tree.leaves(after_main.modules[REPRESENTATION]), strict=True
    ):
        np.testing.assert_array_equal(before, after)
    apart, _ = jax.jit(Learner(learner.representation, learner.tasks[1:]).update)(after_main, experience, key)
    for a, b in zip(jax.tree.leaves(together), jax.tree.leaves(apart), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)


def test_c_multiplies_the_auxiliary_learning_rate():
    def make(c):
        config = AgentConfig(RandomQuestions(depth=2, repeat=3), c=(c,), hidden=16, stop_gradient=True)
        return learner_of(config, VECTOR)

    # Agents carry their learning rates, so that one compiled update serves both.
    update = jax.jit(make(1.0).update)

    def change(c):
        agent = make(c).init(jax.random.key(0))
        after, _ = update(agent, trajectory(VECTOR), jax.random.key(1))
        return np.asarray(after.modules["rgvf"].output.weight - agent.modules["rgvf"].output.weight)

    assert np.any(change(1.0))
    np.testing.assert_allclose(change(0.5), 0.5 * change(1.0), rtol=1e-3, atol=1e-7)


@pytest.mark.parametrize(
    "config", [AgentConfig(representation="conv"), AgentConfig(RandomQuestions(feature_kind="patches"))]
)
def test_what_needs_an_image_is_refused_without_one(config):
    with pytest.raises(ValueError, match="needs an image"):
        learner_of(config, VECTOR).init(jax.random.key(0))
