"""Checkpoint files: named arrays and a checksum, complete or absent. No pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import safetensors.numpy

from rgvf.atomic import write_atomically

_UNREADABLE: tuple[type[Exception], ...] = (
    *(OSError, safetensors.SafetensorError, LookupError, ValueError, TypeError, AttributeError, RecursionError),
)


class CheckpointError(Exception):
    """A checkpoint cannot be read; the message says why."""


def save_checkpoint(path: Path, arrays: Mapping[str, np.ndarray], facts: Mapping[str, Any]) -> Path:
    """Write named arrays and some facts (JSON)."""
    ordered = {name: np.asarray(arrays[name], order="C") for name in sorted(arrays)}
    text = json.dumps(facts)
    header = {"facts": text, "sha256": _digest(ordered, text)}
    return write_atomically(path, safetensors.numpy.save(ordered, header))


def load_checkpoint(path: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """The arrays and facts of a checkpoint.

    Raises:
        CheckpointError: it is incomplete, changed, or not a checkpoint.
    """
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        facts = json.loads(header["facts"])
        digest = _digest({name: arrays[name] for name in sorted(arrays)}, header["facts"])
    except _UNREADABLE as error:
        raise CheckpointError(f"{path} is damaged or not a checkpoint ({error})") from None
    if digest != header.get("sha256"):
        raise CheckpointError(f"{path} is damaged (its checksum is wrong)")
    return arrays, facts


def _digest(arrays: Mapping[str, np.ndarray], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()
