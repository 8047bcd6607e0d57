"""How much the picture changed, cell by cell."""

from __future__ import annotations

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from rgvf.features.observation import change
from rgvf.trajectory import Transition

MAX_CELLS = 20
"""Along a side: the paper has 20×20 on Atari, 18×20 on DeepMind Lab."""


class PixelChange(eqx.Module):
    """Mean absolute change of the pixels in each cell of the image's centre, row by row.

    Cells are square, such that about 20 of them span the shorter side; their numbers down and across are even (what a
    deconvolution with stride 2 can give) and at most 20. An 84×84 screen has 20×20 cells of 4×4 in its centre of 80×80;
    72×96 has 18×20 cells of 4×4 in 72×80; 10×10 has a cell for each pixel.
    """

    cell: int = eqx.field(static=True)
    rows: int = eqx.field(static=True)
    columns: int = eqx.field(static=True)
    newest_only: bool = eqx.field(static=True)

    def __init__(self, observation_shape: tuple[int, int, int], newest_only: bool = False) -> None:
        """`newest_only`: look at the last channel alone, the newest of a stack of frames."""
        height, width, _ = observation_shape
        if min(height, width) < 4:
            raise ValueError(f"an image of {height}×{width} is too small for cells; it needs 4×4 pixels at least")
        self.cell = max(1, round(min(height, width) / MAX_CELLS))
        self.rows, self.columns = (min(MAX_CELLS, n // self.cell // 2 * 2) for n in (height, width))
        self.newest_only = newest_only

    @property
    def names(self) -> tuple[str, ...]:
        """pixel-change/K for each cell K, row by row."""
        return tuple(f"pixel-change/{k}" for k in range(self.rows * self.columns))

    def __call__(self, transition: Transition) -> Float[Array, "*batch n"]:
        moved = jnp.abs(change(transition, self.newest_only))
        *batch, height, width, channels = moved.shape
        tall, wide = self.rows * self.cell, self.columns * self.cell
        top, left = (height - tall) // 2, (width - wide) // 2
        centre = moved[..., top : top + tall, left : left + wide, :]
        cells = centre.reshape(*batch, self.rows, self.cell, self.columns, self.cell, channels)
        return cells.mean((-4, -2, -1)).reshape(*batch, -1)
