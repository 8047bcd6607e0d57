"""Results of a study are kept with a checksum that the variant's name is part of."""

import json

import numpy as np
import pytest

from rgvf.studies.folder import StudyFolder

RESULT = {"identity": {"variant": "a"}, "frames": [0, 10], "first_seed": 0, "values": [[0.125, 2.0]]}


@pytest.fixture
def folder(tmp_path):
    folder = StudyFolder(tmp_path / "study", "some-study", {"seeds": 1})
    folder.save_result("a", RESULT)
    return folder


def test_a_result_comes_back(folder):
    assert folder.result("a") == RESULT
    assert folder.result("b") is None


def test_no_flipped_bit_is_taken_for_a_result(folder):
    path = folder.path / "results/a.json"
    data = path.read_bytes()
    for bit in np.random.default_rng(0).integers(8 * len(data), size=300):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(bytes(damaged))
        found = folder.result("a")
        assert found is None or found == RESULT  # white space may change


def test_the_result_of_another_variant_is_not_taken(folder):
    (folder.path / "results/b.json").write_bytes((folder.path / "results/a.json").read_bytes())
    assert folder.result("b") is None


@pytest.mark.parametrize("text", ["null", "3", '"a"', "[]", "{", "[" * 100_000, json.dumps({"values": None})])
def test_other_json_is_not_a_result(folder, text):
    (folder.path / "results/a.json").write_text(text)
    assert folder.result("a") is None
