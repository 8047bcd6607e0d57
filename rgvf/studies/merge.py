"""Merging the folders of a study that was run on several machines."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rgvf.studies.folder import FolderError, StudyFolder, read_result, result_names


class Merged(NamedTuple):
    """What a merge did."""

    study: str
    settings: dict[str, Any]
    copied: list[str]
    """Variants whose results are new in the folder."""
    different: list[str]
    """Variants that the folder has another result of, which it keeps."""
    damaged: list[str]
    """Files that are no complete results, and were left out."""


def merge(out: Path, folders: Sequence[Path], defaults: Mapping[str, Any] | None = None) -> Merged:
    """Copy the finished results of folders into `out`, which may be new. The folders stay as they are.

    Args:
        defaults: what a setting was that a folder does not name, because it is newer than the folder.

    Raises:
        FolderError: one of them holds something else than the others; nothing is copied then.
    """
    if not folders:
        raise FolderError("there is nothing to merge: name the folders")
    found = [(name, {**(defaults or {}), **own}) for name, own in map(read_settings, folders)]
    study, settings = found[0]
    for path, (name, others) in zip(folders, found, strict=True):
        if name != study:
            raise FolderError(f"{path} holds the study {name}, and {folders[0]} the study {study}")
        for setting in (*settings, *others):
            if settings.get(setting) != others.get(setting):
                values = f"{setting} = {others.get(setting)}, and {folders[0]} {settings.get(setting)}"
                raise FolderError(f"{path} has {values}: their results do not compare")
    target = StudyFolder(out, study, settings, defaults)
    merged = Merged(study, settings, [], [], [])
    for path in folders:
        for variant in result_names(path):
            _copy(path, target, variant, merged)
    return merged


def _copy(path: Path, target: StudyFolder, variant: str, merged: Merged) -> None:
    result, there = read_result(path, variant), target.result(variant)
    if result is None:
        merged.damaged.append(str(path / "results" / f"{variant}.json"))
    elif there is None:
        target.save_result(variant, result)
        merged.copied.append(variant)
    elif there != result:
        merged.different.append(variant)


def read_settings(path: Path) -> tuple[str, dict[str, Any]]:
    """The name of the study in a folder, and its settings. FolderError where there is none."""
    try:
        data = json.loads((path / "config.json").read_text(encoding="utf-8"))
        return str(data["study"]), dict(data["settings"])
    except json.JSONDecodeError:
        raise FolderError(f"{path / 'config.json'} is damaged: it is no JSON") from None
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise FolderError(f"{path} is not the folder of a study") from None
