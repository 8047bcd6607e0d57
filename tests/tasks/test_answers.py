import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rgvf.features import RandomLinear
from rgvf.networks import DenseRepresentation
from rgvf.questions import random_network
from rgvf.spec import EnvironmentSpec
from rgvf.tasks import AnswersTask, View, question_arrays
from tests.helpers import trajectory

T, B, SHAPE, ACTIONS = 5, 3, (4,), 3
SPEC = EnvironmentSpec(SHAPE, "float32", ("left", "stay", "right"))


@pytest.fixture(scope="module")
def case():
    """A task, its head and questions, and a batch with terminal and reset steps."""
    feature = RandomLinear(jax.random.key(0), SHAPE, 2)
    network = random_network(feature.names, ACTIONS, discount=0.7, depth=2, repeat=3, seed=0)
    task = AnswersTask(question_arrays(network, feature, gradient_scale=0.5), hidden=6)
    representation = DenseRepresentation(jax.random.key(1), SHAPE, (8, 5))
    head, state = task.init(jax.random.key(2), representation)
    batch = trajectory(
        SPEC, steps=T, environments=B, terminal=[(1, 0), (3, 2)], first=[(3, 0), (5, 2), (0, 1)], reward=0.0
    )
    return task, network, feature, representation, head, state, batch


def loss_of(case, head, representation, batch=None):
    task, *_, state, own_batch = case
    batch = own_batch if batch is None else batch
    view = View.of(batch, representation)
    return task.loss(head, state, view, jax.random.key(0))[0]


def slow_loss(case, head, representation, frozen_answers):
    """One step, one node at a time, in float64, with the answers in the targets given."""
    _, network, feature, *_, batch = case
    weight = np.asarray(feature.weight, np.float64)
    observation = np.asarray(batch.observation, np.float64)
    answers = answers_of(head, representation, observation)
    total = 0.0
    for t in range(T):
        for b in range(B):
            if batch.first[t + 1, b]:
                continue
            change = np.abs(observation[t + 1, b] @ weight - observation[t, b] @ weight)
            following = np.zeros(network.n_predictions) if batch.terminal[t, b] else frozen_answers[t + 1, b]
            target = network.dense @ np.concatenate([following, change])
            for i, condition in enumerate(network.conditions):
                if condition is None or condition == int(batch.action[t, b]):
                    total += 0.5 * (target[i] - answers[t, b, i]) ** 2
    return total / (T * B)


def answers_of(head, representation, observation):
    x = observation.reshape(*observation.shape[:2], -1)
    for layer in (*representation.mlp.layers, head.hidden):
        x = np.maximum(x @ np.asarray(layer.weight, np.float64) + np.asarray(layer.bias, np.float64), 0)
    return x @ np.asarray(head.output.weight, np.float64) + np.asarray(head.output.bias, np.float64)


def test_the_loss_equals_a_plain_computation(case):
    _, _, _, representation, head, _, batch = case
    frozen = answers_of(head, representation, np.asarray(batch.observation, np.float64))
    np.testing.assert_allclose(
        loss_of(case, head, representation), slow_loss(case, head, representation, frozen), rtol=1e-4
    )


def test_gradients_equal_finite_differences_with_the_targets_held_fixed(case):
    _, _, _, representation, head, _, batch = case
    frozen = answers_of(head, representation, np.asarray(batch.observation, np.float64))
    by_head = eqx.filter_grad(lambda h: loss_of(case, h, representation))(head)
    by_representation = eqx.filter_grad(lambda r: loss_of(case, head, r))(representation)
    rng = np.random.default_rng(1)
    places = [
        (lambda h, r: h.output.weight, by_head.output.weight, 1.0),
        (lambda h, r: h.hidden.weight, by_head.hidden.weight, 0.5),  # the gradient scale
        (lambda h, r: r.mlp.layers[0].weight, by_representation.mlp.layers[0].weight, 0.5),
    ]
    for where, gradient, scale in places:
        for _ in range(6):
            i, j = (int(rng.integers(n)) for n in gradient.shape)
            difference = []
            for sign in (1, -1):
                nudged = _nudge(where(head, representation), i, j, sign)
                moved = eqx.tree_at(lambda m, where=where: where(*m), (head, representation), nudged)
                difference.append(slow_loss(case, moved[0], moved[1], frozen))
            expected = scale * (difference[0] - difference[1]) / (2 * STEP)
            np.testing.assert_allclose(gradient[i, j], expected, rtol=2e-2, atol=1e-4)


STEP = 1e-3


def _nudge(array, i, j, sign):
    moved = np.asarray(array, np.float64).copy()
    moved[i, j] += sign * STEP
    return moved


def test_nodes_whose_action_was_not_taken_get_no_gradient(case):
    _, network, _, representation, head, _, batch = case
    only = batch._replace(action=jnp.zeros_like(batch.action))
    gradient = eqx.filter_grad(lambda h: loss_of(case, h, representation, only))(head)
    for i, condition in enumerate(network.conditions):
        silent = np.all(np.asarray(gradient.output.weight[:, i]) == 0) and gradient.output.bias[i] == 0
        assert silent == (condition not in (None, 0)), network.predictions[i]


def test_reset_steps_teach_nothing(case):
    _, _, _, representation, head, _, batch = case
    changed = batch._replace(action=batch.action.at[2, 0].add(1) % ACTIONS)  # the step after the end at t = 1
    assert loss_of(case, head, representation) == loss_of(case, head, representation, changed)
    seen = batch._replace(observation=batch.observation.at[3, 0].add(1.0))
    gradient = eqx.filter_grad(lambda b: loss_of(case, head, representation, b))(batch)
    assert np.all(np.asarray(gradient.observation[2, 0]) == 0)
    assert loss_of(case, head, representation) != loss_of(case, head, representation, seen)  # but the next step counts


def test_questions_about_other_features_are_refused():
    feature = RandomLinear(jax.random.key(0), SHAPE, 2)
    with pytest.raises(ValueError, match="'f0'"):
        question_arrays(random_network(2, 2, depth=1, repeat=1, seed=0), feature)
