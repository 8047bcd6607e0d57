"""DeepMind Lab in tests: a stand-in for its module, and where its maps are kept."""

import sys
from pathlib import Path

import pytest

import rgvf

STANDINS = str(Path(__file__).parents[1] / "standins")
MODULES = ("deepmind_lab", "rgvf.environments.dmlab")


@pytest.fixture
def no_lab():
    """DeepMind Lab is not imported, neither before nor after the test."""

    def forget():
        for module in MODULES:
            sys.modules.pop(module, None)
        rgvf.environments.__dict__.pop("dmlab", None)

    forget()
    yield
    forget()


@pytest.fixture
def cache(monkeypatch, tmp_path):
    """The folder of the level cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rgvf" / "dmlab"


@pytest.fixture
def lab(monkeypatch, cache, no_lab, tmp_path_factory):
    """The stand-in's class, in place of DeepMind Lab here and in worker processes; episodes have 400 frames."""
    monkeypatch.syspath_prepend(STANDINS)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path_factory.mktemp("engines")))  # not all tests close all games
    monkeypatch.setenv("STANDIN_FRAMES", "400")
    import deepmind_lab  # pyright: ignore[reportMissingImports]

    return deepmind_lab.Lab
