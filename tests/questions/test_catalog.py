from collections import Counter

import numpy as np
import pytest

from rgvf.questions import (
    discounted_sum,
    full_tree,
    horizon_discounts,
    multi_horizon_values,
    reward_prediction,
    shallow,
    termination_prediction,
)


def test_reward_prediction():
    np.testing.assert_array_equal(reward_prediction().dense, [[0, 1]])


def test_multi_horizon_values_have_horizons_from_1_to_90_steps():
    dense = multi_horizon_values().dense
    horizons = 1 / (1 - np.diag(dense[:, :10]))
    np.testing.assert_allclose(horizons, [1, 10, 20, 30, 40, 50, 60, 70, 80, 90])
    np.testing.assert_array_equal(dense[:, 10], 1)
    assert horizon_discounts(1) == (0.0,)
    assert Counter(horizon_discounts(200))[0.0] == 3  # horizons of 0, ½ and 1 step
    assert multi_horizon_values(np.linspace(0, 0.99, 1024).tolist()).n_predictions == 1024


def test_termination_prediction():
    np.testing.assert_array_equal(termination_prediction().dense, [[1, 1]])


def test_discounted_sum():
    np.testing.assert_array_equal(discounted_sum(["a", "b"], 0.8).dense, [[0.8, 0, 1, 0], [0, 0.8, 0, 1]])


def test_shallow():
    network = shallow(["f", "g"], ["l", "r"])
    assert network.conditions == (0, 1, 0, 1)
    np.testing.assert_array_equal(network.dense[:, 4:], [[1, 0], [1, 0], [0, 1], [0, 1]])


@pytest.mark.parametrize(("depth", "nodes"), [(1, 4), (2, 20), (3, 84), (4, 340)])
def test_full_tree_has_every_action_sequence(depth, nodes):
    assert full_tree("touch", 4, depth).n_predictions == nodes


def test_full_tree_of_depth_2_is_figure_2b():
    network = full_tree("f", ["a", "b"], 2)
    edges = {name: {t for s, t, _ in network.edges if s == name} for name in network.predictions}
    assert edges == {
        "a": {"f"},
        "b": {"f"},
        "a,a": {"a", "f"},
        "a,b": {"b", "f"},
        "b,a": {"a", "f"},
        "b,b": {"b", "f"},
    }
    assert dict(zip(network.predictions, network.conditions, strict=True))["b,a"] == 1  # b is done first
    with pytest.raises(ValueError, match="depth"):
        full_tree("f", 2, 0)


def test_names_that_run_into_each_other_are_refused():
    with pytest.raises(ValueError, match="named twice"):
        shallow(["x", "x if y"], ["y if z", "z"])
    with pytest.raises(ValueError, match="named twice"):
        full_tree("f", ["a", "a,a"], 2)
