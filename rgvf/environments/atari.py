"""Atari games as the DQN literature plays them, over the emulator itself."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from ale_py import ALEInterface, ALEState, LoggerMode, roms
from numpy.typing import NDArray

from rgvf.environments.games import FRAME_CAP, find_game, rom_name
from rgvf.environments.host import HostSpec, Moment
from rgvf.environments.snapshots import moment_fields, pack, unpack

FRAME_SKIP = 4
SIZE = (84, 84)
STACK = 4
NOOP_MAX = 30

_SMALLEST_CAP = 100  # a game must outlive its own opening: 30 no-ops and two steps
_TRIES = 100
_NOOP, _FIRE, _SECOND = 0, 1, 2  # indices into the minimal action set


class AtariGame:
    """One Atari game.

    Each action is held for four frames; the observation is the maximum of the last two of them, grey, 84×84 by area
    averaging: bit for bit what Gymnasium's `AtariPreprocessing` gives, also where a game ends within the four frames
    and the frames before stand in for those that never came.

    A game opens with 1–30 single frames of no-op and, if it has a FIRE button, a step of FIRE and one of the action
    after it. A lost life ends the learner's episode; the next one plays on with one NOOP step and the same FIRE steps.
    A game that ends while an episode is being started is replaced by a new one, and its return is reported with the
    `first` moment.

    Args:
        game: one of `GAMES`.
        seed: decides the number of no-ops and, with sticky actions, which ones stick.
        sticky: probability that the emulator repeats the last action, for each frame.
        frame_cap: a game is cut off after this many frames of the emulator.
        episodic_life: whether a lost life ends the learner's episode.
    """

    def __init__(
        self, game: str, seed: int, *, sticky: float = 0.0, frame_cap: int = FRAME_CAP, episodic_life: bool = True
    ) -> None:
        if not 0.0 <= sticky <= 1.0:
            raise ValueError(f"sticky must be a probability, not {sticky}")
        if frame_cap < _SMALLEST_CAP:
            raise ValueError(f"frame_cap must be at least {_SMALLEST_CAP} frames, not {frame_cap}")
        self.name = find_game(game)
        self._episodic_life = episodic_life
        own_seed, emulator_seed = np.random.SeedSequence(seed).generate_state(2)
        self._rng = np.random.Generator(np.random.PCG64(int(own_seed)))
        self._ale = _emulator(self.name, int(emulator_seed) & 0x7FFFFFFF, sticky, frame_cap)
        self._actions = self._ale.getMinimalActionSet()
        names = tuple(action.name for action in self._actions)
        self._opening = [self._actions[_FIRE], self._actions[_SECOND]] if "FIRE" in names else []
        self._spec = HostSpec(SIZE, "uint8", names, frames_per_step=FRAME_SKIP, stack=STACK)
        self._newest = np.zeros(self._ale.getScreenDims(), np.uint8)
        self._previous = np.zeros_like(self._newest)
        self._lives = 0
        self._return = 0.0
        self._length = 0
        self._needs_reset = True
        self._moment: Moment | None = None
        # What `save` needs: the emulator and the generator just before the game's reset, and the steps since.
        self._origin = b""
        self._origin_rng: Mapping[str, Any] = {}
        self._played = bytearray()

    @property
    def spec(self) -> HostSpec:
        return self._spec

    @property
    def moment(self) -> Moment:
        if self._moment is None:
            raise RuntimeError(f"{self.name} has not been started: call reset first")
        return self._moment

    @property
    def lives(self) -> int:
        """Lives left, as the emulator counts them; 0 in a game that has none."""
        return self._lives

    def reset(self) -> Moment:
        self._needs_reset = True
        return self._start_episode()

    def step(self, action: int) -> Moment:
        last = self._moment
        if last is None or last.terminal or last.truncated:
            return self._start_episode()
        if not 0 <= action < len(self._actions):
            raise ValueError(f"{self.name} has actions 0 to {len(self._actions) - 1}, not {action}")
        self._played.append(action)
        before = self._return
        ended = self._play(self._actions[action])
        self._length += 1
        terminal = ended and self._ale.game_over(with_truncation=False)
        lives = self._ale.lives()
        # Some games show no lives before they start, and some show none for a while before they end.
        if self._episodic_life and 0 < lives < self._lives and not ended:
            terminal = True
        self._lives = lives
        self._needs_reset = ended
        self._moment = Moment(
            observation=self._observation(),
            reward=self._return - before,
            terminal=terminal,
            truncated=ended and not terminal,
            first=False,
            game_over=ended,
            game_return=self._return,
            game_length=self._length,
        )
        return self._moment

    def _play(self, action: Any) -> bool:
        """One action for four frames. Returns whether the game ended, or reached the cap."""
        act, ended = self._ale.act, self._ale.game_over
        for frame in range(FRAME_SKIP):
            self._return += act(action)
            if ended():
                np.maximum(self._newest, self._previous, out=self._newest)
                return True
            if frame == FRAME_SKIP - 2:
                self._ale.getScreenGrayscale(self._previous)
        self._ale.getScreenGrayscale(self._newest)
        np.maximum(self._newest, self._previous, out=self._newest)
        return False

    def _observation(self) -> NDArray[np.uint8]:
        return cv2.resize(self._newest, SIZE, interpolation=cv2.INTER_AREA)  # pyright: ignore[reportReturnType]

    def _start_episode(self) -> Moment:
        finished = None
        if self._needs_reset:
            self._start_game()
        else:
            self._played.append(_NOOP)
            if any(self._play(action) for action in [self._actions[_NOOP], *self._opening]):
                finished = self._return, self._length
                self._start_game()
        self._needs_reset = False
        self._lives = self._ale.lives()
        total, length = finished or (self._return, self._length)
        self._moment = Moment(self._observation(), 0.0, False, False, True, finished is not None, total, length)
        return self._moment

    def _start_game(self) -> None:
        # A reset does not erase all of the past: some games (Assault, Tennis) begin differently after another one.
        self._origin = self._ale.cloneState(include_rng=True).serialize()
        self._origin_rng = self._rng.bit_generator.state
        self._played.clear()
        for _ in range(_TRIES):
            self._return, self._length = 0.0, 0
            self._ale.reset_game()
            if self._open_game():
                return
        raise RuntimeError(f"{self.name} ended {_TRIES} times before its first step")

    def _open_game(self) -> bool:
        """No-ops and FIRE after a reset. Returns whether the game still goes on."""
        for _ in range(int(self._rng.integers(1, NOOP_MAX + 1))):
            self._return += self._ale.act(self._actions[_NOOP])
            if self._ale.game_over():
                return False
        self._ale.getScreenGrayscale(self._newest)
        self._previous.fill(0)
        return not any(self._play(action) for action in self._opening)

    def save(self) -> bytes:
        """How the game began and what was played since, about 10 kB."""
        fields = {
            "game": self.name,
            "rng": self._origin_rng,
            "return": self._return,
            "length": self._length,
            "lives": self._lives,
            "screen": zlib.crc32(self._newest.tobytes()),
            "moment": moment_fields(self.moment),
        }
        return pack("atari", fields, {"origin": self._origin, "actions": bytes(self._played)})

    def restore(self, data: bytes) -> None:
        """Play the game again up to the moment of `save`: some 3,000 steps a second, 27,000 at most.

        The emulator can save its state at any frame, but its picture is not part of that state, and some games (Qbert,
        Amidar) repaint only half of it in a frame: what is restored goes on differently. Where a reset follows at once,
        as here, it does not.
        """
        fields, parts = unpack("atari", data)
        if fields["game"] != self.name:
            raise ValueError(f"this is the saved state of {fields['game']}; expected {self.name}")
        self._ale.restoreState(ALEState(parts["origin"]))
        self._rng.bit_generator.state = fields["rng"]
        self.reset()
        for action in parts["actions"]:
            self.step(action)
        reached = (self._return, self._length, self._lives, zlib.crc32(self._newest.tobytes()))
        if reached != (fields["return"], fields["length"], fields["lives"], fields["screen"]):
            raise ValueError(
                f"{self.name} did not repeat itself: was its state saved with other options or another ale-py?"
            )
        self._moment = Moment(observation=self._observation(), **fields["moment"])

    def render(self) -> NDArray[np.uint8]:
        return self._ale.getScreenRGB()

    def close(self) -> None:
        """An emulator holds nothing but memory."""


def _emulator(game: str, seed: int, sticky: float, frame_cap: int) -> ALEInterface:
    ALEInterface.setLoggerMode(LoggerMode.Error)
    ale = ALEInterface()
    ale.setFloat("repeat_action_probability", sticky)
    ale.setInt("max_num_frames_per_episode", frame_cap)
    ale.setInt("random_seed", seed)
    path = roms.get_rom_path(rom_name(game))
    if path is None:
        raise ValueError(f"ale-py has no ROM for {game}")
    ale.loadROM(path)
    return ale
