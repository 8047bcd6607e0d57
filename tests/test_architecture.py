"""The shape of the project: who imports whom, how deep calls go, which words are used, what is documented."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import traceback
from pathlib import Path
from types import ModuleType

import pytest

import rgvf
from rgvf.agents import AgentConfig, Learner
from rgvf.runs import RunConfig

ROOT = Path(__file__).parent.parent
FILES = sorted((ROOT / "rgvf").rglob("*.py"))
LAYERS = [
    *("errors", "spec", "seeding", "messages", "settings", "trajectory", "arrays", "atomic", "signals", "accelerate"),
    *("version", "metrics_lines"),
    *("questions", "features", "networks", "tasks", "agents", "environments", "loops", "runs", "evaluation"),
    *("analysis", "studies", "cli", "__main__"),
]
"""Each imports only from those before it; modules that stand alone come first."""
PACKAGES = ["agents", "analysis", "environments", "evaluation", "features", "loops", "networks", "questions", "runs"]
PACKAGES += ["studies", "tasks"]


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


NAMES = {module_name(path): path for path in FILES}


def imports(path: Path) -> set[str]:
    """Modules of the project that a file imports, also inside functions and for type checking only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name in NAMES}
        elif isinstance(node, ast.ImportFrom) and node.module in NAMES:
            exported = getattr(importlib.import_module(str(node.module)), "__all__", ())
            for alias in node.names:
                submodule = f"{node.module}.{alias.name}"
                is_module = submodule in NAMES and (node.module == "rgvf" or alias.name not in exported)
                found.add(submodule if is_module else str(node.module))
    return found - {module_name(path)}


GRAPH = {name: imports(path) for name, path in NAMES.items()}


def test_no_import_cycle():
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, f"cycle: {' → '.join([*path[path.index(name) :], name])}"
        if name not in done:
            for other in sorted(GRAPH[name]):
                visit(other, (*path, name))
            done.add(name)

    for name in GRAPH:
        visit(name, ())


def test_packages_import_only_from_those_above():
    for name in GRAPH.keys() - {"rgvf"}:
        layer = LAYERS.index(name.split(".")[1])
        for other in GRAPH[name] - {"rgvf"}:
            assert LAYERS.index(other.split(".")[1]) <= layer, f"{name} imports {other}"


def test_no_module_imports_more_than_ten():
    face = "rgvf"  # the package itself, which names all others
    assert {name: sorted(found) for name, found in GRAPH.items() if len(found) > 10 and name != face} == {}


def test_files_stay_short():
    assert {str(path): n for path in FILES if (n := len(path.read_text().splitlines())) > 300} == {}


def test_the_map_names_every_module():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    for name in NAMES:
        last = name.split(".")[-1]
        if last not in ("rgvf", "__main__"):
            assert re.search(rf"\b{last}\b", text), f"ARCHITECTURE.md does not name {name}"


GONE = re.compile(
    r"\b(asked|told|packs|fleet|sources|worlds|ABREAST|settle|Eyes|Tally|Moment|Chosen|_crew|_ears|abreast)\b|_noting\b"
    r"|drawn.anew|gone on with|goes on with|go on with|one's own|a world of|(what|that) is meant"
)


def documents() -> list[Path]:
    prose = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return [*FILES, *prose, *(ROOT / "examples").glob("*.py"), *(ROOT / "benchmarks").glob("*.py")]


def test_words_that_strangers_stumble_over_are_gone():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in documents()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if GONE.search(line)
    ]
    assert found == []


def test_only_one_function_starts_a_loop():
    found = [name for name, path in NAMES.items() if re.search(r"^\s*def start\(", path.read_text(), re.MULTILINE)]
    assert found == ["rgvf.loops.loop"]


def public_objects() -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = [(f"rgvf.{name}", getattr(rgvf, name)) for name in rgvf.__all__]
    for package in PACKAGES:
        module = importlib.import_module(f"rgvf.{package}")
        found += [(f"rgvf.{package}.{name}", getattr(module, name)) for name in module.__all__]
    return found


def undocumented(name: str, thing: object) -> list[str]:
    """The name and its public methods, as far as they have no docstring of their own or inherited."""
    if not (isinstance(thing, ModuleType) or inspect.isclass(thing) or inspect.isfunction(thing)):
        return []  # constants have a docstring below them, which Python does not keep
    if not (getattr(thing, "__module__", None) or getattr(thing, "__name__", "")).startswith("rgvf"):
        return []  # an alias of a type of the standard library
    missing = [] if (thing.__doc__ or "").strip() else [name]
    for method, value in vars(thing).items() if inspect.isclass(thing) else ():
        function = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        own = inspect.isfunction(function) and function.__module__.startswith("rgvf")
        if own and not method.startswith("_") and not inspect.getdoc(getattr(thing, method)):
            missing.append(f"{name}.{method}")
    return missing


def test_public_names_are_documented():
    assert [missing for name, thing in public_objects() for missing in undocumented(name, thing)] == []


@pytest.mark.medium
@pytest.mark.parametrize("env", ["gym/CartPole-v1", "minatar/Breakout"])
def test_the_update_is_at_most_seven_calls_below_train(env, tmp_path, monkeypatch):
    """Calls inside rgvf; `train` itself is the first."""
    depths: list[int] = []
    update = Learner.update

    def spy(self, agent, trajectory, key):
        frames = [frame.name for frame in traceback.extract_stack() if str(ROOT / "rgvf") in frame.filename]
        depths.append(len(frames) - frames.index("train") + 1)  # and this call
        return update(self, agent, trajectory, key)

    monkeypatch.setattr(Learner, "update", spy)
    config = RunConfig(env, AgentConfig("a2c", hidden=4), frames=32, actors=2, steps=4, processes=1)
    rgvf.train(config, tmp_path / "run", progress=False)
    assert depths
    assert max(depths) <= 7


def test_documents_and_examples_import_only_packages():
    pattern = re.compile(r"^\s*(?:from|import) (rgvf[\w.]*)", re.MULTILINE)
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.py")]
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]:
        texts += re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)
    found = {name for text in texts for name in pattern.findall(text)}
    assert found
    assert {name for name in found if name.count(".") > 1} == set()
    assert {name.partition(".")[2] for name in found if "." in name} <= set(dir(rgvf))


def test_the_minimal_example_fits_a_page():
    assert len((ROOT / "examples/minimal.py").read_text().splitlines()) <= 60


def test_results_stay_small():
    files = [path for path in (ROOT / "docs/results").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) <= 3 * 2**20
    text = [path for path in files if path.suffix not in (".png", ".gif", ".mp4")]
    assert sum(len(path.read_text(encoding="utf-8").splitlines()) for path in text) <= 4000


def test_types_are_shipped():
    assert (ROOT / "rgvf/py.typed").exists()
