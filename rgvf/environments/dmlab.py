"""DeepMind Lab: the paper's 12 levels, through its own Python module."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rgvf.environments.game import GameError
from rgvf.environments.game_names import find_dmlab
from rgvf.environments.level_cache import LevelCache
from rgvf.environments.seeded import Outcome, SeededGame
from rgvf.messages import one_line
from rgvf.spec import EnvironmentSpec

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it imports modules that Python and setuptools are about to drop
    import deepmind_lab  # pyright: ignore[reportMissingImports] - it is not on PyPI

FOLDER = "contributed/dmlab30"
"""Where the engine has the levels."""
FRAME_SKIP = 4
HEIGHT, WIDTH = 72, 96
NOOP_MAX = 30
RENDERER = "RGVF_DMLAB_RENDERER"
"""The environment variable that chooses the renderer: software (by default) or hardware."""

_FRAMES = "RGB_INTERLEAVED"
_ACTIONS = {
    "forward": (0, 0, 0, 1, 0, 0, 0),
    "back": (0, 0, 0, -1, 0, 0, 0),
    "strafe_left": (0, 0, -1, 0, 0, 0, 0),
    "strafe_right": (0, 0, 1, 0, 0, 0, 0),
    "look_left": (-20, 0, 0, 0, 0, 0, 0),
    "look_right": (20, 0, 0, 0, 0, 0, 0),
    "look_left+forward": (-20, 0, 0, 1, 0, 0, 0),
    "look_right+forward": (20, 0, 0, 1, 0, 0, 0),
    "fire": (0, 0, 0, 0, 1, 0, 0),
}
"""Look right, look up, strafe right, move forward, fire, jump, crouch, as the engine takes them."""
_NOOP = np.zeros(7, np.intc)


class LabGame(SeededGame):
    """One level of DeepMind Lab.

    An action is held for four frames (of 1/60 s); the observation is 72×96 RGB. An episode opens with 1–30 steps of
    doing nothing, whose rewards do not count.

    The engine has no observation after the last step of an episode, so the one before it is repeated: every feature
    that is a change is 0 on that step, as in the paper's code. The engine does not tell a time limit from another end:
    every end is terminal, and nothing bootstraps from the repeated observation.

    The engine cannot continue an episode: it does not repeat itself, and no seed controls its bots. So `restore` starts
    a new episode, the one that would have come next. All else about a game continues exactly.

    There should be one Lab in a process, which starts with the first reset and lives as long as the game. It can end
    its process without an exception.

    Args:
        level: one of `DMLAB_LEVELS`.
        seed: decides every episode's seed.
    """

    suite = "dmlab"

    def __init__(self, level: str, seed: int) -> None:
        spec = EnvironmentSpec((HEIGHT, WIDTH, 3), "uint8", tuple(_ACTIONS), frames_per_step=FRAME_SKIP)
        super().__init__(find_dmlab(level), seed, spec)
        self._actions = [np.array(each, np.intc) for each in _ACTIONS.values()]
        self._renderer = renderer()
        self._lab: Any = None
        self._files = ""

    def _open(self, episode_seed: int) -> NDArray[np.generic]:
        if self._lab is None:
            self._lab = self._call(self._start_engine)
        try:
            self._lab.reset(seed=episode_seed)
        except Exception:  # it may be tried again
            self._call(self._lab.reset, seed=episode_seed)
        for _ in range(int(np.random.default_rng(episode_seed).integers(1, NOOP_MAX + 1))):
            self._call(self._lab.step, _NOOP, num_steps=FRAME_SKIP)
        return self._observe()

    def _start_engine(self) -> Any:
        config = {"width": str(WIDTH), "height": str(HEIGHT)}
        level, cache = f"{FOLDER}/{self.name}", LevelCache()
        self._files = tempfile.mkdtemp(prefix="rgvf-dmlab-")  # in the worker's folder, which goes also if it is killed
        return deepmind_lab.Lab(
            level, [_FRAMES], config=config, renderer=self._renderer, level_cache=cache, temp_folder=self._files
        )

    def _act(self, action: int) -> Outcome:
        reward = float(self._call(self._lab.step, self._actions[action], num_steps=FRAME_SKIP))
        if self._lab.is_running():
            return Outcome(self._observe(), reward, False, False)
        return Outcome(self.current().observation.copy(), reward, True, False)

    def _observe(self) -> NDArray[np.generic]:
        return self._call(self._lab.observations)[_FRAMES]

    def _call(self, method: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        """Whatever the engine raises becomes a GameError."""
        try:
            return method(*arguments, **named)
        except Exception as error:
            how = f"DeepMind Lab cannot play {self.name} with the {self._renderer} renderer"
            raise GameError(f"{how}: {one_line(error)}{_hint(str(error))}") from error

    def restore(self, data: bytes) -> None:
        """Start the episode that would have come next; see above."""
        fields, _ = self._unpack(data)
        self._rng.bit_generator.state = fields["rng"]
        self.reset()

    def render(self) -> NDArray[np.uint8]:
        """What the agent sees; the engine draws nothing else."""
        return np.array(self.current().observation, np.uint8)

    def close(self) -> None:
        """End the engine."""
        if self._lab is not None:
            self._lab.close()
            self._lab = None
        if self._files:
            shutil.rmtree(self._files, ignore_errors=True)
            self._files = ""


def renderer() -> str:
    """The renderer that the environment variable names. ValueError where it is none."""
    name = os.environ.get(RENDERER, "software")
    if name not in ("software", "hardware"):
        raise ValueError(f"{RENDERER} must be software or hardware, not {name!r}")
    return name


def _hint(message: str) -> str:
    """What to do about an error of the engine."""
    if "Level not found" in message:
        return f". Its levels lie in {FOLDER}: was it built without them?"
    if "Failed to connect RL API" in message:
        other = "software" if renderer() == "hardware" else "hardware"
        what = "its renderer was not built, or a graphics library is missing; the lines above say which"
        return f". Perhaps {what}. {RENDERER}={other} chooses the other renderer"
    return ""
