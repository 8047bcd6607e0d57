import copy
import dataclasses
import itertools
import math
import time

import numpy as np
import pytest

from rgvf.questions import QuestionNetwork, figure_1a, multi_horizon_values, termination_prediction


def network(**changes):
    fields = dict(
        features=["f"],
        predictions={"x": None, "y": "left"},
        edges=[("x", "f"), ("x", "x", 0.5), ("y", "x")],
        actions=["left", "right"],
    )
    return QuestionNetwork(**{**fields, **changes})


@pytest.mark.unchecked_types
@pytest.mark.parametrize(
    ("changes", "named", "why"),
    [
        (dict(edges=[("x", "f"), ("y", "x"), ("z", "f")]), "'z'", "unknown node"),
        (dict(edges=[("x", "f"), ("y", "nowhere")]), "'y'", "nothing"),
        (dict(edges=[("x", "f"), ("y", "x"), ("f", "x")]), "'f'", "only prediction nodes ask"),
        (dict(edges=[("x", "f"), ("x", "x", 1.1), ("y", "x")]), "'x'", "amplifies"),
        (dict(edges=[("x", "f"), ("x", "x", -1.1), ("y", "x")]), "'x'", "amplifies"),
        (dict(edges=[("x", "f"), ("x", "y", 2.0), ("y", "x", 0.6)]), "'x'", "amplifies"),
        (dict(predictions={"x": None, "y": 2}), "'y'", "out of range"),
        (dict(predictions={"x": None, "y": -1}), "'y'", "out of range"),
        (dict(predictions={"x": None, "y": "up"}), "'y'", "unknown action"),
        (dict(predictions={"x": None, "y": True}), "'y'", "name or a number"),
        (dict(edges=[("x", "f", math.nan), ("y", "x")]), "'x'", "finite"),
        (dict(edges=[("x", "f", math.inf), ("y", "x")]), "'x'", "finite"),
        (dict(edges=[("x", "f", 10**400), ("y", "x")]), "'x'", "finite"),
        (dict(edges=[("x", "f", "1"), ("y", "x")]), "'x'", "number"),
        (dict(edges=[("x", "f"), ("x", "f", 2.0), ("y", "x")]), "'x'", "twice"),
        (dict(edges=[("x", "f")]), "'y'", "no outgoing edge"),
        (dict(predictions={}, edges=[]), "", "no prediction nodes"),
        (dict(predictions=["x", "x"]), "'x'", "twice"),
        (dict(features=["f", "f"]), "'f'", "twice"),
        (dict(features=["f", "x"]), "'x'", "both a feature and a prediction"),
        (dict(features=[""]), "''", "non-empty"),
        (dict(features="f"), "'f'", "single string"),
        (dict(predictions="xy"), "'xy'", "single string"),
        (dict(actions="ab"), "'ab'", "single string"),
        (dict(actions=-1), "-1", "how many"),
        (dict(actions=True), "True", "how many"),
        (dict(actions=2.5), "2.5", "how many"),
        (dict(features=["\ud800"]), "ud800", "surrogates"),
        (dict(predictions=[["x"]]), "['x']", "non-empty string"),
        (dict(edges=[3]), "3", "an edge is"),
        (dict(edges=[(["x"], "f")]), "['x']", "strings"),
    ],
)
def test_a_wrong_network_is_refused_with_the_node_named(changes, named, why):
    with pytest.raises(ValueError, match=why) as error:
        network(**changes)
    assert named in str(error.value)


def test_a_condition_is_the_name_of_an_action_or_its_number():
    assert network(predictions={"x": None, "y": 1}) == network(predictions={"x": None, "y": "right"})


def test_two_loops_of_point_nine_through_one_node_amplify():
    # |W| = [[0, .9, .9], [1, 0, 0], [1, 0, 0]] has radius sqrt(1.8), though every single loop is below 1.
    edges = [("hub", "f"), ("hub", "a", 0.9), ("hub", "b", 0.9), ("a", "hub"), ("b", "hub")]
    with pytest.raises(ValueError, match="'hub'.*1.34164"):
        QuestionNetwork(["f"], ["hub", "a", "b"], edges)
    QuestionNetwork(["f"], ["hub", "a", "b"], [(s, t, 0.5 if w else 1.0) for s, t, *w in edges])


def test_a_weight_above_one_outside_a_loop_is_fine():
    assert network(edges=[("x", "f", 5.0), ("y", "x", 7.0)]).needs_termination == set()


def test_undiscounted_sums_and_nodes_that_depend_on_them_need_termination():
    mixed = QuestionNetwork(
        ["one"],
        ["steps", "later", "value", "ring a", "ring b"],
        [
            ("steps", "one"),
            ("steps", "steps", 1.0),
            ("later", "steps", 0.3),
            ("value", "one"),
            ("value", "value", 0.99),
            ("ring a", "ring b", 2.0),
            ("ring b", "ring a", 0.5),
            ("ring b", "one"),
        ],
    )
    assert mixed.needs_termination == {"steps", "later", "ring a", "ring b"}
    assert termination_prediction().needs_termination == {"steps left"}
    assert multi_horizon_values().needs_termination == set()  # its loop of weight 0 among them


def test_an_edge_of_weight_zero_closes_no_loop():
    mixed = QuestionNetwork(["f"], ["a", "b"], [("a", "f"), ("a", "b", 3.0), ("b", "a", 0.0), ("b", "f")])
    assert all(len(part) == 1 for part in mixed.components)


@pytest.mark.unchecked_types
def test_counts_may_be_numpy_s_and_names_may_come_from_generators():
    made = QuestionNetwork((f for f in ["f"]), (p for p in "xy"), (e for e in [("x", "f"), ("y", "x")]), np.int64(2))  # pyright: ignore
    assert made == QuestionNetwork(["f"], ["x", "y"], [["x", "f"], ["y", "x", np.float32(1)]], ["0", "1"])  # pyright: ignore


def test_a_copy_is_equal_whatever_was_cached_before():
    network = figure_1a()
    _ = network.table, network.index, network.dense
    assert copy.deepcopy(network) == network
    with pytest.raises(TypeError):
        network.index["x"] = 1  # pyright: ignore[reportIndexIssue]
    with pytest.raises(ValueError, match="read-only"):
        network.table.to_features[0].weight[:] = 5


def test_immutable_and_compared_by_content():
    first, second = figure_1a(), figure_1a()
    assert first == second
    assert hash(first) == hash(second)
    assert first != figure_1a(discount=0.8)
    with pytest.raises(dataclasses.FrozenInstanceError):
        first.features = ()  # pyright: ignore[reportAttributeAccessIssue]
    for array in (first.dense, *first.edge_arrays):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1


def test_dense_matrix_of_figure_1a():
    # Rows: nodes 1 … 6; columns: nodes 1 … 6, then f1, f2. Read off the paper's figure.
    expected = np.zeros((6, 8))
    expected[0, 6] = expected[1, 0] = expected[2, 0] = expected[3, 0] = expected[4, 7] = expected[5, 4] = 1
    expected[5, 6] = 1
    expected[4, 4] = 0.9
    np.testing.assert_array_equal(figure_1a(0.9).dense, expected)


def test_components_come_after_those_they_depend_on():
    place = {node: i for i, part in enumerate(figure_1a().components) for node in part}
    assert place[0] < min(place[1], place[2], place[3])
    assert place[4] < place[5]


def test_a_long_chain_does_not_exhaust_the_stack():
    names = [f"n{i}" for i in range(20_000)]
    edges = [("n0", "f"), *((b, a) for a, b in itertools.pairwise(names))]
    assert len(QuestionNetwork(["f"], names, edges).components) == len(names)


@pytest.mark.parametrize("weight", [1e300, -1e10, 1e-200])
def test_weights_are_of_a_reasonable_size(weight):
    with pytest.raises(ValueError, match="the weight must be 0 or between 1e-9 and 1e9 in size"):
        QuestionNetwork(["f"], ["x"], [("x", "f", weight)])


def test_large_loops_are_refused_before_they_cost_minutes():
    names = [f"n{i}" for i in range(600)]
    edges = [("n0", "f", 1.0), *((name, names[(i + 1) % 600], 0.5) for i, name in enumerate(names))]
    with pytest.raises(ValueError, match="600 prediction nodes depend on each other in one loop; at most 500"):
        QuestionNetwork(["f"], names, edges)


@pytest.mark.parametrize(("loops", "size"), [(5, 2000), (5, 500), (100, 110)])
def test_many_loops_are_refused_before_they_cost_minutes(loops, size):
    names = [f"{loop}.{i}" for loop in range(loops) for i in range(size)]
    edges = [(f"{loop}.{i}", f"{loop}.{i - 1 if i else size - 1}", 0.5) for loop in range(loops) for i in range(size)]
    began = time.monotonic()
    with pytest.raises(ValueError, match="at most 500 can be checked|too large to be checked"):
        QuestionNetwork(["f"], names, [*edges, ("0.0", "f", 1.0)])
    assert time.monotonic() - began < 5


def test_many_small_loops_are_fine():
    pairs = [(f"a{i}", f"b{i}") for i in range(500)]
    edges = [edge for a, b in pairs for edge in ((a, b, 0.5), (b, a, 1.0), (a, "f", 1.0))]
    assert QuestionNetwork(["f"], [name for pair in pairs for name in pair], edges).n_predictions == 1000
