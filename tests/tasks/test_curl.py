import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig, Learner, World, make_learner
from rgvf.auxiliary import CURLTask, View
from rgvf.auxiliary.curl import contrastive_loss, crop
from rgvf.networks import DenseRepresentation
from rgvf.trajectory import Trajectory


def test_the_paper_s_layers():
    world = World((84, 84, 4), ("a", "b", "c"), stacked=True)
    learner = make_learner(AgentConfig(name="curl"), world, 0)
    assert getattr(learner.tasks[1].task, "margin", None) == 4
    agent = jax.eval_shape(lambda: learner.init(jax.random.key(0)))
    params = agent.modules["curl"]
    assert params.encoder.hidden.weight.shape == (3136, 512)
    assert params.encoder.output.weight.shape == (512, 128)
    assert params.similarity.shape == (128, 128)


def test_a_crop_is_a_random_window_padded_back_in_the_middle():
    image = 1 + np.arange(84 * 84 * 4).reshape(84, 84, 4)
    images = jnp.asarray(np.broadcast_to(image, (300, 84, 84, 4)))
    cropped = np.asarray(crop(jax.random.key(0), images, 4))
    assert cropped.shape == images.shape
    corners = set()
    for each in cropped:
        for edge in (each[:2], each[-2:], each[:, :2], each[:, -2:]):
            assert not edge.any()
        y, x = np.unravel_index((each[2, 2, 0] - 1) // 4, (84, 84))
        np.testing.assert_array_equal(each[2:82, 2:82], image[y : y + 80, x : x + 80])
        corners.add((int(y), int(x)))
    assert corners == {(y, x) for y in range(5) for x in range(5)}


def batch(seed=0, steps=3, envs=2):
    rng = np.random.default_rng(seed)
    first = np.zeros((steps + 1, envs), bool)
    first[2, 1] = True  # step 1 of environment 1 is a dummy
    return Trajectory(
        jnp.asarray(rng.normal(size=(steps + 1, envs, 3, 3, 1)), jnp.float32),
        jnp.zeros((steps, envs), jnp.int32),
        jnp.zeros((steps, envs)),
        jnp.zeros((steps, envs), bool),
        jnp.asarray(first),
    )


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize(("layer_norm", "scale"), [(False, 1.0), (True, 0.1)])
def test_the_loss_is_what_a_plain_computation_gives(layer_norm, scale):
    """Without a margin there is nothing random in it."""
    task = CURLTask(margin=0, hidden=5, outputs=4, layer_norm=layer_norm, logit_scale=scale)
    representation = DenseRepresentation(jax.random.key(0), (3, 3, 1), (6,))
    params, _ = task.init(jax.random.key(1), representation)
    older = DenseRepresentation(jax.random.key(2), (3, 3, 1), (6,))
    _, state = task.init(jax.random.key(3), older)
    trajectory = batch()
    view = View(trajectory, representation, representation.unroll(trajectory))
    loss, after, metrics = task.loss(params, state, view, jax.random.key(4))

    def encode(representation, encoder, sample):
        x = np.asarray(sample, np.float64).reshape(-1)
        for layer in representation.mlp.layers:
            x = np.maximum(x @ np.asarray(layer.weight) + np.asarray(layer.bias), 0)
        norm = normalised if layer_norm else lambda x: x
        x = np.maximum(norm(x @ np.asarray(encoder.hidden.weight) + np.asarray(encoder.hidden.bias)), 0)
        return norm(x @ np.asarray(encoder.output.weight) + np.asarray(encoder.output.bias))

    samples = [(t, b) for t in range(3) for b in range(2) if (t, b) != (1, 1)]
    total, right = 0.0, 0
    for t, b in samples:
        query = encode(representation, params.encoder, trajectory.observation[t, b])
        logits = []
        for other in samples:
            key = encode(state.representation, state.encoder, trajectory.observation[other])
            logits.append(scale * query @ np.asarray(params.similarity) @ key)
        own = samples.index((t, b))
        total += np.log(np.sum(np.exp(logits))) - logits[own]
        right += int(np.argmax(logits)) == own
    np.testing.assert_allclose(loss, total / 6, rtol=1e-4)
    np.testing.assert_allclose(metrics["accuracy"], right / 6, rtol=1e-6)

    # The moving averages go a thousandth of the way to what they follow.
    for old, new, target in zip(
        jax.tree.leaves(state), jax.tree.leaves(after), jax.tree.leaves((representation, params.encoder)), strict=True
    ):
        np.testing.assert_allclose(new, old + 0.001 * (target - old), rtol=1e-5, atol=1e-7)


def test_labels_are_the_diagonal():
    logits = jnp.array([[2.0, 0.0], [1.0, 3.0]])
    expected = (np.log(1 + np.exp(-2.0)) + np.log(1 + np.exp(-2.0))) / 2
    np.testing.assert_allclose(contrastive_loss(logits, jnp.array([True, True])), expected, rtol=1e-6)


@jax.numpy_dtype_promotion("standard")  # for Optax
def test_the_key_encoder_follows_the_agent_and_gets_no_gradient():
    world = World((10, 10, 2), ("a", "b"))
    learner = make_learner(AgentConfig(name="curl", hidden=8, curl_outputs=4, curl_step=0.25), world, 0)
    agent = learner.init(jax.random.key(0))
    rng = np.random.default_rng(0)
    trajectory = Trajectory(
        jnp.asarray(rng.integers(0, 256, size=(4, 2, 10, 10, 2)), jnp.uint8),
        jnp.zeros((3, 2), jnp.int32),
        jnp.asarray(rng.normal(size=(3, 2)), jnp.float32),
        jnp.zeros((3, 2), bool),
        jnp.zeros((4, 2), bool),
    )
    update = jax.jit(Learner(learner.representation, learner.tasks[1:]).update)
    after, _ = update(agent, trajectory, jax.random.key(1))
    assert bool(jnp.any(agent.modules["curl"].similarity != after.modules["curl"].similarity))
    for old, new in zip(*(jax.tree.leaves(each.task_states["curl"]) for each in (agent, after)), strict=True):
        np.testing.assert_array_equal(old, new)  # it began as a copy, and what it follows had not moved yet
    later, _ = update(after, trajectory, jax.random.key(2))
    followed = after.modules["representation"], after.modules["curl"].encoder
    for old, new, target in zip(
        *map(jax.tree.leaves, (after.task_states["curl"], later.task_states["curl"], followed)), strict=True
    ):
        np.testing.assert_allclose(new, old + 0.25 * (target - old), rtol=1e-5, atol=1e-6)
