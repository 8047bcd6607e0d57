import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.networks import ConvRepresentation, ConvSize
from rgvf.networks.conv import Conv


def slow_conv(x, weight, bias, stride):
    """The definition, one output at a time."""
    kernel = weight.shape[0]
    n, height, width, _ = x.shape
    rows, columns = (height - kernel) // stride + 1, (width - kernel) // stride + 1
    out = np.zeros((n, rows, columns, weight.shape[-1]))
    for i in range(rows):
        for j in range(columns):
            window = x[:, i * stride : i * stride + kernel, j * stride : j * stride + kernel]
            out[:, i, j] = np.tensordot(window, weight, 3) + bias
    return out


@pytest.mark.parametrize(
    ("height", "width", "size"),
    [
        (12, 16, ConvSize(3, 8, 4)),
        (13, 15, ConvSize(3, 8, 4)),
        (9, 9, ConvSize(2, 4, 2)),
        (7, 7, ConvSize(2, 3, 1)),
        (9, 9, ConvSize(2, 3, 2)),
        (44, 40, ConvSize(2, 8, 4)),
        (36, 40, ConvSize(2, 3, 1)),
    ],
)
def test_convolution_equals_its_definition(height, width, size):
    conv = Conv(jax.random.key(0), 2, size)
    x = np.random.default_rng(0).normal(size=(2, height, width, 2)).astype(np.float32)
    expected = slow_conv(x, np.asarray(conv.weight), np.asarray(conv.bias), size.stride)
    np.testing.assert_allclose(conv(jnp.asarray(x)), expected, rtol=1e-4, atol=1e-4)


def test_the_paper_s_layers():
    representation = ConvRepresentation(jax.random.key(0), (84, 84, 4))
    shapes = [layer.weight.shape for layer in representation.convolutions]
    assert shapes == [(8, 8, 4, 32), (4, 4, 32, 64), (3, 3, 64, 64)]
    assert representation.size == 7 * 7 * 64
    assert representation(jnp.zeros((2, 3, 84, 84, 4), jnp.uint8)).shape == (2, 3, 3136)


def test_bytes_are_taken_as_0_to_1():
    representation = ConvRepresentation(jax.random.key(0), (10, 10, 4), (ConvSize(16, 3, 1),), (128,))
    image = jax.random.randint(jax.random.key(1), (10, 10, 4), 0, 256).astype(jnp.uint8)
    expected = representation(image.astype(jnp.float32) / 255)
    np.testing.assert_allclose(representation(image), expected, rtol=1e-5, atol=1e-6)


def test_an_image_that_is_too_small_is_refused():
    with pytest.raises(ValueError, match="20×84 is too small"):
        ConvRepresentation(jax.random.key(0), (20, 84, 4))
