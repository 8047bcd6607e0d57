"""What the pages of the documentation say to type works.

Every block of Python or shell on a page is run, in order, in one folder; the commands on pages of results are only
parsed. A block of Python that begins with the name of a file, `# mine.py`, is that file. A comment before a block says
what is different about it:

    <!-- test: skip -->            it is not run: it installs rgvf
    <!-- test: parse -->           its commands are parsed and checked, but train nothing
    <!-- test: --frames 320 -->    its commands get these options
    <!-- test: needs torch -->     it is run where the module is installed
"""

import ast
import json
import math
import re
import shlex
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

import rgvf
from rgvf.cli import main
from rgvf.cli.options import config_of, option_type
from rgvf.cli.parsing import parse
from rgvf.cli.study import study_options
from rgvf.features import KINDS
from rgvf.networks import REPRESENTATIONS
from rgvf.questions import QuestionNetwork
from rgvf.studies import STUDIES, find_study
from rgvf.tasks import TASKS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = sorted(
    str(path.relative_to(DOCS))
    for path in DOCS.rglob("*.md")
    if path.relative_to(DOCS).parts[0] not in ("api", "results", "notebook.md")
)
BLOCK = re.compile(r"(?:<!-- test: ([^\n]*) -->\n)?```(\w*)\n(.*?)```", re.DOTALL)
FILE = re.compile(r"# (\w+)\.py\n")


def blocks(page):
    """(mark, language, text) of each block of code."""
    return BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to run a page in; what the page makes known to rgvf is forgotten afterwards."""
    registries = [TASKS, KINDS, REPRESENTATIONS, STUDIES]
    known = [dict(each) for each in registries]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path
    for registry, before in zip(registries, known, strict=True):
        registry.clear()
        registry.update(before)


@pytest.fixture
def run_page(folder, monkeypatch, capsys):
    """Runs the blocks of a page; returns the names that its Python has defined."""

    def run(page):
        names = {"__name__": "page"}
        for mark, language, text in blocks(page):
            if mark == "skip" or (mark.startswith("needs ") and find_spec(mark.removeprefix("needs ")) is None):
                continue
            if language == "sh":
                for command in commands(text):
                    assert command[0] == "rgvf", f"{page}: {command}"
                    if mark == "parse":
                        assert command[1] == "train"
                        config_of(parse(option_type(), command[2:], "rgvf train"))
                        continue
                    options = shlex.split(mark) if mark.startswith("--") else []
                    assert main([*command[1:], *options]) == 0, capsys.readouterr().err
            elif language == "python" and (file := FILE.match(text)):
                (folder / f"{file[1]}.py").write_text(text, encoding="utf-8")
                monkeypatch.delitem(sys.modules, file[1], raising=False)
            elif language == "python":
                exec(compile(text, page, "exec"), names)
            elif language == "json":  # a question network: the one that the page has made last
                assert QuestionNetwork.from_json(text) == names["network"]
        return names

    return run


def commands(text):
    """The commands of a block of shell, as lists of words."""
    lines = (shlex.split(line, comments=True) for line in text.replace("\\\n", " ").splitlines())
    return [line for line in lines if line]


def test_the_tests_see_every_page():
    assert len(PAGES) >= 10
    for page in PAGES:
        for mark, language, text in blocks(page):
            assert language in ("python", "sh", "json"), (
                f"{page} has a block that is not marked as Python, shell or JSON"
            )
            assert not mark or mark in ("skip", "parse") or mark.startswith(("--", "needs ")), f"{page}: {mark}"
            if language == "python":
                ast.parse(text)


RESULTS = sorted(str(path.relative_to(DOCS)) for path in (DOCS / "results").glob("*.md"))
SHELL = 'rgvf() { printf "%s\\0" "$@"; printf "\\n"; }; python() { :; }\n'
"""Functions that print the arguments of each command instead of running it."""


@pytest.mark.parametrize("page", RESULTS)
def test_the_commands_of_the_results_are_commands(page):
    """They are parsed and checked, with all their loops and variables, and train nothing."""
    texts = [text for mark, language, text in blocks(page) if language == "sh" and mark != "skip"]
    bash = subprocess.run(
        [shutil.which("bash") or "bash", "-c", SHELL + "\n".join(texts)],
        capture_output=True,
        env={"PATH": ""},
        text=True,
    )
    assert bash.stderr == ""
    for line in bash.stdout.split("\0\n")[:-1]:
        command, *words = line.split("\0")
        if command == "study":
            study_options(find_study(words[0]), words[1:])
        elif command == "train" and "--resume" not in words:
            config_of(parse(option_type(), words, "rgvf train"))


def test_what_the_pages_print(folder, capsys):
    """Comments below a print are what it prints."""
    pattern = re.compile(r"^print\((.*)\)\n((?:# .*\n)+)", re.MULTILINE)
    checked = 0
    for page in ("get-started.md", "questions.md"):
        names = {}
        for _, language, text in blocks(page)[: 3 if page == "questions.md" else 2]:
            if language == "python":
                exec(compile(text, page, "exec"), names)
                for expression, comment in pattern.findall(text):
                    expected = " ".join(line.removeprefix("# ") for line in comment.splitlines())
                    assert str(eval(expression, names)) == expected
                    checked += 1
    assert checked == 3


PYTHON_ONLY = ("index.md", "pytorch.md")


@pytest.mark.loose_promotion
@pytest.mark.unchecked_types
@pytest.mark.parametrize("page", PYTHON_ONLY)
def test_page(page, run_page):
    run_page(page)


@pytest.mark.medium
@pytest.mark.loose_promotion
@pytest.mark.unchecked_types
@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.slow] * page.startswith("extending/"))
        for page in PAGES
        if page not in (*PYTHON_ONLY, "extending/task.md")
    ],
)
def test_page_that_trains(page, run_page):
    run_page(page)


@pytest.mark.slow
def test_the_page_on_new_tasks(folder, run_page):
    run_page("extending/task.md")
    lines = (folder / "runs/inverse-dynamics/metrics.jsonl").read_text().splitlines()
    losses = [json.loads(line)["inverse-dynamics/loss"] for line in lines]
    assert losses[-1] < losses[0] < 1.2 * math.log(3)
    agent = rgvf.load("runs/inverse-dynamics")
    assert agent.config.agent.name == "inverse-dynamics+rgvf"
    assert agent.config.agent.to_data()["tasks"][0] == {"task": "inverse-dynamics", "smoothing": 0.01}
    assert agent.answer(np.zeros((2, 10, 10, 2), np.uint8)).shape[0] == 2
    (far,) = rgvf.AgentConfig("far-reward").auxiliary
    network = far.make_network(agent.spec, 0)  # pyright: ignore[reportAttributeAccessIssue]
    assert network.describe(network.predictions[0]).startswith("following the policy")
    with pytest.raises(ValueError, match=r"smoothing must be in \[0, 1\), not 1"):
        type(agent.config.agent.auxiliary[0])(smoothing=1)  # pyright: ignore[reportCallIssue]
    (task,) = json.loads((folder / "runs/inverse/config.json").read_text())["agent"]["tasks"]
    assert task == {"task": "inverse-dynamics", "smoothing": 0.1}


NOTEBOOKS = sorted(DOCS.glob("*.ipynb"))


@pytest.mark.slow
@pytest.mark.loose_promotion
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebook(path, folder):
    """The cells run in order, and a network at the end of a cell can be drawn."""
    names, drawn = {"__name__": "notebook"}, 0
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            *body, last = ast.parse("".join(cell["source"])).body
            if not isinstance(last, ast.Expr):
                body, last = [*body, last], None
            exec(compile(ast.Module(body, []), path.name, "exec"), names)
            shown = last and eval(compile(ast.Expression(last.value), path.name, "eval"), names)
            drawn += "<svg" in getattr(shown, "_repr_svg_", str)()
    plt.close("all")
    assert drawn == 2


def test_notebooks_stay_small():
    assert NOTEBOOKS
    assert all(path.stat().st_size < 150_000 for path in NOTEBOOKS)


def test_commits_that_the_pages_name_are_in_the_history():
    """What was measured can be measured again. Skipped where the history is not there, as in an archive."""
    root = Path(__file__).parents[1]

    def git(*words):
        return subprocess.run(["git", "-C", root, *words], capture_output=True, text=True, check=False)

    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("no history")
    texts = "".join(page.read_text() for page in [root / "README.md", *(root / "docs").rglob("*.md")])
    named = {
        word for word in re.findall(r"\b[0-9a-f]{7}\b", texts) if re.search("[a-f]", word) and re.search("[0-9]", word)
    }
    assert len(named) > 20
    assert [each for each in sorted(named) if git("cat-file", "-e", f"{each}^{{commit}}").returncode] == []
