"""Settings of the compiler that must be made before JAX is imported."""

from __future__ import annotations

import os
import sys
from importlib.metadata import version

# XLA's own convolutions run at a quarter of a CPU's speed. An unknown flag ends the process, so it is given only to
# versions that were tried.
_FAST_CONVOLUTIONS = "--xla_cpu_experimental_ynn_fusion_type=LIBRARY_FUSION_TYPE_DOT"
_KNOWN = ("0.10.2",)


def use_fast_convolutions() -> None:
    """Twice the speed for convolutions on a CPU; never over the user's own flags."""
    flags = os.environ.get("XLA_FLAGS", "")
    if "jax" in sys.modules or "xla_cpu_experimental_ynn_fusion_type" in flags or version("jaxlib") not in _KNOWN:
        return
    os.environ["XLA_FLAGS"] = f"{flags} {_FAST_CONVOLUTIONS}".strip()
