"""Environments by name: SUITE/NAME, such as atari/Breakout. A new suite is a line in `SUITES`.

It needs no JAX, because worker processes import it. A suite's own modules are imported when they are used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rgvf.environments.game import Game
from rgvf.environments.game_names import find_atari, find_minatar
from rgvf.environments.gym_names import parse_gym_name
from rgvf.spec import EnvironmentSpec

if TYPE_CHECKING:
    from rgvf.environments.environment import Environment


@dataclass(frozen=True)
class Suite:
    """Where the environments of a suite are made."""

    module: str
    """Below rgvf.environments."""
    maker: str
    """A class or function in it: of (name, seed) for games, of (name) for environments in JAX; and of options."""
    in_jax: bool
    """Its environments run inside the compiled program; otherwise they are games in worker processes."""
    extra: str
    """The extra of rgvf that installs what the suite needs."""
    find: Callable[[str], str] = str
    """The full name of an environment from what the user wrote; ValueError where there is none."""
    options: tuple[str, ...] = ()
    """Options that its environments take."""


SUITES = {
    "atari": Suite("atari", "AtariGame", False, "atari", find_atari, ("sticky", "frame_cap", "episodic_life")),
    "gym": Suite("gymnasium", "GymGame", False, "gym", options=("render",)),
    "minatar": Suite("minatar", "MinAtar", True, "minatar", find_minatar, ("sticky",)),
    "minatar-pgx": Suite("minatar", "PgxMinAtar", True, "minatar", find_minatar, ("sticky",)),
}
GIVEN = "own"
"""The suite of environments that a program passes itself."""


def canonical_name(name: str) -> str:
    """The name as it is spelt everywhere: atari/Breakout for atari/breakout. ValueError where there is no such name."""
    suite, _, rest = name.partition("/")
    if suite not in (*SUITES, GIVEN) or not rest:
        raise ValueError(
            f"{name!r} is no environment; expected atari/NAME, minatar/NAME or gym/ID, such as atari/Breakout"
        )
    needed_modules(name)  # ValueError where it is malformed
    return name if suite == GIVEN else f"{suite}/{SUITES[suite].find(rest)}"


def needed_modules(name: str) -> tuple[str, ...]:
    """Modules outside of rgvf that are imported when the environment of this name is made: of gym/MODULE:ID."""
    suite, _, rest = name.partition("/")
    return parse_gym_name(rest).modules if suite == "gym" else ()


def make_game(name: str, seed: int, **options: Any) -> Game:
    """A game on the host. `seed` decides everything that is random in it."""
    suite, _, rest = name.partition("/")
    if suite not in SUITES or SUITES[suite].in_jax:
        raise ValueError(f"{name} runs inside the compiled program, not on the host")
    return _make(name, (rest, seed), options)


def find_environment(name: str, given: Environment | None = None, **options: Any) -> Environment | None:
    """The environment in JAX of this name, or the one that was `given`; None where it is a game on the host."""
    suite, _, rest = name.partition("/")
    if given is not None:
        if suite != GIVEN:
            raise ValueError(f"an environment that is passed as an object is named {GIVEN}/NAME, not {name}")
        from rgvf.environments.environment import check_environment

        check_environment(given)
        return given
    if suite == GIVEN:
        raise ValueError(f"{name} is known only to the program that made it: pass it as `environment`")
    return _make(name, (rest,), options) if SUITES[suite].in_jax else None


def find_spec(name: str, given: Environment | None = None) -> EnvironmentSpec:
    """Observations and actions of the environment of this name. A game is made to look at it."""
    environment = find_environment(name, given)
    if environment is not None:
        from rgvf.environments.environment import environment_spec

        return environment_spec(environment)
    game = make_game(name, 0)
    try:
        return game.spec
    finally:
        game.close()


def takes_option(name: str, option: str) -> bool:
    """Whether the environment of this name has an option, such as sticky."""
    suite = name.partition("/")[0]
    return suite in SUITES and option in SUITES[suite].options


def _make(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    suite = SUITES[name.partition("/")[0]]
    for option in options:
        if option not in suite.options:
            raise ValueError(f"{name} has no option {option}")
    with _missing_extra(name, suite.extra):
        make = getattr(import_module(f"rgvf.environments.{suite.module}"), suite.maker)
        return make(*arguments, **options)


@contextmanager
def _missing_extra(name: str, extra: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        raise ValueError(f"{name} needs {error.name}, which is not installed: pip install 'rgvf[{extra}]'") from error
