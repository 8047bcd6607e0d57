"""Files that are complete or absent, and what a kill between writing and renaming leaves."""

import os
import signal
import subprocess
import sys

import pytest

from rgvf.atomic import remove_temporary_files, write_atomically

KILLED = """
import os, signal, sys
from pathlib import Path
from rgvf import atomic
Path.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
for name in sys.argv[1:]:
    if not os.fork():
        atomic.write_atomically(Path(name), "half")
    os.wait()
"""


def leave_temporary_files(*paths):
    """What processes leave that are killed between writing and renaming."""
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, "-c", KILLED, *map(str, paths)], check=True)
    return [found for path in paths for found in path.parent.glob(f".{path.name}.*")]


def test_what_killed_processes_left_is_removed_and_nothing_else(tmp_path):
    (left,) = leave_temporary_files(tmp_path / "config.json")
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        names = [
            f".results.json.rgvf-{other.pid}",
            ".notes.2024",
            ".lock",
            ".hidden",
            ".4711",
            "notes.4711",
            ".notes.txt.old",
        ]
        kept = [write_atomically(tmp_path / name, "kept") for name in names]
        earlier = tmp_path / f".of-this-number.json.rgvf-{os.getpid()}"  # of another process, as in a container
        earlier.write_text("left")
        (tmp_path / ".folder.4711").mkdir()
        assert left.exists()
        remove_temporary_files(tmp_path, tmp_path / "missing")
        assert set(tmp_path.iterdir()) == {*kept, tmp_path / ".folder.4711"}
        other.send_signal(signal.SIGKILL)


def test_a_failed_write_leaves_nothing(tmp_path):
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]
