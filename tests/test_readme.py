"""What the README shows is true."""

import re
from pathlib import Path

import rgvf  # noqa: F401 - the example imports it

ROOT = Path(__file__).parent.parent


def test_the_first_example_runs_and_prints_what_it_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    exec(blocks[0], {})
    told = " ".join(line.removeprefix("# ") for line in blocks[0].splitlines() if line.startswith("# "))
    assert capsys.readouterr().out.startswith(told)
    assert (tmp_path / "questions.svg").stat().st_size > 1000


def test_the_language_example_builds_a_network():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    language = next(block for block in blocks if "QuestionNetwork(" in block)
    exec(language, {})


def test_every_picture_and_page_that_the_documents_name_is_there():
    for document in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name} names {target}"
