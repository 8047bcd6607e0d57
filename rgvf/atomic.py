"""Files that are complete or absent, also after a crash."""

from __future__ import annotations

import os
import re
from pathlib import Path

_TEMPORARY = re.compile(r"\..+\.rgvf-(\d{1,10})")
"""The name of a file while it is written: a dot, its own name, .rgvf- and the number of the process."""


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write to a temporary name beside `path`, flush to disk, rename."""
    partial = path.with_name(f".{path.name}.rgvf-{os.getpid()}")
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        _flush_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)
    return path


def remove_temporary_files(*folders: Path) -> None:
    """Remove what processes that were killed between writing and renaming have left in these folders."""
    for folder in folders:
        for path in folder.iterdir() if folder.is_dir() else ():
            match = _TEMPORARY.fullmatch(path.name)
            if match and path.is_file() and not _is_another_process(int(match[1])):
                path.unlink(missing_ok=True)


def _is_another_process(pid: int) -> bool:
    """Whether a process of this number runs, and is not this one."""
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # of another user
    return pid != os.getpid()


def _flush_folder(folder: Path) -> None:
    """Make a rename survive a power failure, where the file system lets folders be flushed."""
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(descriptor)
    except OSError:
        pass
    finally:
        os.close(descriptor)
