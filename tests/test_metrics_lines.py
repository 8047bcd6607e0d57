"""Lines of metrics.jsonl: which can be read, and what is left of a damaged file."""

import json

import pytest

from rgvf.metrics_lines import mend, name_lines, read_line, unreadable, whole_lines

LINES = [json.dumps({"frames": frames, "seed": 0, "return": None}).encode() for frames in (100, 200, 300)]


@pytest.mark.parametrize(
    "line",
    [b"", b"garbage", b"[]", b"3", b"null", b"[" * 100_000, b"\xff", b'{"seed": 0}', b'{"seed": 0, "frames": 1.5}',
     b'{"seed": true, "frames": 1}', b'{"seed": 0, "frames": 1, "return": "1"}', b'{"seed": 0, "frames": 1, "x": []}'],
)  # fmt: skip
def test_what_no_run_writes_is_no_line(line):
    assert read_line(line) is None


def test_lines_are_named_by_number():
    assert whole_lines(b"a\nb") == [b"a"]
    assert unreadable([LINES[0], b"garbage", LINES[1], b""]) == [2, 4]
    assert [name_lines(range(1, n)) for n in (2, 3, 5)] == ["line 1", "lines 1, 2", "lines 1, 2, 3, … (4 in all)"]


def test_of_a_damaged_file_what_a_checkpoint_knew_is_left():
    """By frames: the place where it ended has moved."""

    def mended(*lines, end=b"\n"):
        content = b"\n".join(lines) + end
        kept, wrong = mend(content, len(LINES[0] + LINES[1]) + 2, frames=200)
        return whole_lines(kept), wrong

    longer = LINES[0].replace(b"null", b"100.5")
    assert mended(longer, *LINES[1:]) == ([longer, LINES[1]], "was changed; some of its lines may be wrong")
    assert mended(LINES[0], LINES[1], end=b"") == (LINES[:1], "has lost lines or was changed; what is left is kept")
    kept, wrong = mended(b"garbage", *LINES[1:])
    assert kept == LINES[1:2]
    assert wrong == "was damaged: line 1 could not be read, now removed; others may be wrong or missing"
    assert mended(end=b"") == ([], "was emptied or removed; the metrics until this checkpoint are lost")
