import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.loops import Rewards


@pytest.mark.parametrize("array", [np.asarray, jnp.asarray])
def test_rewards_are_scaled_then_clipped(array):
    reward = array(np.array([-30, -1, 0, 0.5, 30], np.float32))
    np.testing.assert_array_equal(Rewards()(reward), reward)
    np.testing.assert_allclose(Rewards(0.1)(reward), [-3, -0.1, 0, 0.05, 3], rtol=1e-6)
    np.testing.assert_allclose(Rewards(0.1, 1.0)(reward), [-1, -0.1, 0, 0.05, 1], rtol=1e-6)
    assert Rewards(0.1, 1.0)(reward).dtype == np.float32
