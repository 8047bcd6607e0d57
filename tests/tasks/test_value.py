import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from rgvf.networks import DenseRepresentation
from rgvf.tasks import ValueTask, View
from tests.helpers import VECTOR, trajectory


def test_the_loss_and_its_gradient_by_hand():
    """Rewards 1, 2, 3 and values that are all 2: the second step is terminal, the third a reset step."""
    task = ValueTask(discount=0.5, hidden=3)
    representation = DenseRepresentation(jax.random.key(0), VECTOR.observation_shape, (4,))
    head, _ = task.init(jax.random.key(1), representation)
    head = eqx.tree_at(lambda h: h.output.bias, jax.tree.map(jnp.zeros_like, head), jnp.array([2.0]))
    batch = trajectory(VECTOR, environments=1, reward=[[1.0], [2.0], [3.0]], terminal=[(1, 0)], first=[(3, 0)])
    view = View.of(batch, representation)

    def loss(head):
        return task.loss(head, None, view, jax.random.key(0))[0]

    # Targets 1 + ½ · 2 = 2 and 2 + 0 = 2: no error. One unit of reward more at the first step is an error of 1.
    assert loss(head) == 0
    view = view._replace(trajectory=batch._replace(reward=batch.reward.at[0].add(1.0)))
    value, gradient = eqx.filter_value_and_grad(loss)(head)
    np.testing.assert_allclose(value, 0.5 / 3, rtol=1e-6)
    np.testing.assert_allclose(gradient.output.bias, [-1 / 3], rtol=1e-6)  # none flows through the target
