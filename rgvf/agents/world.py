"""What an agent must know of its world before it is made."""

from __future__ import annotations

from typing import NamedTuple


class World(NamedTuple):
    """The shape of what is seen, and what can be done."""

    observation_shape: tuple[int, ...]
    """Of what the agent is shown, stacked frames included, newest last."""
    actions: tuple[str, ...]
    stacked: bool = False
    """The last axis is a stack of frames."""
    of_bytes: bool = False
    """What is seen are bytes, 0 to 255; otherwise any numbers."""

    @property
    def is_image(self) -> bool:
        return len(self.observation_shape) == 3

    def image_shape(self, what: str) -> tuple[int, int, int]:
        """Height, width, channels; ValueError where `what` needs an image and there is none."""
        if not self.is_image:
            raise ValueError(f"{what} needs an image, not observations of shape {self.observation_shape}")
        height, width, channels = self.observation_shape
        return height, width, channels
