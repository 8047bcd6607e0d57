"""Lines of a run's metrics.jsonl: which of them can be read. Without JAX, because figures of runs need none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

_SHOWN = 3
"""Numbers of lines in a message."""


def whole_lines(content: bytes) -> list[bytes]:
    """The lines of a file; not the last one where it has no end: it may be only half written."""
    return content.split(b"\n")[:-1]


def read_line(line: bytes) -> dict[str, Any] | None:
    """The metrics in a line, by name; None where these are not what a run writes."""
    try:
        metrics = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(metrics, dict) or not all(_is_number(metrics.get(name), int) for name in ("seed", "frames")):
        return None
    return metrics if all(value is None or _is_number(value, int | float) for value in metrics.values()) else None


def unreadable(lines: Sequence[bytes]) -> list[int]:
    """The numbers of the lines that cannot be read, from 1."""
    return [number for number, line in enumerate(lines, 1) if read_line(line) is None]


def name_lines(numbers: Sequence[int]) -> str:
    """line 30; lines 3, 4; lines 3, 4, 5, … (20 in all)."""
    more = f", … ({len(numbers)} in all)" if len(numbers) > _SHOWN else ""
    return f"line{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers[:_SHOWN]))}{more}"


def mend(content: bytes, length: int, frames: int) -> tuple[bytes, str]:
    """What is left of a damaged file up to a checkpoint at so many frames, and what is wrong with the file.

    Lines may no longer be where they were, so their frames say which are newer than the checkpoint. The one checksum
    of the file does not say which lines differ from those that were written.

    Args:
        content: of the file.
        length: how long the file was when the checkpoint was written.
        frames: at the checkpoint.
    """
    lines = whole_lines(content)
    kept = [line + b"\n" for line in lines if (metrics := read_line(line)) is not None and metrics["frames"] <= frames]
    removed = unreadable(lines)
    if removed:
        wrong = f"was damaged: {name_lines(removed)} could not be read, now removed; others may be wrong or missing"
    elif not kept:
        wrong = "was emptied or removed; the metrics until this checkpoint are lost"
    elif len(content) < length:
        wrong = "has lost lines or was changed; what is left is kept"
    else:
        wrong = "was changed; some of its lines may be wrong"
    return b"".join(kept), wrong


def _is_number(value: object, kind: Any) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
