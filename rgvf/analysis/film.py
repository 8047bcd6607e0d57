"""A film of an agent: the screen, and beside it what the agent predicts and what then happened."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from rgvf.analysis.film_page import Curve, Film, pages

__all__ = ["Curve", "Film", "check_suffix", "write_film"]

_COLOURS = 64  # of a GIF


def write_film(
    path: Path, film: Film, frames_per_second: int = 15, report: Callable[[float], None] = lambda fraction: None
) -> Path:
    """Write an MP4 or a GIF, by the path's suffix.

    Args:
        path: where to.
        film: all that is shown.
        frames_per_second: steps in a second.
        report: called with the fraction done.
    """
    write = _write_gif if check_suffix(path).suffix.lower() == ".gif" else _write_mp4
    return write(path, pages(film), len(film.screens), frames_per_second, report)


def check_suffix(path: Path) -> Path:
    """The path, if it can be that of a film."""
    if path.suffix.lower() not in (".gif", ".mp4"):
        raise ValueError(f"a film is an .mp4 or a .gif file; the suffix {path.suffix!r} is neither")
    return path


def _write_gif(
    path: Path, images: Iterator[np.ndarray], total: int, speed: int, report: Callable[[float], None]
) -> Path:
    from PIL import Image

    frames: list[Image.Image] = []
    first = np.array(next(images))
    # One palette for all, so that only what moves is written.
    palette = Image.fromarray(first).quantize(_COLOURS, Image.Quantize.MAXCOVERAGE)
    for i, image in enumerate(itertools.chain([first], images), 1):
        frames.append(Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE))
        report(i / total)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=1000 // speed, loop=0)
    return path


def _write_mp4(
    path: Path, images: Iterator[np.ndarray], total: int, speed: int, report: Callable[[float], None]
) -> Path:
    """H.264, which every browser plays."""
    import av

    container = av.open(str(path), "w")
    stream = None
    for i, image in enumerate(images, 1):
        if stream is None:
            stream = container.add_stream("libx264", rate=speed, options={"crf": "20", "preset": "veryfast"})
            stream.width, stream.height, stream.pix_fmt = image.shape[1] // 2 * 2, image.shape[0] // 2 * 2, "yuv420p"
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image[: stream.height, : stream.width]), format="rgb24")
        container.mux(stream.encode(frame))
        report(i / total)
    if stream is not None:
        container.mux(stream.encode())
    container.close()
    return path
