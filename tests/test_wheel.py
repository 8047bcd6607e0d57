"""The wheel, installed into a clean environment without the repository, does the work."""

import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.slow


def call(*command, **settings):
    """What a command prints; it must succeed."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **settings)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    call(*pip, "--wheel-dir", folder, ROOT)
    (path,) = folder.glob("rgvf-*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs a program of a new environment, in an empty folder.

    The environment sees the packages that are installed for these tests, but not the repository: the .pth file that
    makes it importable there is not followed from here.
    """
    environment, folder = tmp_path_factory.mktemp("environment"), tmp_path_factory.mktemp("empty")
    venv.create(environment, symlinks=True)
    programs = environment / "bin"
    call(sys.executable, "-m", "pip", "--python", programs / "python", "install", "--no-deps", "--no-index", wheel)
    (packages,) = environment.glob("lib/python*/site-packages")
    (packages / "locked.pth").write_text(sysconfig.get_path("purelib") + "\n")
    variables = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return lambda program, *words: call(programs / program, *words, cwd=folder, env=variables), folder


def test_the_wheel_holds_the_package_and_nothing_else(wheel):
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
        (metadata,) = [name for name in names if name.endswith("/METADATA")]
        text = file.read(metadata).decode()
    assert {name.split("/")[0] for name in names} == {"rgvf", Path(metadata).parts[0]}
    in_repository = subprocess.run(
        ["git", "ls-files", "rgvf"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    assert {name for name in names if name.startswith("rgvf/")} >= set(in_repository)
    assert "rgvf/py.typed" in names
    assert not [name for name in names if "test" in name.lower() or name.endswith(".pyc")]
    assert "Author: The rgvf developers" in text
    assert "License-Expression: MIT" in text


def test_it_works_without_the_repository(installed):
    run, folder = installed
    assert run("rgvf", "--version").startswith("rgvf 0.")
    where = Path(run("python", "-c", "import rgvf; print(rgvf.__file__)").strip())
    assert not where.is_relative_to(ROOT)
    run("rgvf", "study", "grid-touch", "--seeds", "1", "--frames", "20000")
    study = folder / "runs/grid-touch"
    assert (study / "claims.json").exists()
    assert (study / "values.png").exists()
    run("rgvf", "train", "--env", "gym/CartPole-v1", "--frames", "5000")
    (trained,) = folder.glob("runs/gym-*")
    assert (trained / "metrics.jsonl").exists()
    run("rgvf", "record", trained, "--steps", "20")
    assert b"ftyp" in (trained / "film.mp4").read_bytes()[:16]
    assert set(run("rgvf", "plot", trained, "--out", "drawn").split()) == {"drawn.png", "drawn.svg"}
    assert (folder / "drawn.png").read_bytes().startswith(b"\x89PNG")
    assert "gym/CartPole-v1" in run("rgvf", "compare", trained)
