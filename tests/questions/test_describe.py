import itertools

import pytest

from rgvf.questions import QuestionNetwork, figure_1a, full_tree, multi_horizon_values, random_network, shallow


@pytest.mark.parametrize(
    ("node", "words"),
    [
        # The paper's own readings of Figure 1a.
        ("1", "following the policy, what is the expected f1 1 step ahead?"),
        ("2", "following the policy, what is the expected f1 2 steps ahead?"),
        ("3", "if I do a and follow the policy from then on, what is the expected f1 2 steps ahead?"),
        ("5", "following the policy, what is the expected discounted sum (γ = 0.9) of f2?"),
        (
            "6",
            "following the policy, what is the expected sum of "
            "f1 1 step ahead + the discounted sum (γ = 0.9) of f2 from step 2 on?",
        ),
    ],
)
def test_figure_1a(node, words):
    assert figure_1a().describe(node) == words


def test_the_paper_s_reading_of_figure_2b():
    assert full_tree("f", ["a", "b"], 2).describe("b,b") == (
        "if I do b, then b, what is the expected sum of f over the next 2 steps?"
    )


def test_actions_are_named_in_order():
    words = full_tree("f", ["a", "b"], 3).describe("b,a,a")
    assert words.startswith("if I do b, then a, then a,")


def test_edges_of_weight_zero_are_left_out():
    words = multi_horizon_values().describe("value 0")
    assert words == "following the policy, what is the expected reward 1 step ahead?"


def test_weights_multiply_along_a_path():
    network = QuestionNetwork(["f"], ["x", "y"], [("x", "f", 0.5), ("y", "x", 3.0)])
    assert network.describe("y") == "following the policy, what is the expected 1.5 × f 2 steps ahead?"


def test_futures_that_exclude_each_other_are_described_separately():
    network = QuestionNetwork(
        ["f"], {"l": "left", "r": "right", "both": None}, [("l", "f"), ("r", "f"), ("both", "l"), ("both", "r")],
        ["left", "right"],
    )  # fmt: skip
    words = network.describe("both")
    assert "these 2 add up to" in words
    assert "then left, the expected f 2 steps ahead" in words
    assert "then right, the expected f 2 steps ahead" in words


def test_a_loop_on_a_conditioned_node_repeats_its_action():
    network = QuestionNetwork(["f"], {"x": "go"}, [("x", "f"), ("x", "x", 0.9)], ["go", "stop"])
    assert network.describe("x") == "if I keep doing go, what is the expected discounted sum (γ = 0.9) of f?"


def test_a_larger_loop_ends_in_a_reference():
    network = QuestionNetwork(["f"], ["a", "b"], [("a", "b", 0.5), ("b", "a"), ("b", "f")])
    assert "the answer to question 'a' 2 steps ahead" in network.describe("a")


def test_a_question_that_branches_without_end_stays_readable():
    names = [f"n{i}" for i in range(40)]
    edges = [(a, b, 0.01) for a in names for b in names if a != b] + [(a, "f") for a in names]
    assert len(QuestionNetwork(["f"], names, edges).describe("n0")) < 20_000


def test_every_random_question_can_be_described():
    network = random_network(3, ["up", "down"], depth=4, repeat=3, seed=0)
    lines = network.describe().splitlines()
    assert len(lines) == network.n_predictions
    for name, action, line in zip(network.predictions, network.conditions, lines, strict=True):
        premise = "following the policy, " if action is None else f"if I do {network.actions[action]}"
        assert line.startswith(f"{name}: {premise}")
        assert line.count(", then ") == max(0, int(name.split(".")[0]) - 1)


def test_nodes_by_number_and_by_name():
    network = shallow(["f"], 2)
    assert network.describe(1) == network.describe("f if 1")
    for wrong in ("nope", 2, -1):
        with pytest.raises(ValueError, match="no prediction node"):
            network.describe(wrong)


def test_the_policy_acts_before_a_repeated_action():
    network = QuestionNetwork(
        ["f"],
        {"keep": "L", "later": None, "then": "R"},
        [("keep", "f"), ("keep", "keep", 0.5), ("later", "keep"), ("then", "later")],
        ["L", "R"],
    )
    assert network.describe("later").startswith("if I do what the policy does and keep doing L from then on,")
    assert network.describe("then").startswith("if I do R, then what the policy does and keep doing L from then on,")


def test_a_long_chain_ends_in_a_reference():
    names = [f"n{i}" for i in range(2000)]
    edges = [("n0", "f"), *((b, a) for a, b in itertools.pairwise(names))]
    words = QuestionNetwork(["f"], names, edges).describe("n1999")
    assert words == "following the policy, what is the expected answer to question 'n1898' 101 steps ahead?"
