"""What an agent must know about an environment before it is made."""

from __future__ import annotations

from dataclasses import dataclass

SMALL_IMAGE = 36
"""Pixels along a side, below which an image is too small for the paper's convolutions."""


@dataclass(frozen=True)
class EnvironmentSpec:
    """Observations and actions of an environment. Agents and environments both know it; it needs no JAX."""

    observation_shape: tuple[int, ...]
    """Shape of what the agent sees: (84, 84, 4) for Atari, (4,) for CartPole. A frame stack is the last axis, newest
    frame last."""
    observation_dtype: str
    """Name of the NumPy type: "uint8" for images of bytes (0 to 255), "float32" or "bool" for other numbers."""
    actions: tuple[str, ...]
    """A name for each action; the agent chooses an index."""
    stack: int = 1
    """Frames in the frame stack; 1: none. The environment gives single frames, and the loop stacks them."""
    frames_per_step: int = 1
    """Frames of the emulator in one step of the agent."""

    def __post_init__(self) -> None:
        if self.stack > 1 and (len(self.observation_shape) != 3 or self.observation_shape[-1] != self.stack):
            raise ValueError(
                f"a stack of {self.stack} frames needs observations of shape (height, width, {self.stack}), "
                f"not {self.observation_shape}"
            )

    @property
    def is_stacked(self) -> bool:
        """The last axis of an observation is a stack of frames."""
        return self.stack > 1

    @property
    def frame_shape(self) -> tuple[int, ...]:
        """Shape of what one step of the environment gives: an observation without its frame stack."""
        return self.observation_shape[:-1] if self.is_stacked else self.observation_shape

    @property
    def is_image(self) -> bool:
        """Observations are (height, width, channels)."""
        return len(self.observation_shape) == 3

    @property
    def is_small_image(self) -> bool:
        """An image that is too small for the paper's convolutions."""
        return self.is_image and min(self.observation_shape[:2]) < SMALL_IMAGE

    def image_shape(self, needed_by: str) -> tuple[int, int, int]:
        """Height, width, channels; ValueError where `needed_by` needs an image and there is none."""
        if not self.is_image:
            raise ValueError(f"{needed_by} needs an image, not observations of shape {self.observation_shape}")
        height, width, channels = self.observation_shape
        return height, width, channels
