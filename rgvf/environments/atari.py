"""Atari games as the DQN literature plays them, over the emulator itself."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

import cv2
import numpy as np
from ale_py import ALEInterface, ALEState, LoggerMode, roms
from numpy.typing import NDArray

from rgvf.environments.game import TimeStep
from rgvf.environments.game_names import FRAME_CAP, find_atari, rom_name
from rgvf.environments.snapshots import pack, time_step_fields, unpack
from rgvf.spec import EnvironmentSpec

FRAME_SKIP = 4
SIZE = (84, 84)
STACK = 4
NOOP_MAX = 30

_MIN_FRAME_CAP = 100  # a game must last longer than its opening: 30 no-ops and two steps
_MAX_TRIES = 100
_NOOP, _FIRE, _SECOND = 0, 1, 2  # indices into the minimal action set


class AtariGame:
    """One Atari game.

    Each action is held for four frames; the observation is the maximum of the last two of them, grey, 84×84 by area
    averaging: bit for bit what Gymnasium's `AtariPreprocessing` gives, but for the last observation of a game. That is
    the true last screen here, and an older one there.

    A game opens with 1–30 single frames of no-op and, if it has a FIRE button, a step of FIRE and one of the action
    after it. A lost life ends the learner's episode; the next one plays on with one NOOP step and the same FIRE steps.
    A game that ends during a reset step is replaced by a new one, and its return is reported with that step.

    Two consoles take turns, a game each: while one is played, the next game can be opened on the other (`prepare`). To
    reset an emulator takes as long as some 15 steps.

    Args:
        game: one of `ATARI_GAMES`.
        seed: decides the number of no-ops and, with sticky actions, which ones stick.
        sticky: probability that the emulator repeats the last action, for each frame.
        frame_cap: a game is truncated after this many frames of the emulator.
        episodic_life: whether a lost life ends the learner's episode.
    """

    def __init__(
        self, game: str, seed: int, *, sticky: float = 0.0, frame_cap: int = FRAME_CAP, episodic_life: bool = True
    ) -> None:
        if not 0.0 <= sticky <= 1.0:
            raise ValueError(f"sticky must be a probability, not {sticky}")
        if frame_cap < _MIN_FRAME_CAP:
            raise ValueError(f"frame_cap must be at least {_MIN_FRAME_CAP} frames, not {frame_cap}")
        self.name = find_atari(game)
        self._episodic_life = episodic_life
        own_seed, *emulator_seeds = np.random.SeedSequence(seed).generate_state(3)
        self._rng = np.random.Generator(np.random.PCG64(int(own_seed)))
        self._console, self._other = (
            _Console(self.name, int(each) & 0x7FFFFFFF, sticky, frame_cap) for each in emulator_seeds
        )
        self._actions = self._console.actions
        names = tuple(action.name for action in self._actions)
        self._spec = EnvironmentSpec((*SIZE, STACK), "uint8", names, stack=STACK, frames_per_step=FRAME_SKIP)
        self._lives = 0
        self._length = 0
        self._needs_reset = True
        self._current: TimeStep | None = None
        self._opened_at: Mapping[str, Any] = {}  # the generator's state just before this game was opened
        self._played = bytearray()

    @property
    def spec(self) -> EnvironmentSpec:
        return self._spec

    def current(self) -> TimeStep:
        """The newest time step."""
        if self._current is None:
            raise RuntimeError(f"{self.name} has not been reset: call reset first")
        return self._current

    @property
    def lives(self) -> int:
        """Lives left, as the emulator counts them; 0 in a game without lives."""
        return self._lives

    def reset(self) -> TimeStep:
        self._needs_reset = True
        return self._start_episode()

    def step(self, action: int) -> TimeStep:
        last = self._current
        if last is None or last.terminal or last.truncated:
            return self._start_episode()
        if not 0 <= action < len(self._actions):
            raise ValueError(f"{self.name} has actions 0 to {len(self._actions) - 1}, not {action}")
        self._played.append(action)
        console = self._console
        before = console.score
        ended = console.play(self._actions[action])
        self._length += 1
        terminal = ended and console.ale.game_over(with_truncation=False)
        lives = console.ale.lives()
        # Some games show no lives before they start, and some show none for a while before they end.
        if self._episodic_life and 0 < lives < self._lives and not ended:
            terminal = True
        self._lives = lives
        self._needs_reset = ended
        self._current = TimeStep(
            observation=console.observation(),
            reward=console.score - before,
            terminal=terminal,
            truncated=ended and not terminal,
            first=False,
            game_over=ended,
            game_return=console.score,
            game_length=self._length,
        )
        return self._current

    def _start_episode(self) -> TimeStep:
        finished = None
        if self._needs_reset:
            self._start_game()
        else:
            self._played.append(_NOOP)
            if self._console.start_life():
                finished = self._console.score, self._length
                self._start_game()
        self._needs_reset = False
        console = self._console
        self._lives = console.ale.lives()
        total, length = finished or (console.score, self._length)
        self._current = TimeStep(console.observation(), 0.0, False, False, True, finished is not None, total, length)
        return self._current

    def _start_game(self) -> None:
        self.prepare()
        self._console, self._other = self._other, self._console
        self._opened_at = self._console.opened_at
        self._console.is_open = False
        self._length = 0
        self._played.clear()

    def prepare(self) -> None:
        """Open the next game ahead of time, on the console that is not being played."""
        if not self._other.is_open:
            self._other.open(self._rng)

    def save(self) -> bytes:
        """How the game began and the actions since, about 20 kB."""
        console, following = self._console, self._other
        fields = {
            "game": self.name,
            "rng": self._opened_at,
            "return": console.score,
            "length": self._length,
            "lives": self._lives,
            "screen": zlib.crc32(console.newest.tobytes()),
            "step": time_step_fields(self.current()),
        }
        parts = {"origin": console.origin, "actions": bytes(self._played), "next": following.before_opening()}
        return pack("atari", fields, parts)

    def restore(self, data: bytes) -> None:
        """Play the game again up to the step of `save`: some 3,000 steps a second, 27,000 at most.

        The emulator can save its state at any frame, but its picture is not part of that state, and some games (Qbert,
        Amidar) repaint only half of it in a frame, so a restored game would continue differently. Where a reset follows
        at once, as here, it does not.
        """
        fields, parts = unpack("atari", data)
        if fields["game"] != self.name:
            raise ValueError(f"this is the saved state of {fields['game']}; expected {self.name}")
        self._other.rewind(parts["origin"])
        self._rng.bit_generator.state = fields["rng"]
        self.reset()
        for action in parts["actions"]:
            self.step(action)
        self._other.rewind(parts["next"])
        console = self._console
        reached = (console.score, self._length, self._lives, zlib.crc32(console.newest.tobytes()))
        if reached != (fields["return"], fields["length"], fields["lives"], fields["screen"]):
            raise ValueError(
                f"{self.name} did not repeat itself: was it saved with other options or another version of ale-py?"
            )
        self._current = TimeStep(observation=console.observation(), **fields["step"])

    def render(self) -> NDArray[np.uint8]:
        return self._console.ale.getScreenRGB()

    def close(self) -> None:
        """An emulator holds nothing but memory."""


class _Console:
    """An emulator and what it shows."""

    def __init__(self, game: str, seed: int, sticky: float, frame_cap: int) -> None:
        self.ale = _emulator(game, seed, sticky, frame_cap)
        self.actions = self.ale.getMinimalActionSet()
        has_fire = any(action.name == "FIRE" for action in self.actions)
        self._opening = [self.actions[_FIRE], self.actions[_SECOND]] if has_fire else []
        self.newest = np.zeros(self.ale.getScreenDims(), np.uint8)
        self._previous = np.zeros_like(self.newest)
        self.score = 0.0
        """Unclipped return of the game."""
        self.is_open = False
        """A game has been opened and not yet played."""
        self.origin = b""
        """The emulator just before the game was opened."""
        self.opened_at: Mapping[str, Any] = {}
        """The generator at that time."""

    def open(self, rng: np.random.Generator) -> None:
        """Reset the emulator and play up to the agent's first step."""
        # A reset does not erase everything: some games (Assault, Tennis) begin differently after another game.
        self.origin = self.before_opening()
        self.opened_at = rng.bit_generator.state
        for _ in range(_MAX_TRIES):
            self.score = 0.0
            self.ale.reset_game()
            if self._survives_opening(int(rng.integers(1, NOOP_MAX + 1))):
                self.is_open = True
                return
        raise RuntimeError(f"the game ended {_MAX_TRIES} times before its first step")

    def _survives_opening(self, noops: int) -> bool:
        for _ in range(noops):
            self.score += self.ale.act(self.actions[_NOOP])
            if self.ale.game_over():
                return False
        self.ale.getScreenGrayscale(self.newest)
        self._previous.fill(0)
        return not any(self.play(action) for action in self._opening)

    def start_life(self) -> bool:
        """Play on after a lost life. Returns whether the game ended."""
        return any(self.play(action) for action in [self.actions[_NOOP], *self._opening])

    def play(self, action: Any) -> bool:
        """One action for four frames. Returns whether the game ended, or reached the cap."""
        act, ended = self.ale.act, self.ale.game_over
        for frame in range(FRAME_SKIP):
            self.score += act(action)
            if ended():
                if frame < FRAME_SKIP - 1:
                    self._previous.fill(0)  # it is of the step before
                self._read_screen()
                return True
            if frame == FRAME_SKIP - 2:
                self.ale.getScreenGrayscale(self._previous)
        self._read_screen()
        return False

    def _read_screen(self) -> None:
        self.ale.getScreenGrayscale(self.newest)
        np.maximum(self.newest, self._previous, out=self.newest)

    def observation(self) -> NDArray[np.uint8]:
        return cv2.resize(self.newest, SIZE, interpolation=cv2.INTER_AREA)  # pyright: ignore[reportReturnType]

    def before_opening(self) -> bytes:
        """The emulator's state as it is before the next game is opened, opened ahead of time or not."""
        return self.origin if self.is_open else self.ale.cloneState(include_rng=True).serialize()

    def rewind(self, origin: bytes) -> None:
        """Return to a state that `before_opening` gave."""
        self.ale.restoreState(ALEState(origin))
        self.is_open = False


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
