import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rgvf.questions import QuestionNetwork, figure_1a, mask, random_network, targets
from tests.questions.strategies import network_arguments


def by_definition(network, features, next_answers, terminal):
    """The equation of the paper as a dense product."""
    alive = next_answers * (1 - terminal)[..., None]
    return np.concatenate([alive, features], -1) @ network.dense.T


def batch(network, seed, shape=(3, 4)):
    rng = np.random.default_rng(seed)
    return (
        rng.normal(size=(*shape, network.n_features)).astype(np.float32),
        rng.normal(size=(*shape, network.n_predictions)).astype(np.float32),
        rng.random(shape) < 0.3,
    )


@settings(max_examples=60, deadline=None)
@given(network_arguments(max_nodes=30), st.integers(0, 1000))
def test_sparse_targets_equal_the_dense_product(arguments, seed):
    network = QuestionNetwork(**arguments)
    features, answers, terminal = batch(network, seed)
    expected = by_definition(network, features, answers, terminal)
    np.testing.assert_allclose(targets(network.table, features, answers, terminal), expected, atol=1e-4)
    on_device = targets(network.table, jnp.array(features), jnp.array(answers), jnp.array(terminal))
    np.testing.assert_allclose(on_device, expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(5))
def test_sparse_targets_of_the_random_generator(seed):
    network = random_network(16, 6, depth=4, repeat=16, seed=seed)
    values = batch(network, seed, (20,))
    np.testing.assert_allclose(targets(network.table, *values), by_definition(network, *values), atol=1e-4)


@pytest.mark.parametrize("edges", [1, 8, 9, 64, 65, 1000])
def test_a_node_with_any_number_of_edges(edges):
    features = [f"f{k}" for k in range(edges)]
    network = QuestionNetwork(features, ["wide", "narrow"], [*(("wide", f) for f in features), ("narrow", "wide")])
    values = batch(network, edges)
    np.testing.assert_allclose(targets(network.table, *values), by_definition(network, *values), atol=1e-3)
    # The rows stay narrow: what is gathered is about as many numbers as there are edges, not nodes × edges.
    table = network.table
    assert sum(gather.index.size for gather in (*table.to_predictions, *table.to_features)) <= 2 * edges + 32


def test_what_a_node_does_not_ask_about_does_not_reach_it():
    """Also where it is not a number; an edge of weight 0 is none."""
    edges = [("value", "f"), ("value", "value", 0.9), ("far", "value"), ("near", "f"), ("near", "g", 0.0)]
    network = QuestionNetwork(["bad", "g", "f"], ["broken", "value", "far", "near"], [("broken", "bad"), *edges])
    features = np.array([[np.nan, np.inf, 2.0]], np.float32)
    answers = np.array([[np.nan, 10.0, np.nan, np.nan]], np.float32)
    for array in (np.asarray, jnp.asarray):
        target = targets(network, array(features), array(answers), array([False]))
        np.testing.assert_allclose(target, [[np.nan, 11, 10, 2]])


def test_a_network_without_edges_between_its_nodes():
    network = QuestionNetwork(["f"], ["next", "twice"], [("next", "f"), ("twice", "f", 2.0)])
    assert network.table.to_predictions[0].index.shape == (2, 0)
    values = np.full((1, 1), 3, np.float32), np.full((1, 2), np.nan, np.float32), np.array([False])
    np.testing.assert_array_equal(targets(network, *values), [[3, 6]])


def test_answers_after_a_terminal_step_count_as_zero_even_if_they_are_nan():
    network = figure_1a()
    answers = np.full((1, 6), np.nan, np.float32)
    target = targets(network.table, np.ones((1, 2), np.float32), answers, np.array([True]))
    np.testing.assert_array_equal(target, [[1, 0, 0, 0, 1, 1]])


def test_a_conditioned_node_learns_only_where_its_action_was_taken():
    # Nodes 1, 2, 5, 6 are unconditioned; 3 asks about action a (0), 4 about b (1).
    learns = mask(figure_1a().table, np.array([[0], [1]]))
    np.testing.assert_array_equal(learns[:, 0], [[1, 1, 1, 0, 1, 1], [1, 1, 0, 1, 1, 1]])


@pytest.mark.parametrize("action", ["left", 0.5, True, None, ["a"], np.array([0.0, 1.0]), jnp.array([0.0, 1.0])])
def test_what_is_no_index_of_an_action_is_refused(action):
    for table in (figure_1a(), figure_1a().table):
        with pytest.raises(ValueError, match=r"an action is an index into `network.actions`, a whole number, not "):
            mask(table, action)


@pytest.mark.parametrize("action", [2, -1, [0, 5], np.array([[0], [-2]]), np.uint8(7)])
def test_an_action_that_the_network_does_not_have_is_refused(action):
    with pytest.raises(ValueError, match=r"there is no action (2|-1|5|-2|7): `network.actions` has 2, from 0 on"):
        mask(figure_1a(), action)
    assert mask(figure_1a().table, action).shape == (*np.shape(action), 6)


def test_no_action_and_actions_of_a_network_without_any():
    np.testing.assert_array_equal(mask(figure_1a().table, -1), [1, 1, 0, 0, 1, 1])
    np.testing.assert_array_equal(mask(QuestionNetwork(["f"], ["x"], [("x", "f")]), [7, -1]), [[1], [1]])
    learns = jax.jit(lambda action: mask(figure_1a(), action))(jnp.array([0, 5]))
    np.testing.assert_array_equal(learns, mask(figure_1a().table, np.array([0, 5])))


def test_arrays_of_the_wrong_width_are_refused():
    table = figure_1a().table
    for features, answers in ((3, 6), (2, 5)):
        with pytest.raises(ValueError, match="must end in an axis of"):
            targets(table, np.ones(features), np.ones(answers), np.array(False))


def test_questions_about_no_feature():
    network = QuestionNetwork([], ["a"], [("a", "a", 0.9)])
    for xp in (np, jnp):
        features, answers = xp.ones((3, 0), np.float32), xp.ones((3, 1), np.float32)
        np.testing.assert_allclose(targets(network, features, answers, xp.zeros(3, bool)), [[0.9]] * 3)


def test_no_steps_have_no_targets_and_too_many_are_refused():
    table = figure_1a().table
    for xp in (np, jnp):
        none = targets(table, xp.ones((0, 3, 2)), xp.ones((0, 3, 6)), xp.zeros((0, 3), bool))
        assert none.shape == (0, 3, 6)
    features, answers = (np.broadcast_to(np.float32(1), (2**29, width)) for width in (2, 6))
    with pytest.raises(ValueError, match="3,221,225,472 numbers are too many to gather from"):
        targets(table, features, answers, np.array(False))


def test_single_steps_plain_flags_and_mixed_arrays():
    network = figure_1a()
    features, answers = np.array([1.0, 2.0], np.float32), np.arange(6, dtype=np.float32)
    expected = by_definition(network, features, answers, np.array(0))
    np.testing.assert_allclose(targets(network.table, features, answers, False), expected)
    np.testing.assert_allclose(jax.jit(lambda f: targets(network.table, f, answers, False))(features), expected)
    np.testing.assert_array_equal(mask(network.table, 0), [1, 1, 1, 0, 1, 1])


def test_a_network_may_be_given_in_place_of_its_table():
    network = figure_1a()
    features, answers, terminal = np.ones((3, 2)), np.ones((3, 6)), np.zeros(3, bool)
    np.testing.assert_array_equal(
        targets(network, features, answers, terminal), targets(network.table, features, answers, terminal)
    )
    np.testing.assert_array_equal(mask(network, np.array([0, 1])), mask(network.table, np.array([0, 1])))
