"""What a run was made with: versions, commit, date and device."""

from __future__ import annotations

import datetime
import platform
import subprocess
from functools import cache
from pathlib import Path

import jax

from rgvf.version import __version__


def provenance() -> dict[str, str | None]:
    """For `config.json`, so that a result can be traced to the program that made it."""
    return {
        "rgvf": __version__,
        "commit": commit(),
        "jax": jax.__version__,
        "python": platform.python_version(),
        "device": device(),
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    }


def device() -> str:
    """The devices that JAX uses: "cpu", or "2 × NVIDIA H200"."""
    devices = jax.devices()
    kind = devices[0].device_kind
    return kind if len(devices) == 1 else f"{len(devices)} × {kind}"


@cache
def commit() -> str | None:
    """The commit of the checkout that rgvf runs from, with -dirty where files were changed; None elsewhere.

    As it was when this was first called: a process that runs for hours does not see what is changed meanwhile.
    """
    source = Path(__file__).parents[2]
    if not (source / ".git").exists():
        return None
    command = ["git", "-C", str(source), "describe", "--always", "--abbrev=12", "--dirty", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=10, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None
