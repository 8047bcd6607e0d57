import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.agents import AgentConfig, Learner
from rgvf.networks import DenseRepresentation
from rgvf.spec import EnvironmentSpec
from rgvf.tasks import CURLSettings, CURLTask, View
from rgvf.tasks.curl import contrastive_loss, crop
from tests.helpers import ATARI, SMALL_IMAGE, learner_of, trajectory


def test_the_paper_s_layers():
    learner = learner_of(AgentConfig("curl"), ATARI)
    assert learner.tasks[1].task == CURLTask(CURLSettings(margin=4), hidden=512)
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


def normalised(x):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)


@pytest.mark.parametrize(("layer_norm", "scale"), [(False, 1.0), (True, 0.1)])
def test_the_loss_equals_a_plain_computation(layer_norm, scale):
    """Without a margin nothing is random."""
    task = CURLTask(CURLSettings(margin=0, outputs=4, layer_norm=layer_norm, logit_scale=scale), hidden=5)
    representation = DenseRepresentation(jax.random.key(0), (3, 3, 1), (6,))
    params, _ = task.init(jax.random.key(1), representation)
    older = DenseRepresentation(jax.random.key(2), (3, 3, 1), (6,))
    _, state = task.init(jax.random.key(3), older)
    # Step 1 of environment 1 is a reset step.
    batch = trajectory(EnvironmentSpec((3, 3, 1), "float32", ("a", "b")), first=[(2, 1)])
    view = View.of(batch, representation)
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
        query = encode(representation, params.encoder, batch.observation[t, b])
        logits = []
        for other in samples:
            key = encode(state.representation, state.encoder, batch.observation[other])
            logits.append(scale * query @ np.asarray(params.similarity) @ key)
        own = samples.index((t, b))
        total += np.log(np.sum(np.exp(logits))) - logits[own]
        right += int(np.argmax(logits)) == own
    np.testing.assert_allclose(loss, total / 6, rtol=1e-4)
    np.testing.assert_allclose(metrics["accuracy"], right / 5, rtol=1e-6)

    # The moving averages go a thousandth of the way to what they follow.
    for old, new, target in zip(
        jax.tree.leaves(state), jax.tree.leaves(after), jax.tree.leaves((representation, params.encoder)), strict=True
    ):
        np.testing.assert_allclose(new, old + 0.001 * (target - old), rtol=1e-5, atol=1e-7)


def test_labels_are_the_diagonal():
    logits = jnp.array([[2.0, 0.0], [1.0, 3.0]])
    expected = (np.log(1 + np.exp(-2.0)) + np.log(1 + np.exp(-2.0))) / 2
    np.testing.assert_allclose(contrastive_loss(logits, jnp.array([True, True])), expected, rtol=1e-6)


def test_the_key_encoder_follows_the_agent_and_gets_no_gradient():
    learner = learner_of(AgentConfig(CURLSettings(outputs=4, step=0.25), hidden=8), SMALL_IMAGE)
    agent = learner.init(jax.random.key(0))
    batch = trajectory(SMALL_IMAGE)
    update = jax.jit(Learner(learner.representation, learner.tasks[1:]).update)
    after, _ = update(agent, batch, jax.random.key(1))
    assert bool(jnp.any(agent.modules["curl"].similarity != after.modules["curl"].similarity))
    for old, new in zip(*(jax.tree.leaves(each.task_states["curl"]) for each in (agent, after)), strict=True):
        np.testing.assert_array_equal(old, new)  # it began as a copy, and what it follows had not moved yet
    later, _ = update(after, batch, jax.random.key(2))
    followed = after.modules["representation"], after.modules["curl"].encoder
    for old, new, target in zip(
        *map(jax.tree.leaves, (after.task_states["curl"], later.task_states["curl"], followed)), strict=True
    ):
        np.testing.assert_allclose(new, old + 0.25 * (target - old), rtol=1e-5, atol=1e-6)
