import jax
import jax.numpy as jnp
import numpy as np

from rgvf.networks import MLP, Dense, DenseRepresentation, Head
from rgvf.networks.layers import initial_weight


def test_initial_weights_are_cut_at_two_deviations_and_not_rescaled():
    weight = np.asarray(initial_weight(jax.random.key(0), (400, 500), 400)) * np.sqrt(400)
    assert np.abs(weight).max() <= 2
    # A standard normal cut at ±2 has deviation 0.8796.
    assert abs(weight.std() - 0.8796) < 0.005
    assert np.all(np.asarray(Dense(jax.random.key(0), 3, 4).bias) == 0)


def test_mlp_by_hand():
    mlp = MLP(jax.random.key(1), 5, (4, 3))
    x = np.random.default_rng(0).normal(size=(2, 5)).astype(np.float32)
    hidden = np.maximum(x @ np.asarray(mlp.layers[0].weight), 0)
    expected = np.maximum(hidden @ np.asarray(mlp.layers[1].weight), 0)
    np.testing.assert_allclose(mlp(jnp.asarray(x)), expected, rtol=1e-5)


def test_layers_of_one_network_start_from_different_weights():
    mlp = MLP(jax.random.key(1), 4, (4, 4))
    assert not np.allclose(mlp.layers[0].weight, mlp.layers[1].weight)


def test_the_gradient_scale_reaches_all_but_the_output_layer():
    head = Head(jax.random.key(2), 5, 7, 3)
    states = jax.random.normal(jax.random.key(3), (4, 5))

    def loss(head, states, scale):
        return jnp.sum(head(states, scale) ** 2)

    plain, plain_states = jax.grad(loss, (0, 1))(head, states, 1.0)
    scaled, scaled_states = jax.grad(loss, (0, 1))(head, states, 0.25)
    np.testing.assert_allclose(loss(head, states, 0.25), loss(head, states, 1.0), rtol=1e-5)
    np.testing.assert_allclose(scaled.output.weight, plain.output.weight, rtol=1e-5)
    np.testing.assert_allclose(scaled.hidden.weight, 0.25 * plain.hidden.weight, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(scaled_states, 0.25 * plain_states, rtol=1e-4, atol=1e-6)


def test_a_head_without_hidden_units_is_linear():
    head = Head(jax.random.key(2), 5, 0, 3)
    states = jax.random.normal(jax.random.key(3), (4, 5))
    np.testing.assert_allclose(head(states), states @ head.output.weight, rtol=1e-5)


def test_dense_representation_flattens_any_observation():
    representation = DenseRepresentation(jax.random.key(0), (9, 9, 2), (64, 64, 32))
    assert representation.size == 32
    assert [layer.weight.shape for layer in representation.mlp.layers] == [(162, 64), (64, 64), (64, 32)]
    assert representation(jnp.zeros((6, 5, 9, 9, 2), jnp.uint8)).shape == (6, 5, 32)


def test_a_dense_representation_takes_bytes_as_0_to_1():
    representation = DenseRepresentation(jax.random.key(0), (4,), (6,))
    observation = jnp.array([0, 51, 102, 255], jnp.uint8)
    expected = representation(jnp.array([0.0, 0.2, 0.4, 1.0]))
    np.testing.assert_allclose(representation(observation), expected, rtol=1e-5)
