"""Compiler flags that must be set before JAX is imported."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version

# XLA's default convolutions use a quarter of a CPU's speed. An unknown flag ends the process, so the flag is set only
# for versions that were tested.
_FAST_CONVOLUTIONS = "--xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_DOT"
_TESTED_VERSIONS = ("0.10.2",)


def use_fast_convolutions() -> None:
    """Make convolutions on a CPU twice as fast. Never overrides a flag that the user has set."""
    flags = os.environ.get("XLA_FLAGS", "")
    if (
        "jax" in sys.modules
        or "xla_cpu_experimental_ynn_fusion_type" in flags
        or version("jaxlib") not in _TESTED_VERSIONS
    ):
        return
    os.environ["XLA_FLAGS"] = f"{flags} {_FAST_CONVOLUTIONS}".strip()
