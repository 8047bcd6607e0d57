"""Which game to play, as plain data that can be sent to another process and built there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar

from rgvf.environments.games import FRAME_CAP, find_game
from rgvf.environments.host import Game, HostSpec


@dataclass(frozen=True)
class AtariSource:
    """An Atari game and its rules; see `AtariGame`."""

    kind: ClassVar[str] = "atari"
    name: str
    sticky: float = 0.0
    frame_cap: int = FRAME_CAP
    episodic_life: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", find_game(self.name))

    def make(self, seed: int) -> Game:
        from rgvf.environments.atari import AtariGame

        options = {"sticky": self.sticky, "frame_cap": self.frame_cap, "episodic_life": self.episodic_life}
        return AtariGame(self.name, seed, **options)


@dataclass(frozen=True)
class GymSource:
    """A Gymnasium environment by its id."""

    kind: ClassVar[str] = "gym"
    name: str

    def make(self, seed: int) -> Game:
        from rgvf.environments.gymnasium import GymGame

        return GymGame(self.name, seed)


GameSource = AtariSource | GymSource

_KINDS: dict[str, type[AtariSource] | type[GymSource]] = {"atari": AtariSource, "gym": GymSource}
_PACKAGES = {"atari": "ale-py and opencv-python-headless", "gym": "gymnasium"}


def parse_source(text: str) -> GameSource:
    """The source that "atari/Breakout" or "gym/CartPole-v1" names."""
    kind, _, name = text.partition("/")
    if kind not in _KINDS or not name:
        raise ValueError(f"{text!r} is no game; expected atari/NAME (atari/Breakout) or gym/ID (gym/CartPole-v1)")
    return _KINDS[kind](name)


def make_game(source: GameSource, seed: int) -> Game:
    """Build the game. `seed` decides everything that is random in it."""
    try:
        return source.make(seed)
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{source.kind}/{source.name} needs {_PACKAGES[source.kind]}, but {error.name} is not installed"
        ) from error


def spec_of(source: GameSource) -> HostSpec:
    """The spec of the games of a source. It builds one to look."""
    game = make_game(source, 0)
    try:
        return game.spec
    finally:
        game.close()


def source_fields(source: GameSource) -> dict[str, Any]:
    """The source as JSON can hold it."""
    return {"kind": source.kind, **asdict(source)}


def source_from_fields(fields: Mapping[str, Any]) -> GameSource:
    """The inverse of `source_fields`."""
    options = dict(fields)
    return _KINDS[options.pop("kind")](**options)
