"""A study's folder: its settings and the result of each finished variant."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rgvf.atomic import remove_temporary_files, write_atomically
from rgvf.errors import UserError
from rgvf.messages import os_error


class FolderError(UserError):
    """The folder cannot be used; the message says why and what to do."""


class StudyFolder:
    """Results by variant, written one by one, so that an interrupted study can be resumed."""

    def __init__(
        self, path: Path, study: str, settings: Mapping[str, Any], defaults: Mapping[str, Any] | None = None
    ) -> None:
        """Open a new or an existing folder.

        Args:
            settings: of the study, as JSON can hold them.
            defaults: what a setting was that the folder does not name, because it is newer than the folder.

        Raises:
            FolderError: it holds something else, or cannot be written. Nothing in it is changed then.
        """
        self.path = path
        wanted = json.loads(json.dumps({"study": study, "settings": dict(settings)}))
        try:
            found = self.check(path)
            if found is not None:
                found["settings"] = {**json.loads(json.dumps(dict(defaults or {}))), **found["settings"]}
                _check_same(path, found, wanted)
            (path / "results").mkdir(parents=True, exist_ok=True)
            remove_temporary_files(path, path / "results", path / "questions")
            if found is None:
                self.write_json("config.json", wanted, indent=1)
        except OSError as error:
            raise FolderError(f"cannot write to the folder {path}: {os_error(error)}") from None

    @staticmethod
    def check(path: Path) -> dict[str, Any] | None:
        """The settings of the study in a folder; None where it is new or empty.

        Raises:
            FolderError: it is no folder, or holds something else.
        """
        if not path.exists() or (path.is_dir() and all(map(_is_left_over, path.iterdir()))):
            return None
        if not path.is_dir():
            raise FolderError(f"{path} is a file; choose a folder with --out")
        try:
            found = json.loads((path / "config.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            found = None
        except (ValueError, RecursionError):
            raise FolderError(f"{path / 'config.json'} is damaged: it is no JSON") from None
        if not isinstance(found, dict) or not isinstance(found.get("settings"), dict) or "study" not in found:
            raise FolderError(f"{path} holds files that are not a study's; choose another folder with --out")
        return found

    def result(self, variant: str) -> dict[str, Any] | None:
        """The finished result of a variant, or None; a file that cannot be read counts as not finished."""
        return read_result(self.path, variant)

    def names(self) -> list[str]:
        """The variants that have a file with a result, which may be damaged."""
        return result_names(self.path)

    def save_result(self, variant: str, data: Mapping[str, Any]) -> Path:
        """Write the result of a variant, with a checksum that its name is part of."""
        plain = json.loads(json.dumps(data))
        return self.write_json(f"results/{variant}.json", {**plain, "sha256": _digest(variant, plain)})

    def write_json(self, name: str, data: Any, indent: int | None = None) -> Path:
        """Write a JSON file; compact, unless it has an indent."""
        separators = None if indent else (",", ":")
        text = json.dumps(data, indent=indent, separators=separators, ensure_ascii=False)
        return self.write_text(name, text + "\n")

    def write_text(self, name: str, text: str) -> Path:
        """Write a text file, complete or not at all."""
        return write_atomically(self.path / name, text)


def read_result(path: Path, variant: str) -> dict[str, Any] | None:
    """The finished result of a variant in the folder of a study, or None. Nothing is changed there."""
    try:
        data = json.loads((path / "results" / f"{variant}.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError, RecursionError):
        return None
    if not isinstance(data, dict) or data.pop("sha256", None) != _digest(variant, data):
        return None
    return data


def result_names(path: Path) -> list[str]:
    """The variants that have a file with a result in the folder of a study."""
    return sorted(each.name.removesuffix(".json") for each in (path / "results").glob("[!.]*.json"))


def _digest(variant: str, data: Mapping[str, Any]) -> str:
    text = json.dumps([variant, data], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _is_left_over(entry: Path) -> bool:
    """Something that is written before the settings: by a study that was killed, or by another that starts now."""
    return entry.name.startswith(".config.json.") or (entry.name == "results" and not any(entry.iterdir()))


def _check_same(path: Path, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    if found["study"] != wanted["study"]:
        raise FolderError(
            f"{path} holds the study {found['study']}, not {wanted['study']}; choose another folder with --out"
        )
    names = [*wanted["settings"], *(name for name in found["settings"] if name not in wanted["settings"])]
    for name in names:
        before, now = found["settings"].get(name), wanted["settings"].get(name)
        if before != now:
            raise FolderError(
                f"{path} holds this study with {name} = {before}, not {now}; "
                "choose another folder with --out, or the same settings to resume it"
            )
