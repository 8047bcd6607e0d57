"""A picture of an observation, for environments that do not draw themselves, and a check of those of others that do.

It needs no JAX.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_COLOURS = np.array(
    [[255, 255, 255], [230, 80, 60], [90, 170, 250], [250, 200, 70], [120, 210, 120], [190, 120, 220],
     [250, 140, 60], [80, 220, 220], [240, 120, 170], [160, 160, 160]],
    np.float32,
)  # fmt: skip
_COLUMNS = 32
"""Of a long vector, in a row."""


def picture_of(observation: NDArray[np.generic]) -> NDArray[np.uint8]:
    """An image in colours or shades as it is; of others a colour for each channel, one over another.

    Vectors are laid out in rows. What is small is enlarged.
    """
    if observation.dtype == np.uint8 and observation.ndim == 3 and observation.shape[-1] in (1, 3):
        image = np.broadcast_to(observation, (*observation.shape[:2], 3))
    else:
        cells = np.asarray(observation, np.float32) / (255 if observation.dtype == np.uint8 else 1)
        if cells.ndim != 3:
            columns = min(cells.size, _COLUMNS)
            cells = np.append(cells, np.zeros(-cells.size % columns, np.float32)).reshape(-1, columns, 1)
        image = np.zeros((*cells.shape[:2], 3), np.float32)
        for channel in reversed(range(cells.shape[-1])):
            value = cells[..., channel, None]
            image = np.where(value > 0, value * _COLOURS[channel % len(_COLOURS)], image)
    times = max(1, min(16, 160 // max(image.shape)))
    return image.clip(0, 255).astype(np.uint8).repeat(times, axis=0).repeat(times, axis=1)


def checked_picture(picture: Any) -> NDArray[np.uint8]:
    """What an environment's `render` gave, also an array of JAX. ValueError where it is no picture."""
    array = np.asarray(picture) if hasattr(picture, "__array__") else None
    if array is None or array.dtype != np.uint8 or array.ndim != 3 or array.shape[-1] != 3 or not array.size:
        given = type(picture).__name__ if array is None else f"{array.dtype}{list(array.shape)}"
        raise ValueError(f"`render` must give a picture in bytes, uint8[height, width, 3], not {given}")
    return array
