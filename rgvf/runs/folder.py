"""A run's folder: its configuration, its question networks, its metrics, its checkpoints."""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from rgvf.atomic import remove_temporary_files, write_atomically
from rgvf.environments import RULES
from rgvf.errors import UserError
from rgvf.messages import os_error
from rgvf.metrics_lines import mend
from rgvf.questions import QuestionNetwork
from rgvf.runs.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from rgvf.runs.config import MADE_WITH, MAY_CHANGE, MissingModuleError, RunConfig, differences
from rgvf.runs.provenance import commit, provenance
from rgvf.version import __version__

Networks = Mapping[int, Mapping[str, QuestionNetwork]]
"""The question networks of a run, by seed and task."""
LOCK = ".lock"


class RunError(UserError):
    """A run cannot start or continue; the message is one sentence for the user."""


class InUseError(RunError):
    """Another process trains in the folder."""


class RunFolder:
    """The files of a run."""

    def __init__(self, path: Path, made_with: Any = None) -> None:
        self.path = path
        self._made_with = made_with
        self._metrics: IO[bytes] | None = None
        self._lock: IO[bytes] | None = None

    @classmethod
    def create(cls, path: Path, config: RunConfig, networks: Networks) -> RunFolder:
        """A new folder. RunError where it holds anything already, or cannot be written."""
        try:
            if path.exists() and not _has_no_run_yet(path):
                if (path / "config.json").exists():
                    again = config.command("train --resume", path)
                    resume = f"{again}, or rgvf.resume({str(path)!r}) in Python, continues it"
                    raise RunError(f"{path} holds a run already; {resume}; or choose another folder")
                is_what = "is not empty" if path.is_dir() else "is a file"
                raise RunError(f"{path} {is_what}; choose another folder (--out DIR)")
            (path / "checkpoints").mkdir(parents=True, exist_ok=True)
            folder = cls(path, {**provenance(), "rules": RULES.get(config.env, 1)})
            folder.lock()
            for left in _question_files(path):
                left.unlink()
            for name, network in _files(config, networks).items():
                network.save(path / name)
            folder.save_config(config)  # last: a folder with a configuration has all that a run needs
        except OSError as error:
            raise RunError(f"cannot write to the folder {path}: {os_error(error)}") from None
        return folder

    @classmethod
    def open(cls, path: Path) -> tuple[RunFolder, RunConfig]:
        """An existing folder and its configuration. RunError where there is none."""
        try:
            text = (path / "config.json").read_text(encoding="utf-8")
            config = RunConfig.from_json(text)
        except MissingModuleError as error:
            raise RunError(f"{path} cannot be loaded: {error}") from None
        except (OSError, ValueError, RecursionError) as error:
            if not path.exists():
                raise RunError(f"{path} holds no run: there is no such folder") from None
            if path.is_dir() and not (path / "config.json").exists() and not (path / "agents").is_dir():
                raise RunError(f"{path} holds no run: it has no config.json") from None
            if (path / "agents").is_dir():
                raise RunError(f"{path} is a study's folder; its runs are under {path / 'agents'}") from None
            reason = os_error(error) if isinstance(error, OSError) else error
            raise RunError(f"{path} holds no run that can be read: config.json: {reason}") from None
        return cls(path, json.loads(text).get(MADE_WITH)), config

    @property
    def rules(self) -> Any:
        """The version of the environment's rules that the run was created with."""
        return self._made_with.get("rules", 1) if isinstance(self._made_with, dict) else 1

    def does_not_fit(self, error: Exception) -> RunError:
        """What to raise where a checkpoint is not one of such a run; where rgvf has changed, that may be why."""
        message = f"the checkpoint of {self.path} does not fit its configuration: {error}"
        created = self._made_with.get("commit") if isinstance(self._made_with, dict) else None
        now = commit()
        if created and created != now and not isinstance(error, ChangedFileError):
            this = now or f"version {__version__}"
            message += f"; the run was created with commit {created} of rgvf, and this is {this}"
        return RunError(message)

    def load_networks(self, config: RunConfig) -> dict[int, dict[str, QuestionNetwork]]:
        """The question networks that were saved when the run was created. RunError where one cannot be read."""
        networks: dict[int, dict[str, QuestionNetwork]] = {}
        for seed, by_task in _names(config).items():
            networks[seed] = {}
            for task, name in by_task.items():
                try:
                    networks[seed][task] = QuestionNetwork.load(self.path / name)
                except OSError as error:
                    raise RunError(f"the run's question network cannot be read: {os_error(error)}") from None
                except ValueError as error:
                    raise RunError(f"the run's question network cannot be read: {error}") from None
        return networks

    def lock(self) -> None:
        """Keep other processes from training in this folder until it is closed. RunError where another one does.

        What a process that was killed has left half written is removed.
        """
        try:
            self._lock = (self.path / LOCK).open("wb")
        except OSError as error:
            raise RunError(f"cannot write to the folder {self.path}: {os_error(error)}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise InUseError(f"{self.path} is in use: another process trains there") from None
        except OSError:
            pass  # a file system without locks
        remove_temporary_files(self.path, self.path / "checkpoints")

    def save_config(self, config: RunConfig) -> None:
        """Write config.json."""
        write_atomically(self.path / "config.json", config.to_json(self._made_with))

    def write_metrics(self, line: Mapping[str, Any], checksum: int = 0) -> tuple[int, int]:
        """Append a line; returns the length and the checksum of the file, from its checksum before."""
        if self._metrics is None:
            self._metrics = (self.path / "metrics.jsonl").open("ab")
        text = json.dumps(line, allow_nan=False).encode() + b"\n"
        self._metrics.write(text)
        self._metrics.flush()
        return self._metrics.tell(), zlib.crc32(text, checksum)

    def has_metrics(self) -> bool:
        """Whether any line of metrics was written."""
        path = self.path / "metrics.jsonl"
        return path.exists() and path.stat().st_size > 0

    def cut_metrics(self, length: int, checksum: int, frames: int) -> tuple[int, str]:
        """Remove what was written after the checkpoint that has these; from a damaged file also unreadable lines.

        Returns how long the file is then, and a sentence about what is wrong with it; empty where nothing is.
        """
        self._close_metrics()
        path = self.path / "metrics.jsonl"
        path.touch()
        content = path.read_bytes()
        if len(content) >= length and zlib.crc32(content[:length]) == checksum:
            if len(content) > length:
                os.truncate(path, length)
            return length, ""
        kept, wrong = mend(content, length, frames)
        if kept != content:
            write_atomically(path, kept)
        return len(kept), f"{path} {wrong}"

    def metrics_are_intact(self) -> bool:
        """Whether metrics.jsonl holds what had been written when the newest checkpoint was."""
        content, (found, _) = (self.path / "metrics.jsonl").read_bytes(), self.load_checkpoint()
        return found is None or zlib.crc32(content[: found[1]["metrics_length"]]) == found[1]["metrics_checksum"]

    def _close_metrics(self) -> None:
        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files, and let other processes use the folder."""
        self._close_metrics()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def checkpoints(self) -> list[Path]:
        """Their paths, newest first."""
        return sorted((self.path / "checkpoints").glob("*.safetensors"), reverse=True)

    def save_checkpoint(
        self, frames: int, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any], keep: int
    ) -> Path:
        """Write a checkpoint, after the metrics so far; all but the newest `keep` are deleted."""
        path = self.path / "checkpoints" / f"{frames:012d}.safetensors"
        try:
            if self._metrics is not None:
                os.fsync(self._metrics.fileno())
            save_checkpoint(path, arrays, facts)
        except OSError as error:
            kept = self.checkpoints()
            last = f"the last good one is {kept[0]}" if kept else "there is none yet"
            raise RunError(f"cannot write a checkpoint ({os_error(error)}); {last}") from None
        for old in self.checkpoints()[keep:]:
            old.unlink(missing_ok=True)
        return path

    def load_checkpoint(
        self, frames: int | None = None
    ) -> tuple[tuple[dict[str, np.ndarray], dict[str, Any]] | None, list[str]]:
        """The newest intact checkpoint (None where there is none yet), and what is wrong with newer ones.

        With `frames`, the checkpoint that was written after so many. RunError where there is none.
        """
        complaints: list[str] = []
        found = {int(path.stem): path for path in self.checkpoints() if path.stem.isdigit()}
        if frames is not None and frames not in found:
            known = ", ".join(f"{each:,}" for each in sorted(found)) or "none"
            raise RunError(f"{self.path} has no checkpoint after {frames:,} frames; it has {known}")
        for path in found.values() if frames is None else [found[frames]]:
            try:
                return load_checkpoint(path), complaints
            except CheckpointError as error:
                complaints.append(str(error))
        if frames is not None:
            raise RunError(complaints[0])
        if complaints:
            raise RunError(f"no checkpoint of {self.path} can be read: {complaints[0]}")
        return None, complaints


def identity(config: RunConfig, networks: Networks) -> dict[str, Any]:
    """What a checkpoint remembers of the other files, so that changes of these are noticed."""
    return {"config": config.to_data(), "questions": _checksum(networks)}


class ChangedFileError(ValueError):
    """A file beside the checkpoint was changed since."""


def check_identity(facts: Mapping[str, Any], config: RunConfig, networks: Networks) -> None:
    """ChangedFileError where a checkpoint is of a run with another configuration or other question networks.

    KeyError where it does not say which.
    """
    if facts["questions"] != _checksum(networks):
        raise ChangedFileError("the question networks are not those that were trained")
    trained = RunConfig.from_data(facts["config"])
    changed = differences(trained, config).keys() - MAY_CHANGE
    if changed:
        raise ChangedFileError(f"config.json has another {', '.join(sorted(changed))} than the run was trained with")


def _checksum(networks: Networks) -> int:
    texts = (network.to_json() for by_task in networks.values() for network in by_task.values())
    return zlib.crc32("".join(texts).encode())


def _names(config: RunConfig) -> dict[int, dict[str, str]]:
    """The files of the question networks: questions.json; with the task and the seed where there are several."""
    tasks = config.agent.question_tasks
    several_tasks, several_seeds = len(tasks) > 1, config.seeds > 1
    return {
        seed: {
            task: ".".join(["questions", *[task] * several_tasks, *[f"seed-{seed}"] * several_seeds, "json"])
            for task in tasks
        }
        for seed in config.all_seeds
    }


def _files(config: RunConfig, networks: Networks) -> dict[str, QuestionNetwork]:
    return {name: networks[seed][task] for seed, by_task in _names(config).items() for task, name in by_task.items()}


def _has_no_run_yet(path: Path) -> bool:
    """Whether a folder holds nothing but what is left of a run that was killed before its configuration was written."""
    if not path.is_dir():
        return False
    expected = {path / "checkpoints", *(_question_files(path) if (path / LOCK).exists() else ())}
    visible = {each for each in path.iterdir() if not each.name.startswith(".")}
    return visible <= expected and not any(path.glob("checkpoints/*"))


def _question_files(path: Path) -> list[Path]:
    return [*path.glob("questions.json"), *path.glob("questions.*.json")]
