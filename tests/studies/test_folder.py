"""Results of a study are kept with a checksum that the variant's name is part of."""

import json

import numpy as np
import pytest

from rgvf.studies.folder import FolderError, StudyFolder
from tests.test_atomic import leave_temporary_files

RESULT = {"identity": {"variant": "a"}, "frames": [0, 10], "first_seed": 0, "values": [[0.125, 2.0]]}


@pytest.fixture
def folder(tmp_path):
    folder = StudyFolder(tmp_path / "study", "some-study", {"seeds": 1})
    folder.save_result("a", RESULT)
    return folder


def test_a_result_comes_back(folder):
    assert folder.result("a") == RESULT
    assert folder.result("b") is None


def test_what_a_kill_left_half_written_is_removed(folder):
    names = ("config.json", "claims.json", "results/b.json", "questions/a.json")
    left = leave_temporary_files(*(folder.path / name for name in names))
    assert len(left) == 4
    with pytest.raises(FolderError):
        StudyFolder(folder.path, "some-study", {"seeds": 2})
    assert all(path.exists() for path in left)
    assert StudyFolder(folder.path, "some-study", {"seeds": 1}).result("a") == RESULT
    assert not list(folder.path.rglob(".*"))


def test_a_configuration_that_cannot_be_read_is_refused(folder):
    for text, message in (
        ("{", "config.json is damaged"),
        ("null", "holds files that are not a study's"),
        ("[" * 100_000, "config.json is damaged"),
    ):
        (folder.path / "config.json").write_text(text)
        with pytest.raises(FolderError, match=message):
            StudyFolder(folder.path, "some-study", {"seeds": 1})


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
