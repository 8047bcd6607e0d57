"""Features by name. A new kind of feature is a function here and a line in `KINDS`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from rgvf.features.basic import Constant, Reward
from rgvf.features.feature import Feature, Features, Selected
from rgvf.features.pixels import PixelChange
from rgvf.features.random import RandomLinear, RandomPatches
from rgvf.seeding import Purpose, key_for
from rgvf.spec import EnvironmentSpec

MAX_FEATURES = 100_000
"""Of one kind. A larger number in a file is a mistake, and would fill the memory with random vectors."""
DEFAULT_SCALE = 8.0
"""Length of the random vectors of `random-patches` (the paper's for Atari)."""

Make = Callable[[EnvironmentSpec, int, int, float], Feature]
"""(spec, number of features, seed, scale) → feature. Only `random-patches` has a scale."""


def _random_patches(spec: EnvironmentSpec, n: int, seed: int, scale: float) -> Feature:
    shape = spec.image_shape("random-patches")
    key = key_for(seed, Purpose.FEATURES)
    return RandomPatches(key, shape, _patch(spec), n, scale, newest_only=spec.is_stacked)


def _random_linear(spec: EnvironmentSpec, n: int, seed: int, scale: float) -> Feature:
    del scale  # standard normal entries, as in the grid studies
    return RandomLinear(key_for(seed, Purpose.FEATURES), spec.observation_shape, n)


KINDS: dict[str, Make] = {
    "reward": lambda spec, n, seed, scale: Reward(),
    "constant": lambda spec, n, seed, scale: Constant(),
    "random-patches": _random_patches,
    "random-linear": _random_linear,
    "pixel-change": lambda spec, n, seed, scale: PixelChange(spec.image_shape("pixel-change"), spec.is_stacked),
}
"""What makes the features KIND/0, KIND/1, …. Add your own kinds here."""
SINGLE = ("reward", "constant")
"""Kinds of which there is one feature, KIND."""


def make_features(names: Sequence[str], spec: EnvironmentSpec, seed: int, scale: float | None = None) -> Feature:
    """The features of these names, in this order. ValueError where one is unknown.

    Args:
        names: such as "reward" or "random-patches/3".
        seed: decides the random features.
        scale: length of the random vectors of `random-patches` (none: 8); other features have none.
    """
    scale = DEFAULT_SCALE if scale is None else scale
    sizes: dict[str, int] = {}
    for name in names:
        kind, _, number = name.partition("/")
        if kind not in KINDS or number.isdecimal() == (kind in SINGLE):
            raise ValueError(f"there is no feature {name!r} here; choose from {_known()}")
        if len(number) > len(str(MAX_FEATURES)) or int(number or 0) >= MAX_FEATURES:
            raise ValueError(f"there is no feature {name!r}: a kind has at most {MAX_FEATURES:,}")
        sizes[kind] = max(sizes.get(kind, 0), int(number or 0) + 1)
    parts: list[Feature] = [KINDS[kind](spec, size, seed, scale) for kind, size in sizes.items()]
    whole = parts[0] if len(parts) == 1 else Features(parts)
    known = set(whole.names)
    for name in names:
        if name not in known:
            last = [each for each in whole.names if each.partition("/")[0] == name.partition("/")[0]][-1]
            raise ValueError(f"there is no feature {name!r}: the last of its kind is {last}")
    return whole if whole.names == tuple(names) else Selected(whole, tuple(names))


def random_kind(spec: EnvironmentSpec, kind: Literal["auto", "patches", "linear"] = "auto") -> str:
    """Which random features to use: of patches where observations are images, else of the whole observation."""
    if kind == "patches":
        spec.image_shape("feature_kind patches")
    patches = kind == "patches" or (kind == "auto" and spec.is_image)
    return "random-patches" if patches else "random-linear"


def patch_of(name: str, spec: EnvironmentSpec) -> tuple[float, float, float, float] | None:
    """Left, top, width and height of the patch that a feature looks at, as parts of the image; None: of all of it."""
    kind, _, number = name.partition("/")
    if kind != "random-patches":
        return None
    (height, width, _), (rows, columns) = spec.image_shape(kind), _patch(spec)
    down, across = divmod(int(number) % (height // rows * (width // columns)), width // columns)
    return across * columns / width, down * rows / height, columns / width, rows / height


def _patch(spec: EnvironmentSpec) -> tuple[int, int]:
    """Height and width of a patch."""
    height, width, _ = spec.image_shape("random-patches")
    return height // _tiles(height), width // _tiles(width)


def _known() -> str:
    numbered = [f"{kind}/0, {kind}/1, …" for kind in KINDS if kind not in SINGLE]
    return ", ".join([*SINGLE, *numbered])


def _tiles(pixels: int) -> int:
    """How many patches to cut a side into: 4, or the most that fit exactly."""
    return next(n for n in (4, 3, 2, 1) if pixels % n == 0)
