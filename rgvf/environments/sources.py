"""Which game to play, as plain data that can be sent to another process and built there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rgvf.environments.games import FRAME_CAP, find_game, find_minatar
from rgvf.environments.host import Game, HostSpec

if TYPE_CHECKING:
    from rgvf.environments.protocol import Environment


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


@dataclass(frozen=True)
class MinAtarSource:
    """A MinAtar game, which runs inside the compiled program."""

    kind: ClassVar[str] = "minatar"
    name: str
    sticky: float = 0.1

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", find_minatar(self.name))

    def environment(self) -> Environment:
        from rgvf.environments.minatar import MinAtar

        return MinAtar(self.name, self.sticky)


@dataclass(frozen=True)
class OwnSource:
    """An environment that a program passes to `rgvf.train` itself."""

    kind: ClassVar[str] = "own"
    name: str

    def environment(self) -> Environment:
        raise ValueError(f"own/{self.name} is known only to the program that trained in it: pass it as `environment`")


GameSource = AtariSource | GymSource
"""Games in worker processes."""
DeviceSource = MinAtarSource | OwnSource
"""Games inside the compiled program."""
Source = GameSource | DeviceSource

_KINDS: dict[str, Any] = {"atari": AtariSource, "gym": GymSource, "minatar": MinAtarSource, "own": OwnSource}
_PACKAGES = {"atari": "ale-py and opencv-python-headless", "gym": "gymnasium", "minatar": "pgx"}


def parse_source(text: str) -> Source:
    """The source that "atari/Breakout", "gym/CartPole-v1" or "minatar/Breakout" names."""
    kind, _, name = text.partition("/")
    if kind not in _KINDS or not name:
        raise ValueError(f"{text!r} is no game; expected atari/NAME, minatar/NAME or gym/ID, such as atari/Breakout")
    return _KINDS[kind](name)


def make_game(source: Source, seed: int) -> Game:
    """Build the game, for the host. `seed` decides everything that is random in it."""
    if isinstance(source, MinAtarSource | OwnSource):
        raise ValueError(f"{source.kind}/{source.name} runs inside the compiled program, not on the host")
    with _explained(source):
        return source.make(seed)


def environment_of(source: Source, own: Environment | None = None) -> Environment | None:
    """The environment of the compiled program that is meant: one's own, or the source's; None: it plays on the host."""
    if own is not None:
        if not isinstance(source, OwnSource):
            raise ValueError(f"an environment of one's own is named own/NAME, not {source.kind}/{source.name}")
        from rgvf.environments.protocol import check_environment

        check_environment(own)
        return own
    if isinstance(source, AtariSource | GymSource):
        return None
    with _explained(source):
        return source.environment()


@contextmanager
def _explained(source: Source) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ValueError(
            f"{source.kind}/{source.name} needs {_PACKAGES[source.kind]}, but {error.name} is not installed"
        ) from error


def spec_of(source: Source) -> HostSpec:
    """The spec of the games of a source. It builds one to look."""
    game = make_game(source, 0)
    try:
        return game.spec
    finally:
        game.close()


def source_fields(source: Source) -> dict[str, Any]:
    """The source as JSON can hold it."""
    return {"kind": source.kind, **asdict(source)}


def source_from_fields(fields: Mapping[str, Any]) -> Source:
    """The inverse of `source_fields`."""
    options = dict(fields)
    return _KINDS[options.pop("kind")](**options)
