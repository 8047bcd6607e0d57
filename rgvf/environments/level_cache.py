"""Compiled maps of DeepMind Lab, kept on disk. Many processes may share the folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
from pathlib import Path

from rgvf.atomic import remove_temporary_files, write_atomically

SPARE = 2 * 2**30
"""Bytes of the disk that are left to others: to checkpoints, first of all."""
_DIGEST = hashlib.sha256().digest_size


def cache_folder() -> Path | None:
    """The user's cache folder for maps: below XDG_CACHE_HOME where that is an absolute path (its specification ignores
    others), or ~/.cache. None where there is no home."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    try:
        return (base if base.is_absolute() else Path.home() / ".cache") / "rgvf" / "dmlab"
    except RuntimeError:
        return None


class LevelCache:
    """What `deepmind_lab.Lab` takes as `level_cache`: it is given each map that was compiled, and has it when it is
    needed again.

    To compile a map takes 6–20 s, to fetch one less than a second. A file begins with the checksum of its map, so that
    a damaged one is never used: the engine would end its process. The folder may be deleted at any time. Without space,
    permission or a home the cache does nothing: maps are compiled again.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = cache_folder() if folder is None else folder

    def fetch(self, key: str, pk3_path: str) -> bool:
        """Write the map of this key to `pk3_path`. False where there is none, it is damaged, or there is no space.

        The engine ends its process where the answer was True and the map is not there.
        """
        kept = self._file(key)
        try:
            content = b"" if kept is None else kept.read_bytes()
        except OSError:
            return False
        digest, level = content[:_DIGEST], content[_DIGEST:]
        if kept is None or not level or hashlib.sha256(level).digest() != digest:
            return False  # one that is damaged is replaced once the map has been compiled again
        try:
            Path(pk3_path).write_bytes(level)
        except OSError:
            with contextlib.suppress(OSError):
                Path(pk3_path).unlink(missing_ok=True)
            return False
        return True

    def write(self, key: str, pk3_path: str) -> None:
        """Keep a map that was just compiled, unless the disk is nearly full."""
        kept = self._file(key)
        if kept is None:
            return
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            if shutil.disk_usage(kept.parent).free < SPARE:
                return
            remove_temporary_files(kept.parent)
            level = Path(pk3_path).read_bytes()
            write_atomically(kept, hashlib.sha256(level).digest() + level)
        except OSError:
            return

    def _file(self, key: str) -> Path | None:
        """Keys look like lt_procedural_aas_<md5>; whatever else they may hold, the file lies in the folder.

        There may be a million, so they are in folders by their last two letters.
        """
        name = re.sub(r"[^A-Za-z0-9_-]", "-", key)
        return None if self.folder is None else self.folder / name[-2:] / f"{name}.map"
