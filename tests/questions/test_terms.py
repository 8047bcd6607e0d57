"""Questions as sums of terms, by the futures that these are true of."""

from rgvf.questions import Future, QuestionNetwork, Term, futures

NETWORK = QuestionNetwork(
    ["x", "y"],
    {"sum": None, "left": "left", "either": None, "kept": "right", "loop": None, "back": None}
    | {"next": None, "other": None, "twice": None},
    [
        *(("sum", "x"), ("sum", "sum", 0.9)),
        *(("left", "sum"), ("left", "y", 2.0)),
        *(("kept", "x"), ("kept", "y", 3.0), ("kept", "kept", 0.5)),
        *(("either", "left"), ("either", "kept", 0.1)),
        *(("loop", "back"), ("loop", "x")),
        *(("back", "loop", 0.5), ("back", "y", 0.0)),
        *(("next", "y"), ("other", "y"), ("twice", "next"), ("twice", "other", 2.0)),
    ],
    ["left", "right"],
)
COLUMN = NETWORK.index
X, Y = ((COLUMN["x"], 1.0),), ((COLUMN["y"], 1.0),)


def of(node):
    return futures(NETWORK, COLUMN[node])


def test_a_question_is_unrolled_to_features():
    assert of("sum") == [Future((), None, [Term(1.0, (None,), X, 0.9)])]
    sum_later, next_y = Term(1.0, ("left", None), X, 0.9), Term(2.0, ("left",), Y)
    assert of("left") == [Future(("left",), None, [sum_later, next_y])]


def test_an_action_is_kept_up_where_a_sum_is_conditioned():
    both = (*X, (COLUMN["y"], 3.0))
    assert of("kept") == [Future((), "right", [Term(1.0, ("right",), both, 0.5)])]


def test_what_differs_in_its_actions_is_true_of_different_futures():
    first, second = of("either")
    assert first[:2] == ((None, "left"), None)
    assert {term.step: term.weight for term in first.terms} == {3: 1.0, 2: 2.0}
    assert second[:2] == ((None,), "right")
    assert [term.weight for term in second.terms] == [0.1]


def test_a_loop_of_several_nodes_is_unrolled_once():
    again = Term(0.5, (None, None), ((COLUMN["loop"], 1.0),))
    assert of("loop") == [Future((), None, [again, Term(1.0, (None,), X)])]


def test_equal_terms_are_added_up():
    assert of("twice") == [Future((), None, [Term(3.0, (None, None), Y)])]
