"""Frame stacks of an agent that plays after training."""

from __future__ import annotations

import numpy as np

from rgvf.spec import EnvironmentSpec


class FrameStack:
    """Stacks the newest frames of n games as in training: frames before an episode's first are zero."""

    def __init__(self, spec: EnvironmentSpec, n: int) -> None:
        self._is_stacked = spec.is_stacked
        self._stack = np.zeros((n, *spec.observation_shape), spec.observation_dtype)

    def set(self, observations: np.ndarray) -> None:
        """Continue from what the agent saw: [n, *observation]."""
        self._stack = observations.copy()

    def push(self, frame: np.ndarray, first: np.ndarray) -> np.ndarray:
        """Add a frame of each game; returns what the agent sees: [n, *observation]."""
        if not self._is_stacked:
            return frame.copy()
        self._stack[first] = 0
        self._stack = np.concatenate([self._stack[..., 1:], frame[..., None]], axis=-1)
        return self._stack
