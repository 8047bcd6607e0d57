"""Files that are complete or absent, also after a crash."""

from __future__ import annotations

import os
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> Path:
    """Write to a temporary name beside `path`, flush to disk, rename."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    data = content.encode("utf-8") if isinstance(content, str) else content
    try:
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return path
