"""A film of an agent: the screen, and beside it what the agent predicts and what then happened."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from rgvf.analysis.plots import COLOURS

WINDOW = 100
"""Steps that are shown on either side of now, where there are as many."""


def write_film(
    path: Path,
    screens: Sequence[np.ndarray],
    policy: np.ndarray,
    actions: Sequence[str],
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
    frames_per_second: int = 15,
    report: Callable[[float], None] = lambda fraction: None,
) -> Path:
    """Write an MP4 or a GIF, by the path's suffix.

    Args:
        screens: RGB images, one for each of T steps.
        policy: probabilities [T, actions].
        curves: by title, (predicted, what happened), each [T], NaN where there is nothing to show.
    """
    write = _write_gif if check_suffix(path).suffix.lower() == ".gif" else _write_mp4
    return write(path, _images(screens, policy, actions, curves), len(screens), frames_per_second, report)


def check_suffix(path: Path) -> Path:
    """The path, if it can be that of a film."""
    if path.suffix.lower() not in (".gif", ".mp4"):
        raise ValueError(f"a film is an .mp4 or a .gif file; the suffix {path.suffix!r} is neither")
    return path


def _images(
    screens: Sequence[np.ndarray],
    policy: np.ndarray,
    actions: Sequence[str],
    curves: Mapping[str, tuple[np.ndarray, np.ndarray]],
) -> Iterator[np.ndarray]:
    figure = Figure(figsize=(9.6, 5.4), dpi=100, layout="constrained")
    canvas = FigureCanvasAgg(figure)
    left, right = np.asarray(figure.subfigures(1, 2, width_ratios=(0.42, 0.58)))
    screen_axes, policy_axes = left.subplots(2, 1, height_ratios=(4, 1))
    screen = screen_axes.imshow(screens[0])
    screen_axes.axis("off")
    bars = policy_axes.bar(range(len(actions)), policy[0], color=COLOURS[0])
    policy_axes.set(ylim=(0, 1), title="policy", yticks=[])
    policy_axes.set_xticks(range(len(actions)), [name.lower() for name in actions], fontsize=7, rotation=45)
    grid = right.subplots(len(curves), 1, sharex=True, squeeze=False)[:, 0]
    marks = []
    time = np.arange(len(screens))
    for axes, (title, (predicted, happened)) in zip(grid, curves.items(), strict=True):
        axes.plot(time, happened, color=COLOURS[8], linewidth=1.0, label="what then happened")
        axes.plot(time, predicted, color=COLOURS[1], linewidth=1.4, label="predicted")
        axes.set_title(title, fontsize=8, loc="left", wrap=True)
        axes.tick_params(labelsize=7)
        axes.spines[["top", "right"]].set_visible(False)
        marks.append(axes.axvline(0, color=COLOURS[0], linewidth=1))
    grid[0].legend(fontsize=7, loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, frameon=False)
    grid[-1].set_xlabel("steps", fontsize=8)
    for t, image in enumerate(screens):
        screen.set_data(image)
        for bar, height in zip(bars, policy[t], strict=True):
            bar.set_height(height)
        start = np.clip(t - WINDOW, 0, max(0, len(screens) - 1 - 2 * WINDOW))
        for axes, mark in zip(grid, marks, strict=True):
            mark.set_xdata([t, t])
            axes.set_xlim(start, max(1, min(start + 2 * WINDOW, len(screens) - 1)))
        canvas.draw()
        yield np.asarray(canvas.buffer_rgba())[..., :3]


def _write_gif(
    path: Path, images: Iterator[np.ndarray], total: int, speed: int, report: Callable[[float], None]
) -> Path:
    from PIL import Image

    frames: list[Image.Image] = []
    for i, image in enumerate(images, 1):
        frames.append(Image.fromarray(image).convert("P", palette=Image.Palette.ADAPTIVE, colors=128))
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
            stream = container.add_stream("libx264", rate=speed, options={"crf": "20"})
            stream.width, stream.height, stream.pix_fmt = image.shape[1] // 2 * 2, image.shape[0] // 2 * 2, "yuv420p"
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(image[: stream.height, : stream.width]), format="rgb24")
        container.mux(stream.encode(frame))
        report(i / total)
    if stream is not None:
        container.mux(stream.encode())
    container.close()
    return path
