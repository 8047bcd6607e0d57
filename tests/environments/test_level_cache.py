"""The cache of DeepMind Lab's maps: whole files or none, whatever happens to them, for many processes."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from rgvf.environments.level_cache import LevelCache

ROOT = str(Path(__file__).parents[2])


def test_where_the_cache_is(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    for ignored in ("", "caches", "./caches"):
        monkeypatch.setenv("XDG_CACHE_HOME", ignored)
        assert LevelCache().folder == tmp_path / ".cache" / "rgvf" / "dmlab"
    monkeypatch.setattr(
        Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("Could not determine home directory."))
    )
    cache = LevelCache()
    (tmp_path / "map.pk3").write_bytes(b"a map")
    cache.write("key", str(tmp_path / "map.pk3"))
    assert not cache.fetch("key", str(tmp_path / "target.pk3"))


def test_the_cache_says_yes_only_where_the_whole_file_is_there(tmp_path):
    cache, target, source = LevelCache(tmp_path / "a" / "b"), tmp_path / "target.pk3", tmp_path / "source.pk3"
    source.write_bytes(b"a map")
    assert not cache.fetch("key_1", str(target))
    cache.write("key_1", str(source))
    assert cache.fetch("key_1", str(target))
    assert target.read_bytes() == b"a map"
    assert not cache.fetch("key_1", str(tmp_path / "missing" / "target.pk3"))
    cache.write("../outside", str(source))
    assert not (tmp_path / "a" / "outside.pk3").exists()
    assert cache.fetch("../outside", str(target))
    cache.write("key_2", str(tmp_path / "nothing.pk3"))  # it could not be read: nothing is kept
    assert not cache.fetch("key_2", str(target))
    source.write_bytes(b"")
    cache.write("key_3", str(source))
    assert not cache.fetch("key_3", str(target))
    (tmp_path / "a" / "b" / "_1" / ".key_1.map.rgvf-999999999").write_bytes(b"left by a process that was killed")
    cache.write("key_1", str(source))
    assert not list((tmp_path / "a" / "b" / "_1").glob(".*"))
    blocked = LevelCache(source / "below a file")
    blocked.write("key", str(source))
    assert not blocked.fetch("key", str(target))


def test_no_map_is_kept_on_a_disk_that_is_nearly_full(tmp_path, monkeypatch):
    source, target = tmp_path / "source.pk3", tmp_path / "target.pk3"
    source.write_bytes(b"a map")
    cache = LevelCache(tmp_path / "cache")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: SimpleNamespace(free=2**30))
    cache.write("key", str(source))
    assert not cache.fetch("key", str(target))


MANY_WRITE = """
import sys
import time
from pathlib import Path
from typing import Any
from rgvf.environments.level_cache import LevelCache

folder, me = Path(sys.argv[1]), sys.argv[2]
cache, source, target = LevelCache(folder / "cache"), folder / "source.pk3", folder / f"target-{me}.pk3"
for _ in range(100):
    cache.write("key", str(source))
    assert cache.fetch("key", str(target)) and target.read_bytes() == source.read_bytes()
"""


def test_a_cache_that_many_processes_write_never_shows_half_a_file(tmp_path):
    (tmp_path / "source.pk3").write_bytes(os.urandom(200_000))
    command = [sys.executable, "-c", MANY_WRITE, str(tmp_path)]
    processes = [subprocess.Popen([*command, str(i)], env={**os.environ, "PYTHONPATH": ROOT}) for i in range(4)]
    assert [process.wait(60) for process in processes] == [0] * 4
    assert [path.name for path in (tmp_path / "cache").rglob("*.*")] == ["key.map"]
