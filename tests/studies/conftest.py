"""DeepMind Lab's stand-in, for its study."""

from tests.environments.conftest import cache, lab, no_lab

__all__ = ["cache", "lab", "no_lab"]
