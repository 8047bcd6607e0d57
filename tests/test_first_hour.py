"""Small things that new users met: each was wrong once."""

import os
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest

import rgvf
from rgvf.atomic import write_atomically
from rgvf.environments.registry import SUITES

pytestmark = pytest.mark.medium

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def test_the_extra_for_gymnasium_brings_what_draws_its_environments():
    assert any(each.startswith("pygame") for each in PROJECT["optional-dependencies"]["gym"])


@pytest.mark.parametrize(("env", "package"), [("minatar/Breakout", "pgx"), ("atari/Pong", "ale_py")])
def test_a_missing_package_is_named_with_the_extra_that_installs_it(env, package):
    extra = SUITES[env.partition("/")[0]].extra
    assert extra in PROJECT["optional-dependencies"]
    program = f"import sys; sys.modules[{package!r}] = None; import rgvf; rgvf.environments.find_spec({env!r})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"ValueError: {env} needs {package}")
    assert last.endswith(f"which is not installed: pip install 'rgvf[{extra}]'")


@pytest.mark.unchecked_types
def test_a_name_is_no_configuration():
    with pytest.raises(ValueError, match=r"rgvf.train\(rgvf.preset\('gym/CartPole-v1'"):
        rgvf.train(cast(Any, "gym/CartPole-v1"))


def test_more_seeds_than_memory_are_refused_at_once():
    with pytest.raises(ValueError, match="seeds must be at most 4,096"):
        rgvf.RunConfig("minatar/Breakout", seeds=100_000)


def test_the_folder_is_flushed_after_a_rename(monkeypatch, tmp_path):
    flushed, fsync = [], os.fsync

    def noted(descriptor):
        is_folder = stat.S_ISDIR(os.fstat(descriptor).st_mode)
        flushed.append("folder, with the file" if is_folder and (tmp_path / "file").exists() else "file")
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", noted)
    write_atomically(tmp_path / "file", "text")
    assert flushed == ["file", "folder, with the file"]
