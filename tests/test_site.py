"""The site: every page is in its menu, every public name in its reference, and nothing comes from another host."""

import ast
import importlib
import re
from itertools import pairwise
from pathlib import Path

import pytest

from tests.test_architecture import PACKAGES, ROOT

pytestmark = pytest.mark.medium

DOCS = ROOT / "docs"
SETTINGS = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")


def documented_constants(path: Path) -> set[str]:
    """Names that a module assigns to, with a docstring below."""
    found = set()
    body = ast.parse(path.read_text(encoding="utf-8")).body
    for node, below in pairwise(body):
        targets = getattr(node, "targets", [getattr(node, "target", None)])
        is_docstring = isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        found |= {target.id for target in targets if isinstance(target, ast.Name) and is_docstring}
    return found


def home(package: str, name: str) -> Path:
    """The file of the module that a package imports a name from."""
    tree = ast.parse((ROOT / "rgvf" / package / "__init__.py").read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and name in {alias.name for alias in node.names}:
            return ROOT / (node.module.replace(".", "/") + ".py")
    raise AssertionError(f"rgvf.{package} does not import {name}")


@pytest.mark.parametrize("package", PACKAGES)
def test_public_constants_are_documented(package):
    """`test_architecture` checks functions and classes."""
    module = importlib.import_module(f"rgvf.{package}")
    constants = [name for name in module.__all__ if not callable(getattr(module, name))]
    assert [name for name in constants if name not in documented_constants(home(package, name))] == []


@pytest.mark.parametrize("package", PACKAGES)
def test_every_package_has_a_page_of_the_reference(package):
    page = (DOCS / "api" / f"{package}.md").read_text(encoding="utf-8")
    assert f"::: rgvf.{package}\n" in page
    # mkdocstrings takes a function that has the name of its module for the module, so the page names it.
    module = importlib.import_module(f"rgvf.{package}")
    alike = [name for name in module.__all__ if (ROOT / "rgvf" / package / f"{name}.py").exists()]
    assert [name for name in alike if f"::: rgvf.{package}.{name}.{name}\n" not in page] == []


def test_the_front_has_a_page_of_the_reference():
    page = (DOCS / "api/rgvf.md").read_text(encoding="utf-8")
    assert "::: rgvf\n" in page
    assert set(re.findall(r"::: rgvf\.\w+\.\w+\.(\w+)\n", page)) == {"train", "evaluate", "make_film", "record"}


def test_every_page_is_in_the_menu():
    listed = set(re.findall(r"^\s+- (?:\w+: )?([\w/-]+\.md)$", SETTINGS, re.MULTILINE))
    pages = {str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md")}
    pages |= {f"{path.stem}.md" for path in DOCS.glob("*.ipynb")}
    assert listed == pages


def test_nothing_comes_from_another_host():
    assert "font: false" in SETTINGS
    for name in ("extra_javascript", "extra_css", "privacy", "social", "analytics", "http"):
        assert name not in SETTINGS


def test_the_build_is_strict():
    """`mkdocs build --quiet` would hide warnings from --strict."""
    assert "mkdocs build --strict" in (ROOT / "Makefile").read_text(encoding="utf-8")
