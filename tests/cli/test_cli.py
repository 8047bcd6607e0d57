"""The command line: help, wrong input, and studies."""

import re
import signal
import subprocess
import sys
import time
from importlib.util import find_spec

import pytest

from rgvf.environments.registry import SUITES
from tests.cli.command import run, words


def test_help_list_and_version(capsys):
    for arguments in ((), ("--help",), ("study", "--help")):
        status, printed = run(capsys, *arguments)
        assert status == 0
        assert "rgvf study list" in printed.out
    status, printed = run(capsys, "study", "list")
    assert status == 0
    assert printed.out.splitlines()[0].startswith("grid-touch ")
    assert run(capsys, "--version")[1].out.startswith("rgvf 0.")


def test_a_study_s_help_names_options_defaults_and_variants(capsys):
    status, printed = run(capsys, "study", "grid-touch", "--help")
    assert status == 0
    for word in ("--seeds", "--frames", "--out", "--variants", "1000000", "runs/grid-touch", "tree-4"):
        assert word in printed.out


@pytest.mark.parametrize(
    ("arguments", "status", "sentence"),
    [
        (
            ["frobnicate"],
            2,
            "no command 'frobnicate'; choose from train, evaluate, record, plot, compare, study, environments.",
        ),
        (["tran"], 2, "there is no command 'tran'; did you mean train?"),
        (["study"], 2, "which study?"),
        (["study", "grid-tuch"], 2, "did you mean grid-touch?"),
        (["study", "zzz"], 2, "there is no study 'zzz'; choose from grid-touch"),
        (["study", "grid-touch", "--frames", "-1"], 2, "frames must be at least 1, not -1"),
        (["study", "grid-touch", "--frames", "many"], 2, "--frames must be a whole number, not 'many'"),
        (["study", "grid-touch", "--frames", "9" * 400], 2, "--frames must be a number below 10^308"),
        (["study", "grid-touch", "--frames", "1e5", "--out", "FILE"], 1, "is a file"),
        (["study", "grid-touch", "--seeds", "100000"], 2, "--seeds must be at most 4,096: each agent needs its own"),
        (["study", "grid-touch", "--actors", "1e9"], 2, "--actors must be between 1 and 65,536, not 1000000000"),
        (["study", "grid-touch", "--size", "1e9"], 2, "--size must be at most 64: exact values need size⁴ numbers"),
        (["study", "grid-touch", "--representation", "1e9"], 2, "layers of 1 to 65,536 units, not (1000000000,)"),
        (["study", "grid-touch", "--learning-rate", "inf"], 2, "--learning-rate must be positive, not inf"),
        (["study", "grid-touch", "--wall", "nan"], 2, "--wall must be finite, not nan"),
        (["study", "minatar", "--learning-rate", "inf"], 2, "--learning-rate must be positive, not inf"),
        (["study", "minatar", "--seeds", "100000"], 2, "--seeds must be at most 4,096"),
        (["study", "grid-touch", "--learning-rate", "x"], 2, "--learning-rate must be a number, not 'x'"),
        (["study", "grid-touch", "--fram", "9"], 2, "--fram, 9; did you mean --frames?"),
        (["study", "grid-touch", "--seeds", "0"], 2, "seeds must be at least 1, not 0"),
        (["study", "grid-touch", "--variants", "tree-9"], 2, "no variant 'tree-9'; did you mean tree-"),
        (["study", "list", "all"], 2, "'rgvf study list' takes no options"),
        (["study", "grid-touch", "--nonsense", "1"], 2, "--nonsense"),
        (
            ["study", "minatar-reward", "--games", "Breakout", "Asterix", "--seeds", "3"],
            2,
            "minatar-reward has no --games; --variants chooses its variants, by name or pattern: "
            "--variants 'Breakout.*' 'Asterix.*'",
        ),
        (["study", "craftax", "--agents=a2c"], 2, "craftax has no --agents; --variants chooses its variants, by name"),
        (["study", "craftax", "--agents", "a2c"], 2, "--variants '*.a2c'"),
        (["study", "minatar", "--agent", "a2c", "--game", "Freeway"], 2, "has no --game and no --agent; --variants"),
        (["study", "minatar", "--agent", "a2c", "--game", "Freeway"], 2, "--variants Freeway.a2c"),
        (["study", "grid-touch", "--games", "x"], 2, "--variants end-to-end"),
        (["study", "atari-49", "--game", "Pong"], 2, "did you mean --games?"),
        (["study", "grid-touch", "--out", "FILE"], 1, "is a file"),
        (["study", "grid-touch", "--out", "FILE/below"], 1, "cannot write to the folder"),
        (["study", "grid-touch", "--out", "FOREIGN"], 1, "holds files that are not a study's"),
    ],
)
def test_wrong_input_ends_in_a_sentence(capsys, tmp_path, monkeypatch, arguments, status, sentence):
    (tmp_path / "FILE").write_text("precious")
    (tmp_path / "FOREIGN").mkdir()
    (tmp_path / "FOREIGN" / "thesis.txt").write_text("precious")
    monkeypatch.chdir(tmp_path)
    found, printed = run(capsys, *arguments)
    assert found == status
    assert printed.err.startswith("rgvf: ")
    assert sentence in words(printed.err)
    assert "Traceback" not in printed.err
    assert (tmp_path / "FILE").read_text() == "precious"
    assert [p.name for p in (tmp_path / "FOREIGN").iterdir()] == ["thesis.txt"]


@pytest.mark.medium
def test_ctrl_c_says_how_to_continue(tmp_path):
    command = [sys.executable, "-m", "rgvf", "study", "grid-touch", "--seeds", "1", "--frames", "30000000"]
    command += ["--size", "3", "--variants", "random", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "out" / "config.json").exists():
        time.sleep(0.1)
        assert process.poll() is None
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command continues" in error
    assert "Traceback" not in error


@pytest.mark.medium
def test_a_finished_study_prints_its_table_claims_and_figures(capsys, tmp_path):
    arguments = ["study", "grid-touch", "--seeds", "1", "--frames", "64", "--size", "3", "--variants", "tree-1"]
    status, printed = run(capsys, *arguments, "--out", str(tmp_path / "out"))
    assert status == 0
    assert re.search(r"tree-1 +\d+\.\d{4} +– ", printed.out)  # one seed has no standard error
    assert "not checked" in printed.out
    assert "This ran 64 frames and 1 seed, size = 3; the full study has 1,000,000 and 5, size = 7" in printed.out
    assert "its claims may come out otherwise" in printed.out
    assert str(tmp_path / "out" / "values.png") in printed.out
    status, printed = run(capsys, *arguments, "--out", str(tmp_path / "out"))
    assert status == 0
    assert "Found results of tree-1" in printed.err


def test_environments_are_listed(capsys):
    status, printed = run(capsys, "environments", "/")
    names = printed.out.splitlines()
    assert status == 0
    assert {"atari/Pong", "minatar/Breakout", "gym/CartPole-v1", "gym/rgvf/Catch-v0"} <= set(names)
    assert not [name for name in names if "Ant-" in name or "ALE" in name]
    assert [name for name in names if name.startswith("cue/")] == ["cue/5", "cue/10", "cue/15"]


def test_without_a_word_suites_are_listed(capsys):
    status, printed = run(capsys, "environments")
    lines = printed.out.splitlines()
    assert status == 0
    assert lines[0].split(maxsplit=2) == ["atari", "49", "Atari 2600 games, as in the paper"]
    assert [line.split()[0] for line in lines[:-1]] == list(SUITES)
    assert ("(not installed)" in lines[list(SUITES).index("dmlab")]) == (find_spec("deepmind_lab") is None)


def test_environments_are_listed_by_a_word(capsys):
    status, printed = run(capsys, "environments", "breakout")
    assert (status, printed.err) == (0, "")
    assert printed.out.split() == ["atari/Breakout", "minatar/Breakout", "minatar-pgx/Breakout"]
    status, printed = run(capsys, "environments", "nothing")
    assert (status, printed.out) == (2, "")
    assert "no environment has 'nothing' in its name; the suites are atari, minatar," in printed.err


def test_an_environment_is_described(capsys):
    status, printed = run(capsys, "environments", "atari/breakout")
    assert status == 0
    assert printed.out.startswith("atari/Breakout\nobservation: 84×84×4 uint8, the last 4 frames\n")
    assert "actions (4): NOOP, FIRE, RIGHT, LEFT\nframes in a step: 4\n" in printed.out
    assert "preset: paper, 200,000,000 frames\n" in printed.out
    status, printed = run(capsys, "environments", "minatar/Breakou")
    assert (status, printed.err) == (2, "rgvf: there is no MinAtar game 'Breakou'; did you mean Breakout?\n")
