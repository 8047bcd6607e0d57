"""A film of an agent: the screen, and beside it what the agent predicts and what then happened."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import numpy as np

from rgvf.analysis.film_page import Curve, Film, pages
from rgvf.errors import UserError

__all__ = ["Curve", "Film", "check_file", "write_film"]

_COLOURS = 64  # of a GIF
_SAMPLED = 20  # screens that its colours are chosen from


def write_film(
    path: Path,
    film: Film,
    frames_per_second: int | None = None,
    report: Callable[[float], None] = lambda fraction: None,
) -> Path:
    """Write an MP4 or a GIF, by the path's suffix.

    Args:
        path: where to.
        film: all that is shown.
        frames_per_second: steps in a second; by default 15, or fewer if the film would be over in a moment.
        report: called with the fraction done.
    """
    write = _write_gif if check_suffix(path).suffix.lower() == ".gif" else _write_mp4
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = _partial(path)
    try:
        write(partial, film, frames_per_second or _speed(len(film.screens)), report)
        return partial.replace(path)  # a film is there as a whole, or not at all
    except OSError as error:
        raise _cannot_write(path, error) from None
    finally:
        partial.unlink(missing_ok=True)


def _speed(steps: int) -> int:
    """Steps in a second."""
    return min(15, max(2, steps // 6))


def check_file(path: Path) -> Path:
    """The path, if it can be that of a film and be written; UserError where it cannot."""
    check_suffix(path)
    trial = _partial(path)
    if path.is_dir():
        raise UserError(f"cannot write the film {path}: it is a folder")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        trial.touch()
        trial.unlink()
    except OSError as error:
        raise _cannot_write(path, error) from None
    return path


def _cannot_write(path: Path, error: OSError) -> UserError:
    return UserError(f"cannot write the film {path}: {error.strerror or error}")


def _partial(path: Path) -> Path:
    """Where a film is written before it is complete."""
    return path.with_name(f".{path.stem}.rgvf{path.suffix}")


def check_suffix(path: Path) -> Path:
    """The path, if it can be that of a film."""
    if path.suffix.lower() not in (".gif", ".mp4"):
        raise ValueError(f"a film is an .mp4 or a .gif file; the suffix {path.suffix!r} is neither")
    return path


def _write_gif(path: Path, film: Film, speed: int, report: Callable[[float], None]) -> None:
    from PIL import Image

    images, total = pages(film), len(film.screens)
    frames: list[Image.Image] = []
    first = np.array(next(images))
    # One palette for all, so that only what moves is written: of the first page, and of screens of the whole film.
    screens = film.screens[:: max(1, total // _SAMPLED)]
    wide = max(first.shape[1], *(screen.shape[1] for screen in screens))
    rows = [np.pad(each, ((0, 0), (0, wide - each.shape[1]), (0, 0)), "edge") for each in (first, *screens)]
    palette = Image.fromarray(np.concatenate(rows)).quantize(_COLOURS, Image.Quantize.MAXCOVERAGE)
    for i, image in enumerate(itertools.chain([first], images), 1):
        frames.append(Image.fromarray(image).quantize(palette=palette, dither=Image.Dither.NONE))
        report(i / total)
    frames[0].save(path, save_all=True, append_images=frames[1:], duration=1000 // speed, loop=0)


def _write_mp4(path: Path, film: Film, speed: int, report: Callable[[float], None]) -> None:
    """H.264, which every browser plays."""
    import av

    total = len(film.screens)
    container = av.open(str(path), "w")
    stream = None
    for i, image in enumerate(pages(film), 1):
        if stream is None:
            stream = container.add_stream("libx264", rate=speed, options={"crf": "20", "preset": "veryfast"})
            stream.width, stream.height, stream.pix_fmt = image.shape[1] // 2 * 2, image.shape[0] // 2 * 2, "yuv420p"
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image[: stream.height, : stream.width]), format="rgb24")
        container.mux(stream.encode(frame))
        report(i / total)
    if stream is not None:
        container.mux(stream.encode())
    container.close()
