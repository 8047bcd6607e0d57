"""Each example runs as it stands, and prints what it should."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def output_of(example, folder):
    """What the example prints in a process of its own, which starts in this folder."""
    command = [sys.executable, "-W", "error", str(EXAMPLES / example)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True, timeout=300).stdout


def test_every_example_is_tested():
    text = Path(__file__).read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES.glob("*.py") if f'"{path.name}"' not in text] == []


def test_ask_prints_a_question_and_its_true_answers(tmp_path):
    printed = output_of("ask.py", tmp_path)
    assert printed.startswith("QuestionNetwork(1 feature, 13 predictions, 25 edges, 4 actions)\n")
    assert "if I do left, then left, then up and follow the policy from then on" in printed
    table = [[float(number) for number in row.split()] for row in re.findall(r"\[([\d. ]+)\]", printed)]
    assert [len(row) for row in table] == [7] * 7
    assert max(map(max, table)) == table[0][0]  # beside the left and the upper wall
    assert (tmp_path / "questions.svg").stat().st_size > 1000


@pytest.mark.medium
def test_the_minimal_example_learns_answers_and_values(tmp_path):
    printed = output_of("minimal.py", tmp_path)
    pattern = r"([\d,]+) steps   loss ([\d.]+)   squared error: answers ([\d.]+), values ([\d.]+)"
    lines = [[float(each.replace(",", "")) for each in line] for line in re.findall(pattern, printed)]
    assert len(lines) == len(printed.splitlines()) == 5
    first, last = lines[0], lines[-1]
    assert last[0] == 5 * first[0]
    assert last[1] < first[1] / 2
    assert last[2] < first[2] / 5
    assert last[3] < first[3] / 5
    assert list(tmp_path.iterdir()) == []


@pytest.mark.medium
def test_the_own_environment_is_solved(tmp_path):
    printed = output_of("own_environment.py", tmp_path)
    assert printed.splitlines()[-1] == "Mean return of ten games: 5.0"
