import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rgvf.questions import QuestionNetwork, figure_1a, random_network
from tests.questions.strategies import network_arguments

GOOD = figure_1a().to_json()


@settings(max_examples=50, deadline=None)
@given(network_arguments())
def test_json_round_trip(arguments):
    network = QuestionNetwork(**arguments)
    assert QuestionNetwork.from_json(network.to_json()) == network


def test_file_round_trip(tmp_path):
    network = random_network(16, 6, seed=0)
    assert QuestionNetwork.load(network.save(tmp_path / "q.json")) == network
    assert [p.name for p in tmp_path.iterdir()] == ["q.json"]


def test_a_file_may_give_the_number_of_an_action():
    """As in Python; what is saved is its name."""
    given = changed(actions=["1", "0"], predictions=[{"name": "x", "action": 0, "edges": [["f1", 1]]}])
    network = QuestionNetwork.from_json(given)
    assert network.conditions == (0,)
    assert '"action": "1"' in network.to_json()


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(GOOD) - 3))
def test_a_truncated_file_is_refused(length):
    with pytest.raises(ValueError, match="cut short|not a question network"):
        QuestionNetwork.from_json(GOOD[:length])


def changed(**fields):
    return json.dumps({**json.loads(GOOD), **fields})


@pytest.mark.unchecked_types  # a file may have anything in it
@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not valid JSON"),
        ("[]", "not a question network"),
        ("{}", "not a question network"),
        ('{"format": "something else"}', "not a question network"),
        ("[" * 100_000, "nested too deeply|not valid JSON"),
        (changed(version=2), "newer"),
        (changed(version=True), "version True"),
        (changed(version=None), "version None"),
        (changed(extra=1), "unknown field 'extra'"),
        (changed(features="f1"), "wrong type"),
        (changed(features=[1, 2]), "non-empty string"),
        (changed(predictions=[]), "no prediction nodes"),
        (changed(predictions=[1]), "must be an object"),
        (changed(predictions=[{"name": "x", "action": 0.0, "edges": []}]), "wrong type"),
        (changed(predictions=[{"name": "x", "action": True, "edges": [["f1", 1]]}]), "a name or a number, not True"),
        (changed(predictions=[{"name": "x", "action": 9, "edges": [["f1", 1]]}]), "action 9, out of range"),
        (changed(predictions=[{"name": "x", "action": None}]), "'edges' is missing"),
        (changed(predictions=[{"name": "x", "action": None, "edges": [["f1"]]}]), "an edge must be"),
        (changed(predictions=[{"name": "x", "action": None, "edges": [["f1", "1"]]}]), "must be a number"),
        (changed(predictions=[{"name": "x", "action": None, "edges": [["f1", True]]}]), "must be a number"),
        (changed(predictions=[{"name": "x", "action": "up", "edges": [["f1", 1]]}]), "unknown action 'up'"),
        (GOOD.replace("0.9", "NaN"), "NaN is not a finite number"),
        (GOOD.replace("0.9", "1e999"), "finite"),
        (GOOD.replace("0.9", "9" * 5000), r"."),
        (GOOD.replace("0.9", "1.1"), "'5'.*amplifies"),
        (GOOD.replace('"version": 1', '"version": 1, "version": 1'), "same field twice"),
    ],
)
def test_a_foreign_or_hostile_file_is_refused(tmp_path, text, why):
    path = tmp_path / "q.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=why) as error:
        QuestionNetwork.load(path)
    assert str(path) in str(error.value)


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "q.json"
    path.write_bytes(bytes(range(256)))
    with pytest.raises(ValueError, match="not a text file"):
        QuestionNetwork.load(path)


def test_only_regular_files_are_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    for path in (tmp_path / "pipe.json", tmp_path, "/dev/zero"):
        with pytest.raises(ValueError, match="not a regular file"):
            QuestionNetwork.load(path)


def test_a_file_of_any_size_is_not_read(tmp_path):
    path = tmp_path / "large.json"
    path.touch()
    os.truncate(path, 65 * 2**20)  # a hole, which takes no room
    with pytest.raises(ValueError, match="larger than 64 MiB, so not a question network"):
        QuestionNetwork.load(path)
