"""The rewards that an agent learns from."""

from __future__ import annotations

from typing import Any, NamedTuple


class Rewards(NamedTuple):
    """Rewards are multiplied by `scale` and then clipped to ± `clip`; 0: not clipped. Scores stay as they are."""

    scale: float = 1.0
    clip: float = 0.0

    def __call__(self, reward: Any) -> Any:
        """The rewards to learn from; a NumPy or JAX array of any shape."""
        scaled = reward if self.scale == 1 else reward * self.scale
        return scaled.clip(-self.clip, self.clip) if self.clip else scaled
