"""What the README and the other pages show is true."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rgvf.cli.main import COMMANDS
from rgvf.cli.options import config_of, option_type
from rgvf.cli.parsing import parse
from rgvf.cli.study import study_options
from rgvf.environments import make_game
from rgvf.studies import find_study
from rgvf.tasks import TASKS

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def commands():
    """The commands of the README, as lists of arguments."""
    for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            program, *arguments = shlex.split(line, comments=True) or [""]
            if program.endswith("rgvf"):
                yield arguments


def test_the_example_of_a_question_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example = next(block for block in PYTHON if "exact_answers" in block)
    exec(example, {})
    printed = " ".join(line.removeprefix("# ") for line in example.splitlines() if line.startswith("# "))
    assert len(printed) > 100
    assert capsys.readouterr().out.startswith(printed)
    assert (tmp_path / "questions.svg").stat().st_size > 1000


def test_the_language_example_builds_a_network():
    language = next(block for block in PYTHON if "QuestionNetwork(" in block)
    exec(language, {})


@pytest.mark.medium
def test_every_example_runs(tmp_path):
    program = tmp_path / "blocks.py"
    program.write_text("\n".join(PYTHON), encoding="utf-8")
    command = [sys.executable, "-W", "error", str(program)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr


def test_every_command_is_understood():
    found = list(commands())
    assert {arguments[0] for arguments in found} == set(COMMANDS)
    for command, *arguments in found:
        if command == "train" and "--resume" not in arguments:
            config = config_of(parse(option_type(), arguments, "rgvf train"))
            assert config.env == arguments[arguments.index("--env") + 1]
        if command == "study" and arguments[0] not in ("list", "merge"):
            study = find_study(arguments[0])
            options = study_options(study, arguments[1:])
            assert study.chosen(options.settings)


def test_every_task_is_named():
    assert [name for name in TASKS if f"`{name}`" not in README] == []


def test_every_picture_and_page_that_the_documents_name_is_there():
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} names {target}"
        for target in re.findall(
            r"`((?:rgvf|tests|examples|benchmarks)/[\w./-]+)`", document.read_text(encoding="utf-8")
        ):
            assert (ROOT / target).exists(), f"{document.name} names {target}"


@pytest.mark.medium
def test_random_play_of_breakout_scores_what_the_page_says():
    page = (ROOT / "docs/results/atari.md").read_text(encoding="utf-8")
    sentence = (
        r"Random play scores (\S+) in the published table; random play measured here scores (\S+) \((\d+) games\)"
    )
    ((published, score, games),) = re.findall(sentence, page)
    game, rng = make_game("atari/Breakout", 1, episodic_life=False), np.random.default_rng(1)
    game.reset()
    scores: list[float] = []
    while len(scores) < int(games):
        step = game.step(int(rng.integers(len(game.spec.actions))))
        scores += [step.game_return] * step.game_over
    assert abs(np.mean(scores) - float(score)) < 0.3
    assert abs(np.mean(scores) - float(published)) > 0.3
