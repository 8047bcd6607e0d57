"""Which predictions a film shows, and what it calls them."""

import numpy as np
import pytest

from rgvf.evaluation import choose, shown
from rgvf.questions import QuestionNetwork, multi_horizon_values, random_network, termination_prediction
from rgvf.tasks import GivenQuestions

NETWORK = random_network([f"random-patches/{k}" for k in range(6)], ["left", "fire"], depth=3, repeat=4, seed=0)


def test_answers_that_vary_are_chosen_and_dead_or_equal_ones_are_not():
    rng = np.random.default_rng(0)
    answers = rng.normal(size=(200, NETWORK.n_predictions)) * 0.5
    answers[:, 0] = 3.0  # dead
    answers[:, 4] *= 20
    answers[:, 2] = answers[:, 4] * 0.9 + 1  # the same up and down
    answers[:, 5] *= 10
    chosen = choose({"rgvf": NETWORK}, {"rgvf": answers})
    assert [each.node for each in chosen[:2]] == [4, 5]
    assert [each.is_conditional for each in chosen] == [False, False, True, True]
    assert all(NETWORK.conditions[each.node] is not None for each in chosen[2:])
    assert "discounted sum" in chosen[2].title
    assert "discounted sum" not in chosen[3].title
    assert all(each.title.startswith("if ") for each in chosen[2:])


def test_other_networks_give_what_they_have():
    assert choose({}, {}) == []
    values = multi_horizon_values([0.5, 0.9, 0.99])
    rng = np.random.default_rng(0)
    chosen = choose({"mhvp": values}, {"mhvp": rng.normal(size=(50, 3))})
    assert sorted(each.node for each in chosen) == [0, 1, 2]
    assert choose({"mhvp": values}, {"mhvp": np.ones((50, 3))})  # nothing varies: something is shown all the same


def titles(network, task="rgvf"):
    return [each.title for each in shown({task: network}, network.predictions)]


def test_questions_about_actions_are_shown_even_if_they_are_like_others():
    network = QuestionNetwork(
        ["reward"],
        {"value": None, "if left": "left", "if left twice": "left"},
        [
            *(("value", "reward"), ("value", "value", 0.99), ("if left", "reward"), ("if left", "value")),
            *(("if left twice", "reward"), ("if left twice", "if left")),
        ],
        ["left", "right"],
    )
    answers = np.random.default_rng(0).normal(size=(50, 1)) * [[1.0, 1.1, 0.9]]  # all go up and down together
    chosen = choose({"questions": network}, {"questions": answers})
    assert [each.node for each in chosen] == [0, 1, 2]
    assert [each.is_conditional for each in chosen] == [False, True, True]


def test_titles_are_the_names_that_a_user_gave():
    network = QuestionNetwork(["reward"], ["gain", "2.0"], [("gain", "reward"), ("2.0", "reward"), ("2.0", "gain")])
    assert titles(network, GivenQuestions.name) == ["gain", "reward over 2 steps"]
    assert titles(network) == ["reward", "reward over 2 steps"]


def test_titles_are_short():
    network = QuestionNetwork(
        ["random-patches/3", "reward", "random-linear/0"],
        {"sum": None, "left": "left", "fire": "fire", "0": "0", "always": "left", "two": None, "next": None}
        | {"then": "left", "late": None, "half": None, "even": None, "odd": None},
        [
            ("sum", "random-patches/3"),
            ("sum", "sum", 0.95),
            ("left", "random-patches/3"),
            ("fire", "left"),
            ("fire", "random-linear/0"),
            ("0", "sum"),
            ("0", "reward"),
            ("always", "always", 0.9),
            ("always", "reward"),
            ("two", "left"),
            ("two", "fire"),
            ("next", "reward"),
            ("then", "sum"),
            ("then", "random-patches/3"),
            ("late", "next"),
            ("half", "sum", 0.5),
            ("even", "odd"),
            ("odd", "even", 0.5),
            ("odd", "reward"),
        ],
        ["left", "fire", "0"],
    )
    assert titles(network) == [
        "patch 3, discounted sum",
        "if left: patch 3",
        "if fire, left: feature 0 + patch 3",
        "if action 0: reward + discounted sum of patch 3 from step 2",
        "if always left: discounted sum of reward",
        "two",
        "reward",
        "if left: patch 3 + discounted sum of patch 3 from step 2",
        "reward at step 2",
        "patch 3 from step 2, 0.5 × discounted sum",
        "even",  # nodes that depend on each other cannot be said in a few words
        "odd",
    ]
    assert titles(termination_prediction()) == ["constant, sum"]
    assert titles(multi_horizon_values([0.3])) == ["reward, discounted sum"]
    assert titles(QuestionNetwork(["rate of fire"], ["next"], [("next", "rate of fire")])) == ["rate of fire"]


def test_a_question_that_no_words_say_is_still_known_by_what_it_depends_on():
    """In a loop of several nodes, and where it asks about nothing."""
    edges = [("a", "b"), ("b", "c", 0.5), ("c", "a", 0.5), ("c", "reward"), ("none", "reward", 0.0), ("none", "b", 0.0)]
    conditions = {"a": None, "b": None, "c": "left", "none": None, "idle": None}
    network = QuestionNetwork(["reward"], conditions, [*edges, ("idle", "idle", 0.5)], ["left"])
    loop, *nothing = shown({"rgvf": network}, ("a", "none", "idle"))
    assert loop == ("rgvf", 0, "a", ("reward",), True)
    assert nothing == [("rgvf", 3, "none", (), False), ("rgvf", 4, "idle", (), False)]


def test_predictions_can_be_named():
    (found,) = shown({"rgvf": NETWORK}, ("0.3",))
    assert found == ("rgvf", 3, "patch 3, discounted sum", ("random-patches/3",), False)
    with pytest.raises(ValueError, match="no prediction node 'x'"):
        shown({"rgvf": NETWORK}, ("x",))
    with pytest.raises(ValueError, match="no question network"):
        shown({}, ("x",))
