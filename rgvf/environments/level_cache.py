"""Compiled maps of DeepMind Lab, kept on disk. Many processes may share the folder."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
from pathlib import Path

from rgvf.atomic import remove_temporary_files, write_atomically


def cache_folder() -> Path:
    """The user's cache folder for maps: below XDG_CACHE_HOME, or ~/.cache."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "rgvf" / "dmlab"


SPARE = 2 * 2**30
"""Bytes of the disk that are left to others: to checkpoints, first of all."""


class LevelCache:
    """What `deepmind_lab.Lab` takes as `level_cache`: it is given each map that was compiled, and has it when it is
    needed again.

    To compile a map takes 6–20 s, to fetch one less than a second. A file is complete or absent. The folder may be
    deleted at any time. Without space or permission the cache does nothing: maps are compiled again.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = cache_folder() if folder is None else folder
        with contextlib.suppress(OSError):
            remove_temporary_files(self.folder)

    def fetch(self, key: str, pk3_path: str) -> bool:
        """Copy the map of this key to `pk3_path`. False where there is none, or it cannot be copied whole.

        The engine ends its process where the answer was True and the file is not there.
        """
        kept = self._file(key)
        try:
            size = kept.stat().st_size
            shutil.copyfile(kept, pk3_path)
            return size > 0 and Path(pk3_path).stat().st_size == size
        except OSError:
            return False

    def write(self, key: str, pk3_path: str) -> None:
        """Keep a map that was just compiled, unless the disk is nearly full."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(self.folder).free < SPARE:
                return
            write_atomically(self._file(key), Path(pk3_path).read_bytes())
        except OSError:
            return

    def _file(self, key: str) -> Path:
        """Keys look like lt_procedural_aas_<md5>; whatever else they may hold, the file lies in the folder."""
        return self.folder / f"{re.sub(r'[^A-Za-z0-9_-]', '-', key)}.pk3"
