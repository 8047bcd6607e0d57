"""Shared memory of the learner and the worker processes: the newest time step of every game."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rgvf.environments.game import TimeStep
from rgvf.spec import EnvironmentSpec

_ALIGNMENT = 64


class TimeSteps(NamedTuple):
    """The newest time steps of n games, as arrays; see `TimeStep` for the fields."""

    observation: NDArray[np.generic]
    """[n, *frame_shape] of the spec's dtype."""
    reward: NDArray[np.float32]
    terminal: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    first: NDArray[np.bool_]
    game_over: NDArray[np.bool_]
    game_return: NDArray[np.float64]
    game_length: NDArray[np.int64]

    def part(self, games: slice) -> TimeSteps:
        """Views of some of the games."""
        return TimeSteps._make(array[games] for array in self)

    def write(self, index: int, step: TimeStep) -> None:
        """Overwrite the time step of one game."""
        for array, value in zip(self, step, strict=True):
            array[index] = value


def anonymous_file(size: int) -> int:
    """A descriptor of a file of `size` bytes without a name, so that nothing stays behind after a crash."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("rgvf")
    else:
        with tempfile.TemporaryFile() as file:
            descriptor = os.dup(file.fileno())
    os.ftruncate(descriptor, size)
    return descriptor


def layout(spec: EnvironmentSpec, n: int) -> tuple[list[tuple[np.dtype, tuple[int, ...], int]], int]:
    """Where each array lies, the actions last: (type, shape, offset), and the total number of bytes."""
    scalars = ["f4", "?", "?", "?", "?", "f8", "i8", "i4"]
    arrays = [(np.dtype(spec.observation_dtype), (n, *spec.frame_shape))]
    arrays += [(np.dtype(scalar), (n,)) for scalar in scalars]
    placed, offset = [], 0
    for dtype, shape in arrays:
        placed.append((dtype, shape, offset))
        size = dtype.itemsize * int(np.prod(shape))
        offset += -(-size // _ALIGNMENT) * _ALIGNMENT
    return placed, offset


def map_arrays(descriptor: int, spec: EnvironmentSpec, n: int) -> tuple[TimeSteps, NDArray[np.int32]]:
    """The time steps and the actions in the file `descriptor`. The memory lives as long as any view of it."""
    placed, size = layout(spec, n)
    memory = mmap.mmap(descriptor, max(size, 1))
    *arrays, actions = [np.ndarray(shape, dtype, buffer=memory, offset=offset) for dtype, shape, offset in placed]
    return TimeSteps(*arrays), actions
