"""Compiler flags, which must be set before JAX computes anything."""

from __future__ import annotations

import os
from importlib.metadata import version

# On a CPU, jaxlib 0.10.2 hands more than matrix products to a library of kernels. Convolutions then have half of their
# speed, and some sums are wrong: those in Craftax's noise, from the ninth landscape of a batch on. An unknown flag ends
# the process, so the flag is set only for versions that were tested.
_FLAG = "xla_cpu_experimental_ynn_fusion_type"
_TESTED_VERSIONS = ("0.10.2",)


def set_compiler_flags() -> None:
    """Right sums and fast convolutions on a CPU. Overrides no flag that the user has set."""
    flags = os.environ.get("XLA_FLAGS", "")
    if _FLAG not in flags and version("jaxlib") in _TESTED_VERSIONS:
        os.environ["XLA_FLAGS"] = f"{flags} --{_FLAG}=LIBRARY_FUSION_TYPE_DOT".strip()
