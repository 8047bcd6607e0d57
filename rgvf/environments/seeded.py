"""Games whose episodes are whole games, each begun with a seed of its own: what they share."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rgvf.environments.game import TimeStep
from rgvf.environments.snapshots import pack, time_step_fields, unpack
from rgvf.spec import EnvironmentSpec


class Outcome(NamedTuple):
    """What one action gave."""

    observation: NDArray[np.generic]
    reward: float
    terminal: bool
    truncated: bool


class SeededGame(ABC):
    """A game that starts each episode with a seed, drawn from its own.

    `save` keeps the episode's seed and the actions since, and `restore` plays them again: exact for every environment
    that is deterministic given its seed.

    Args:
        name: of the environment, without its suite.
        seed: decides every episode's seed.
        spec: observations and actions.
    """

    suite: ClassVar[str]

    def __init__(self, name: str, seed: int, spec: EnvironmentSpec) -> None:
        self.name = name
        self._spec = spec
        self._rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed)))
        self._episode_seed = 0
        self._played: list[int] = []
        self._return = 0.0
        self._current: TimeStep | None = None

    @abstractmethod
    def _open(self, episode_seed: int) -> NDArray[np.generic]:
        """Start an episode: its first observation."""

    @abstractmethod
    def _act(self, action: int) -> Outcome:
        """Take an action."""

    @property
    def spec(self) -> EnvironmentSpec:
        """Observations and actions."""
        return self._spec

    def current(self) -> TimeStep:
        """The newest time step."""
        if self._current is None:
            raise RuntimeError(f"{self.name} has not been reset: call reset first")
        return self._current

    def reset(self) -> TimeStep:
        """Start a new game."""
        return self._begin(int(self._rng.integers(2**31)))

    def _begin(self, episode_seed: int) -> TimeStep:
        self._episode_seed, self._return = episode_seed, 0.0
        self._played.clear()
        self._current = TimeStep(self._open(episode_seed), 0.0, False, False, True, False, 0.0, 0)
        return self._current

    def step(self, action: int) -> TimeStep:
        """Take an action, or start the next game where one has ended."""
        last = self._current
        if last is None or last.terminal or last.truncated:
            return self.reset()
        if not 0 <= action < len(self._spec.actions):
            raise ValueError(f"{self.name} has actions 0 to {len(self._spec.actions) - 1}, not {action}")
        self._played.append(int(action))
        observation, reward, terminal, truncated = self._act(action)
        self._return += reward
        over = terminal or truncated
        step = TimeStep(observation, reward, terminal, truncated and not terminal, False, over, 0.0, 0)
        self._current = step._replace(game_return=self._return, game_length=len(self._played))
        return self._current

    def prepare(self) -> None:  # noqa: B027 - most games leave it so
        """Nothing can be done ahead of time."""

    def save(self) -> bytes:
        """How the game began, and the actions since."""
        fields = {
            "id": self.name,
            "rng": self._rng.bit_generator.state,
            "episode_seed": self._episode_seed,
            "observation": zlib.crc32(self.current().observation.tobytes()),
            "step": time_step_fields(self.current()),
        }
        return pack(self.suite, fields, {"actions": np.array(self._played, "<i4").tobytes()})

    def _unpack(self, data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
        """What `save` packed. ValueError where it is the state of another environment."""
        fields, parts = unpack(self.suite, data)
        if fields["id"] != self.name:
            raise ValueError(f"this is the saved state of {fields['id']}; expected {self.name}")
        return fields, parts

    def restore(self, data: bytes) -> None:
        """Play the episode again up to the step of `save`."""
        fields, parts = self._unpack(data)
        step = self._begin(fields["episode_seed"])
        for action in np.frombuffer(parts["actions"], "<i4").tolist():
            step = self.step(action)
        reached = time_step_fields(step), zlib.crc32(step.observation.tobytes())
        if reached != (fields["step"], fields["observation"]):
            raise ValueError(f"{self.name} cannot be restored: with the same seed and actions it went differently")
        self._rng.bit_generator.state = fields["rng"]
