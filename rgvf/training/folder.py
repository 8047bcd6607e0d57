"""A run's folder: its configuration, its questions, its metrics, its checkpoints."""

from __future__ import annotations

import dataclasses
import fcntl
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from rgvf.atomic import write_atomically
from rgvf.questions import QuestionNetwork
from rgvf.training.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from rgvf.training.config import RunConfig

GIVEN = "questions.given.json"
"""A question network of the user's own: a run must not depend on a file elsewhere."""
LOCK = ".lock"
KEPT = 2
"""Checkpoints that are kept: the newest, and one more in case it is damaged."""


class RunError(Exception):
    """The run cannot go on; the message is one sentence for the user."""


class RunFolder:
    """Files of a run."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._metrics: IO[bytes] | None = None
        self._lock: IO[bytes] | None = None

    @classmethod
    def create(cls, path: Path, config: RunConfig) -> RunFolder:
        """A new folder. RunError where it holds anything already, or cannot be written."""
        try:
            if path.exists() and not _is_a_beginning(path):
                holds_run = (path / "config.json").exists()
                hint = f"go on with it (rgvf train --resume {path}), or choose" if holds_run else "choose"
                raise RunError(
                    f"{path} {'holds a run' if holds_run else 'is not empty'} already; {hint} another folder"
                )
            given = Path(config.agent.questions).read_bytes() if config.agent.questions else None
            (path / "checkpoints").mkdir(parents=True, exist_ok=True)
            folder = cls(path)
            folder.lock()
            if given is not None:
                write_atomically(path / GIVEN, given)
            folder.save_config(config)
        except OSError as error:
            raise RunError(f"cannot write to the folder {path}: {error.strerror or error}") from None
        return folder

    @classmethod
    def open(cls, path: Path) -> tuple[RunFolder, RunConfig]:
        """An existing folder and its configuration. RunError where there is none."""
        try:
            config = RunConfig.from_json((path / "config.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            if (path / "agents").is_dir():
                raise RunError(f"{path} is a study's folder; its runs are under {path / 'agents'}") from None
            reason = error.strerror if isinstance(error, OSError) else error
            raise RunError(f"{path} holds no run that can be read: {reason}") from None
        return cls(path), _with_questions(config, str(path / GIVEN))

    def lock(self) -> None:
        """Keep other processes from training in this folder until it is closed. RunError where one does."""
        try:
            self._lock = (self.path / LOCK).open("wb")
        except OSError as error:
            raise RunError(f"cannot write to the folder {self.path}: {error.strerror or error}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise RunError(f"{self.path} is being trained in by another process") from None
        except OSError:
            pass  # a file system without locks

    def save_config(self, config: RunConfig) -> None:
        write_atomically(self.path / "config.json", _with_questions(config, GIVEN).to_json())

    def save_questions(self, networks: Mapping[int, Mapping[str, QuestionNetwork]]) -> None:
        """The networks of each seed, by task: questions.json; where there are several, their names say of what."""
        for seed, by_task in networks.items():
            for task, network in by_task.items():
                parts = [task] * (len(by_task) > 1) + [f"seed-{seed}"] * (len(networks) > 1)
                network.save(self.path / ".".join(["questions", *parts, "json"]))

    def write_metrics(self, line: Mapping[str, Any]) -> int:
        """Append a line; returns the length of the file."""
        if self._metrics is None:
            self._metrics = (self.path / "metrics.jsonl").open("ab")
        self._metrics.write(json.dumps(line).encode() + b"\n")
        self._metrics.flush()
        return self._metrics.tell()

    def cut_metrics(self, length: int) -> int:
        """Take back what was written after a checkpoint; returns the length, less where lines were lost."""
        self._close_metrics()
        with (self.path / "metrics.jsonl").open("a+b") as file:
            if file.seek(0, os.SEEK_END) < length:
                file.seek(0)
                length = file.read().rfind(b"\n") + 1  # whole lines
            file.truncate(length)
        return length

    def _close_metrics(self) -> None:
        if self._metrics is not None:
            self._metrics.close()
            self._metrics = None

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def close(self) -> None:
        self._close_metrics()
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def checkpoints(self) -> list[Path]:
        """Newest first."""
        return sorted((self.path / "checkpoints").glob("*.safetensors"), reverse=True)

    def save_checkpoint(self, frames: int, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> Path:
        """Write one more, which takes the metrics so far for granted, and delete those that are no longer kept."""
        path = self.path / "checkpoints" / f"{frames:012d}.safetensors"
        try:
            if self._metrics is not None:
                os.fsync(self._metrics.fileno())
            for broken in path.parent.glob(".*.safetensors.*"):  # of a process that was killed
                broken.unlink(missing_ok=True)
            save_checkpoint(path, arrays, facts)
        except OSError as error:
            kept = self.checkpoints()
            last = f"the last good one is {kept[0]}" if kept else "there is none yet"
            raise RunError(f"cannot write a checkpoint ({error.strerror or error}); {last}") from None
        for old in self.checkpoints()[KEPT:]:
            old.unlink(missing_ok=True)
        return path

    def load_checkpoint(self) -> tuple[tuple[dict[str, np.ndarray], dict[str, Any]] | None, list[str]]:
        """The newest checkpoint that is whole (None where there is none yet), and what was wrong with newer ones."""
        complaints: list[str] = []
        for path in self.checkpoints():
            try:
                return load_checkpoint(path), complaints
            except CheckpointError as error:
                complaints.append(str(error))
        if complaints:
            raise RunError(f"no checkpoint of {self.path} can be read: {complaints[0]}")
        return None, complaints


def _is_a_beginning(path: Path) -> bool:
    """Whether a folder holds nothing but what a run that was killed at once leaves behind."""
    left = {each.name for each in path.iterdir() if not each.name.startswith(".")} if path.is_dir() else {str(path)}
    return left <= {"checkpoints", GIVEN} and not any(path.glob("checkpoints/*"))


def _with_questions(config: RunConfig, path: str) -> RunConfig:
    """The configuration, with the user's own questions (if there are any) at another place."""
    if config.agent.questions is None:
        return config
    return dataclasses.replace(config, agent=dataclasses.replace(config.agent, questions=path))
