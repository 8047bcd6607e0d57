"""The files of training runs that figures and tables need. No code of environments and tasks is needed to read them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rgvf.errors import UserError
from rgvf.messages import os_error
from rgvf.metrics_lines import name_lines, read_line, unreadable, whole_lines
from rgvf.settings import flat_settings


class NoRunsError(UserError):
    """A folder holds no runs, or none with metrics that can be read."""


class RunFiles(NamedTuple):
    """What the files of a run say."""

    path: Path
    """Its folder."""
    settings: Mapping[str, Any]
    """As `flat_settings` names them, and the version of the environment's rules."""
    lines: Mapping[int, list[dict[str, Any]]]
    """The metrics of each seed."""

    @property
    def frames(self) -> int:
        """How far it was trained."""
        return max(int(lines[-1]["frames"]) for lines in self.lines.values())


def read_folders(folders: Sequence[Path], say: Callable[[str], object]) -> list[RunFiles]:
    """The runs in these folders, each once. Those that cannot be read are left out, and named, where others can.

    Raises:
        UserError: a folder is missing, or none has a run that can be read.
    """
    runs: dict[Path, RunFiles] = {}
    without: list[NoRunsError] = []
    for folder in folders:
        try:
            for path in _runs_in(folder):
                try:
                    runs.setdefault(path.resolve(), _read_run(path))
                except NoRunsError as error:
                    without.append(error)
        except NoRunsError as error:
            without.append(error)
    if without and not runs:
        raise without[0]
    for sentence in dict.fromkeys(map(str, without)):
        say(f"Left out: {sentence}.")
    return list(runs.values())


class _Config(NamedTuple):
    """What config.json says, nothing where there is none; and why it cannot be read, if so."""

    data: Mapping[str, Any]
    damage: str = ""

    @classmethod
    def read(cls, folder: Path) -> _Config:
        """The one in this folder."""
        try:
            data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return cls({})
        except OSError as error:
            return cls({}, f"config.json: {os_error(error)}")
        except (ValueError, RecursionError) as error:
            return cls({}, f"config.json: {error}")
        return cls(data if isinstance(data, Mapping) else {})

    @property
    def is_of_run(self) -> bool:
        """Or may be: it cannot be read."""
        return "env" in self.data or bool(self.damage)


def _runs_in(folder: Path) -> list[Path]:
    """The folders of runs with metrics, or whose config.json is damaged."""
    if not folder.exists():
        raise UserError(f"there is no folder {folder}")
    if not folder.is_dir():
        raise UserError(f"{folder} is a file, not the folder of a run")
    own = _Config.read(folder)
    if "env" in own.data:
        if not _has_metrics(folder):
            raise NoRunsError(f"{folder} {_without_metrics(folder, own.data)}")
        return [folder]
    inside = folder / "agents" if (folder / "agents").is_dir() else folder
    runs = {path: _Config.read(path) for path in sorted(inside.iterdir()) if path.is_dir()}
    runs = {path: config for path, config in runs.items() if config.is_of_run}
    if not runs:
        if own.damage:
            raise _not_readable(folder, own.damage)
        raise NoRunsError(f"{folder} holds no runs: neither it nor a folder in it has the config.json of one")
    begun = [path for path, config in runs.items() if config.damage or _has_metrics(path)]
    if not begun:
        raise NoRunsError(f"the runs in {folder} have no metrics yet")
    return begun


def _not_readable(path: Path, why: str) -> NoRunsError:
    return NoRunsError(f"{path} holds no run that can be read: {why}")


def _read_run(path: Path) -> RunFiles:
    """NoRunsError where it cannot be read."""
    config = _Config.read(path)
    if config.damage:
        raise _not_readable(path, config.damage)
    try:
        made_with = dict(config.data.get("made_with") or {})
        settings = {**flat_settings(config.data), "rules": made_with.get("rules", 1)}
    except (TypeError, ValueError, LookupError, AttributeError):
        raise _not_readable(path, "it was made by another version of rgvf") from None
    return RunFiles(path, settings, _read_metrics(path))


def _has_metrics(folder: Path) -> bool:
    path = folder / "metrics.jsonl"
    return path.exists() and path.stat().st_size > 0


def _without_metrics(folder: Path, config: Mapping[str, Any]) -> str:
    """What to say of a run without metrics. One that is finished has had some."""
    checkpoints = [int(path.stem) for path in folder.glob("checkpoints/*.safetensors") if path.stem.isdigit()]
    frames, wanted = max(checkpoints, default=0), config.get("frames")
    if not isinstance(wanted, int) or frames < wanted:
        return "has no metrics yet"
    lost = f"has lost its metrics: it is trained for {frames:,} frames, but metrics.jsonl is missing or empty"
    return f"{lost}; put the file back, or train again in another folder"


def _read_metrics(path: Path) -> dict[int, list[dict[str, Any]]]:
    file = path / "metrics.jsonl"
    try:
        whole = whole_lines(file.read_bytes())
    except OSError as error:
        raise NoRunsError(f"cannot read the metrics of {path}: {os_error(error)}") from None
    if damaged := unreadable(whole):
        what = f"{name_lines(damaged)} cannot be read; 'rgvf train --resume {path}' removes what is damaged"
        raise NoRunsError(f"{file} is damaged: {what}")
    lines: dict[int, list[dict[str, Any]]] = {}
    for line in filter(None, map(read_line, whole)):
        lines.setdefault(int(line["seed"]), []).append(line)
    if not lines:
        raise NoRunsError(f"{path} has no metrics yet")
    return lines
