import jax
import jax.numpy as jnp
import numpy as np
import optax

from rgvf.agents.optimisers import auxiliary_optimiser, main_optimiser

RATE, DECAY, EPSILON = 7e-4, 0.99, 1e-5
GRADIENTS = [np.array([3.0, -4.0]), np.array([0.1, 0.2]), np.array([-1.0, 1e-4])]


def run(optimiser):
    params = jnp.zeros(2)
    state = optimiser.init(params)
    steps = []
    for gradient in GRADIENTS:
        with jax.numpy_dtype_promotion("standard"):  # Optax converts types on purpose
            update, state = optimiser.update(jnp.asarray(gradient, jnp.float32), state, params)
        steps.append(np.asarray(update))
    return steps


def test_the_main_optimiser_clips_then_divides_by_the_root_of_the_mean_square_plus_epsilon():
    mean_square = np.zeros(2)
    for gradient, update in zip(GRADIENTS, run(main_optimiser(RATE, DECAY, EPSILON, clip=0.5)), strict=True):
        clipped = gradient * min(1, 0.5 / np.linalg.norm(gradient))
        mean_square = DECAY * mean_square + (1 - DECAY) * clipped**2
        np.testing.assert_allclose(update, -RATE * clipped / np.sqrt(mean_square + EPSILON), rtol=1e-4)


def test_the_auxiliary_optimiser_corrects_the_bias_and_does_not_clip():
    mean_square = np.zeros(2)
    updates = run(auxiliary_optimiser(RATE, DECAY, EPSILON))
    for t, (gradient, update) in enumerate(zip(GRADIENTS, updates, strict=True), 1):
        mean_square = DECAY * mean_square + (1 - DECAY) * gradient**2
        corrected = mean_square / (1 - DECAY**t)
        np.testing.assert_allclose(update, -RATE * gradient / np.sqrt(corrected + EPSILON), rtol=1e-4)


def test_the_auxiliary_optimiser_is_adam_without_momentum():
    adam = optax.adam(RATE, b1=0.0, b2=DECAY, eps=0.0, eps_root=EPSILON)
    for ours, theirs in zip(run(auxiliary_optimiser(RATE, DECAY, EPSILON)), run(adam), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5)
