"""ViZDoom's scenarios: 3-D games that run in an engine of their own."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import vizdoom
from numpy.typing import NDArray

from rgvf.environments.game import GameError
from rgvf.environments.game_names import FRAME_CAP, find_doom
from rgvf.environments.seeded import Outcome, SeededGame
from rgvf.messages import one_line
from rgvf.spec import EnvironmentSpec

FRAME_SKIP = 4
HEIGHT, WIDTH = 72, 96

_NOOP = "noop"
_ACTIONS = (
    *(("MOVE_FORWARD",), ("MOVE_BACKWARD",), ("MOVE_LEFT",), ("MOVE_RIGHT",), ("TURN_LEFT",), ("TURN_RIGHT",)),
    *(("TURN_LEFT", "MOVE_FORWARD"), ("TURN_RIGHT", "MOVE_FORWARD"), ("ATTACK",), ("USE",)),
)


class DoomGame(SeededGame):
    """One scenario of ViZDoom.

    An action is held for four frames (tics of 1/35 s). The engine draws 160×120 pixels, its smallest picture; the
    observation is 72×96 RGB by linear interpolation (which makes three pixels of five with nearly the same weights as
    area averaging would, in a tenth of the time). Rewards are the scenario's own, summed over the frames.

    The actions are: nothing; each button of the scenario that moves, turns, attacks or uses; and, where the scenario
    has these buttons, turning left or right while moving forward. Buttons that choose weapons or walking speed, and
    those that take numbers, are left out.

    The engine shows nothing after the last step of an episode, so the last observation is repeated: every feature that
    is a change is 0 on that step, and what a truncated episode bootstraps from is the last thing that was seen. An
    episode is truncated where its time is over, and after 108,000 frames at the latest; otherwise its end is terminal.

    With the same seed and actions an episode repeats itself exactly. The engine is a process of its own, which starts
    with the first reset.

    Args:
        scenario: one of `DOOM_SCENARIOS`.
        seed: decides every episode's seed.
    """

    suite = "doom"

    def __init__(self, scenario: str, seed: int) -> None:
        name = find_doom(scenario)
        self._engine = _configured(name)
        buttons = [button.name for button in self._engine.get_available_buttons()]
        pressed: list[tuple[str, ...]] = [(), *(each for each in _ACTIONS if set(each) <= set(buttons))]
        self._pressed = [[float(button in each) for button in buttons] for each in pressed]
        names = tuple("+".join(each).lower() or _NOOP for each in pressed)
        super().__init__(name, seed, EnvironmentSpec((HEIGHT, WIDTH, 3), "uint8", names, frames_per_step=FRAME_SKIP))
        self._files: tempfile.TemporaryDirectory[str] | None = None
        self._screen = np.zeros((0, 0, 3), np.uint8)

    def _open(self, episode_seed: int) -> NDArray[np.generic]:
        if self._files is None:
            self._start_engine()
        self._engine.set_seed(episode_seed)
        self._call(self._engine.new_episode)
        return self._observe()

    def _start_engine(self) -> None:
        """It leaves files in the folder that it is started in."""
        self._files = tempfile.TemporaryDirectory(prefix="rgvf-doom-")
        with contextlib.chdir(self._files.name):
            self._call(self._engine.init)

    def _act(self, action: int) -> Outcome:
        reward = float(self._call(self._engine.make_action, self._pressed[action], FRAME_SKIP))
        if not self._engine.is_episode_finished():
            return Outcome(self._observe(), reward, False, False)
        truncated = self._engine.is_episode_timeout_reached() and not self._engine.is_player_dead()
        return Outcome(self.current().observation.copy(), reward, not truncated, truncated)

    def _observe(self) -> NDArray[np.generic]:
        state = self._engine.get_state()
        if state is None:
            raise GameError(f"doom/{self.name} ended before its first step")
        self._screen = state.screen_buffer
        return np.asarray(cv2.resize(self._screen, (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR))

    def _call(self, method: Callable[..., Any], *arguments: Any) -> Any:
        """Whatever the engine raises becomes a GameError."""
        try:
            return method(*arguments)
        except Exception as error:
            raise GameError(f"the engine of doom/{self.name} failed: {one_line(error)}") from error

    def render(self) -> NDArray[np.uint8]:
        """The picture that the engine drew; after the end of an episode, its last."""
        return np.array(self._screen)

    def close(self) -> None:
        """End the engine."""
        self._engine.close()
        if self._files is not None:
            self._files.cleanup()
            self._files = None


def _configured(scenario: str) -> vizdoom.DoomGame:
    """The engine of a scenario, not yet started."""
    engine = vizdoom.DoomGame()
    engine.load_config(str(Path(vizdoom.scenarios_path) / f"{scenario}.cfg"))
    if scenario == "freedoom1":
        engine.set_doom_map("E1M1")  # its first map, which the scenario's file does not name
    engine.set_mode(vizdoom.Mode.PLAYER)
    engine.set_screen_resolution(vizdoom.ScreenResolution.RES_160X120)
    engine.set_screen_format(vizdoom.ScreenFormat.RGB24)
    engine.set_window_visible(False)
    engine.set_sound_enabled(False)
    engine.set_audio_buffer_enabled(False)
    engine.set_notifications_buffer_enabled(False)
    engine.set_automap_buffer_enabled(False)
    engine.set_episode_timeout(min(engine.get_episode_timeout() or FRAME_CAP, FRAME_CAP))
    return engine
