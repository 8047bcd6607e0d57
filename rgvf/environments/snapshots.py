"""Saved states of games as bytes: a JSON header, then raw parts, with a checksum. Reading one runs no code."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Mapping
from typing import Any

from rgvf.environments.game import TimeStep

_MAGIC = b"rgvfgame"
_VERSION = 1
_PREFIX = struct.Struct("<8sII")  # magic, checksum of all that follows, bytes of the header


def pack(kind: str, fields: Mapping[str, Any], parts: Mapping[str, bytes]) -> bytes:
    """`fields` must be what JSON can hold; `parts` are compressed, as screens are mostly background."""
    lengths = {name: len(part) for name, part in parts.items()}
    header = json.dumps({"kind": kind, "version": _VERSION, "fields": dict(fields), "parts": lengths}).encode()
    body = header + zlib.compress(b"".join(parts.values()), 1)
    return _PREFIX.pack(_MAGIC, zlib.crc32(body), len(header)) + body


def unpack(kind: str, data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The fields and parts that `pack` was given. ValueError for anything else."""
    if len(data) < _PREFIX.size or not data.startswith(_MAGIC):
        raise ValueError("this is not the saved state of a game")
    _, checksum, length = _PREFIX.unpack_from(data)
    body = data[_PREFIX.size :]
    if zlib.crc32(body) != checksum:
        raise ValueError("the saved state of a game is damaged: its checksum does not fit")
    header = json.loads(body[:length])
    if header["version"] != _VERSION:
        raise ValueError(f"the saved state of a game has version {header['version']}; expected {_VERSION}")
    if header["kind"] != kind:
        raise ValueError(f"this is the saved state of {header['kind']!r}; expected {kind!r}")
    payload, parts, start = zlib.decompress(body[length:]), {}, 0
    for name, size in header["parts"].items():
        parts[name] = payload[start : start + size]
        start += size
    return header["fields"], parts


def time_step_fields(step: TimeStep) -> dict[str, Any]:
    """A time step as JSON can hold it, without its observation."""
    fields = step._asdict()
    del fields["observation"]
    return fields
