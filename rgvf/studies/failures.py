"""What has failed in a study: a record for each variant, beside the log of its process."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Sequence
from pathlib import Path

from rgvf.studies.folder import StudyFolder


def record_failure(folder: StudyFolder, variants: Sequence[str], log: Path, error: str) -> None:
    """Record that a process failed with these variants."""
    for variant in variants:
        failure = {"variant": variant, "error": error, "log": str(log.relative_to(folder.path))}
        failure_file(folder, variant).parent.mkdir(exist_ok=True)
        folder.write_json(f"failed/{variant}.json", failure, indent=1)


def failed_variants(folder: StudyFolder, variants: Sequence[str]) -> list[str]:
    """Those that have failed, and have not been run again since."""
    return [variant for variant in variants if failure_file(folder, variant).exists()]


def failed_together(folder: StudyFolder, variants: Sequence[str]) -> list[list[str]]:
    """Those that have failed, in the batches in which they did."""
    batches: dict[str, list[str]] = {}
    for variant in failed_variants(folder, variants):
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
            log = json.loads(failure_file(folder, variant).read_text(encoding="utf-8"))["log"]
            batches.setdefault(str(log), []).append(variant)
            continue
        batches[variant] = [variant]  # its record is damaged
    return list(batches.values())


def failure_file(folder: StudyFolder, variant: str) -> Path:
    """Where the failure of a variant is recorded."""
    return folder.path / "failed" / f"{variant}.json"


def last_line(log: Path) -> str:
    """The last line of a log that says something, if any."""
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")
