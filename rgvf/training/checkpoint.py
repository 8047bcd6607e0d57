"""Checkpoints: one flat file of named arrays, whole or not there, with a checksum. No pickle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import safetensors
import safetensors.numpy

from rgvf.atomic import write_atomically


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
        CheckpointError: it is cut short, changed, or not a checkpoint.
    """
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            header = file.metadata() or {}
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a mapping
        facts = json.loads(header["facts"])
    except (OSError, safetensors.SafetensorError, KeyError, ValueError) as error:
        raise CheckpointError(f"{path} is damaged or not a checkpoint ({error})") from None
    if _digest({name: arrays[name] for name in sorted(arrays)}, header["facts"]) != header.get("sha256"):
        raise CheckpointError(f"{path} is damaged (its checksum is wrong)")
    return arrays, facts


def _digest(arrays: Mapping[str, np.ndarray], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.data)
    return digest.hexdigest()


def named_arrays(tree: Any) -> dict[str, np.ndarray]:
    """The arrays of a pytree by their place in it."""
    leaves, _ = jax.tree_util.tree_flatten_with_path(tree)
    return {jax.tree_util.keystr(path): np.asarray(plain(leaf)) for path, leaf in leaves}


def fill(template: Any, arrays: Mapping[str, np.ndarray]) -> Any:
    """A pytree like the template, with the arrays that `named_arrays` gave.

    Raises:
        CheckpointError: the arrays are not of such a tree.
    """

    def read(path: Any, leaf: Any) -> Any:
        name, raw = jax.tree_util.keystr(path), plain(leaf)
        if name not in arrays:
            raise CheckpointError(f"the checkpoint has no array {name}")
        array = arrays[name]
        if array.shape != raw.shape or array.dtype != raw.dtype:
            raise CheckpointError(f"the checkpoint's {name} is {array.dtype}{array.shape}, not {raw.dtype}{raw.shape}")
        return jax.random.wrap_key_data(jnp.asarray(array)) if raw is not leaf else jnp.asarray(array)

    return jax.tree_util.tree_map_with_path(read, template)


def plain(leaf: Any) -> Any:
    """Random keys as the integers that they are."""
    is_key = isinstance(leaf, jax.Array) and jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
    return jax.random.key_data(leaf) if is_key else leaf
