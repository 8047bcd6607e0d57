"""A stand-in for DeepMind Lab's Python module: its interface, errors, cache protocol and ends, without its engine.

What it shows is made up. Environment variables, which worker processes inherit, make it short, slow or mortal:
STANDIN_FRAMES (frames of an episode), STANDIN_COMPILE_SECONDS (of a map that is not cached), STANDIN_DIES_AT (a step
that ends the process), STANDIN_LACKS (a renderer that was not built), STANDIN_FAILS (so many resets of each fail).
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

FRAMES = {
    **{f"explore_{kind}_small": 5400 for kind in ("object_locations", "obstructed_goals", "goal_locations")},
    **{f"explore_{kind}_large": 7200 for kind in ("object_locations", "obstructed_goals", "goal_locations")},
    "explore_object_rewards_few": 5400,
    "explore_object_rewards_many": 7200,
    **{f"lasertag_{n}_{size}": 14400 for n in ("one_opponent", "three_opponents") for size in ("small", "large")},
}
"""Of an episode, by level."""
_BOUNDS = [
    *(("LOOK_LEFT_RIGHT_PIXELS_PER_FRAME", -512, 512), ("LOOK_DOWN_UP_PIXELS_PER_FRAME", -512, 512)),
    *(("STRAFE_LEFT_RIGHT", -1, 1), ("MOVE_BACK_FORWARD", -1, 1)),
    *(("FIRE", 0, 1), ("JUMP", 0, 1), ("CROUCH", 0, 1)),
]


class Lab:
    """One engine."""

    made: list[Lab] = []  # noqa: RUF012 - those of this process, for tests to look at

    def __init__(
        self,
        level: str,
        observations: list[str],
        config: dict[str, str] = {},  # noqa: B006 - as the original has it
        renderer: str = "software",
        level_cache: Any = None,
        temp_folder: str = "",
    ) -> None:
        for given, kind in ((level, str), (observations, list), (config, dict), (renderer, str), (temp_folder, str)):
            if type(given) is not kind:
                raise TypeError(f"argument must be {kind.__name__}, not {type(given).__name__}")
        if os.environ.get("STANDIN_LACKS") == renderer:
            raise RuntimeError("Failed to connect RL API")
        if renderer not in ("software", "hardware"):
            raise RuntimeError(f'Failed to set renderer must be "hardware" or "software" actual "{renderer}"!')
        self._size = {"width": 320, "height": 240}
        for name, value in config.items():
            if not isinstance(value, str):
                raise TypeError(f"config values must be strings, not {type(value).__name__}")
            if name in self._size:
                if int(value) <= 0 or int(value) % 4:
                    why = f"'{name}' must be a positive multiple of 4. Actual {value}"
                    raise RuntimeError(f"Failed to apply setting '{name} = {value}' - \"{why}\"")
                self._size[name] = int(value)
        folder, _, self._name = level.rpartition("/")
        if folder != "contributed/dmlab30" or self._name not in FRAMES:
            raise RuntimeError(f"Failed to init environment - \"Level not found: Failed to open file '{level}.lua'\"")
        for name in observations:
            if name != "RGB_INTERLEAVED":
                raise ValueError(f"Unknown observation '{name}'.")
        self._cache = level_cache
        # The engine removes its folder when it is closed, but not when its process is killed.
        self._folder = Path(tempfile.mkdtemp(prefix="dmlab_temp_folder_", dir=temp_folder or None))
        self._fails = int(os.environ.get("STANDIN_FAILS", 0))
        self._episode_frames = int(os.environ.get("STANDIN_FRAMES", FRAMES[self._name]))
        self._dies_at = int(os.environ.get("STANDIN_DIES_AT", 0))
        self._running, self._frames, self._steps, self._resets = False, 0, 0, 0
        self.level, self.config = level, dict(config)
        self.closed = False
        self.seeds: list[int | None] = []
        self.taken: list[tuple[tuple[int, ...], int]] = []
        Lab.made.append(self)

    def reset(self, episode: int = -1, seed: int | None = None) -> bool:
        """Start an episode; the map follows the seed."""
        if seed is not None and type(seed) is not int:
            raise ValueError(f"'seed' must be int or None, was '{_full_name(type(seed))}'.")
        del episode
        self.seeds.append(seed)
        if len(self.seeds) <= self._fails:
            raise RuntimeError("the map could not be compiled")
        seed = (time.time_ns() if seed is None else seed) & 0x7FFFFFFF
        print(f"loading a map of {self._name}", flush=True)
        self._load_map(seed)
        self._running, self._frames, self._resets = True, 0, self._resets + 1
        # The first episode of an engine repeats itself in another engine; later ones are equal to each other only.
        # The bots of lasertag follow no seed.
        bots = time.time_ns() if self._name.startswith("lasertag") else 0
        self._look = [seed, min(self._resets, 2), bots]
        return True

    def _load_map(self, seed: int) -> None:
        kind = "lt_procedural_aas" if self._name.startswith("lasertag") else "explore_maze_noaas"
        key = f"{kind}_{hashlib.md5(f'{self._name} {seed}'.encode()).hexdigest()}"
        path, level = self._folder / "map.pk3", key.encode() * 1000
        path.unlink(missing_ok=True)
        if self._cache is not None and self._cache.fetch(key, str(path)):
            if not path.exists() or path.read_bytes() != level:
                os._exit(1)  # as the engine does where a map cannot be found
            return
        time.sleep(float(os.environ.get("STANDIN_COMPILE_SECONDS", 0)))
        path.write_bytes(level)
        if self._cache is not None:
            self._cache.write(key, str(path))

    def step(self, action: np.ndarray, num_steps: int = 1) -> float:
        """Hold an action for some frames. The reward is 1 for each frame of walking forward."""
        if not isinstance(action, np.ndarray):
            raise TypeError("action must be a numpy array")
        if not self._running:
            raise RuntimeError("Environment in wrong status to advance.")
        if action.shape != (7,):
            raise ValueError("action must have shape (7)")
        if action.dtype != np.intc or not action.flags.c_contiguous:
            raise ValueError("action must have dtype np.intc")
        for value, (name, low, high) in zip(action.tolist(), _BOUNDS, strict=True):
            if not low <= value <= high:
                raise ValueError(f"{name} must be in {low}..{high}, not {value}")
        self._steps += 1
        if self._steps == self._dies_at:
            os._exit(1)
        self.taken.append((tuple(action.tolist()), num_steps))
        played = min(num_steps, self._episode_frames - self._frames)
        self._frames += played
        self._running = self._frames < self._episode_frames
        return float(played * max(int(action[3]), 0))

    def observations(self) -> dict[str, np.ndarray]:
        """What is seen now; nothing after the end."""
        if not self._running:
            raise RuntimeError("Environment in wrong status for call to observations()")
        shape = self._size["height"], self._size["width"], 3
        look = np.random.default_rng([*self._look, self._frames])
        return {"RGB_INTERLEAVED": look.integers(256, size=shape, dtype=np.uint8)}

    def observation_spec(self) -> list[dict[str, Any]]:
        """Names, shapes and types."""
        shape = self._size["height"], self._size["width"], 3
        return [{"name": "RGB_INTERLEAVED", "shape": shape, "dtype": np.uint8}]

    def action_spec(self) -> list[dict[str, Any]]:
        """Names and bounds."""
        return [{"name": name, "min": low, "max": high} for name, low, high in _BOUNDS]

    def is_running(self) -> bool:
        """Whether the episode goes on."""
        return self._running

    def num_steps(self) -> int:
        """Frames of the episode so far."""
        return self._frames

    def close(self) -> None:
        """End the engine."""
        self._running, self.closed = False, True
        shutil.rmtree(self._folder, ignore_errors=True)


def _full_name(kind: type) -> str:
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
