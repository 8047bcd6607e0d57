"""Environments by name: SUITE/NAME, such as atari/Breakout. A new suite is a line in `SUITES`.

It needs no JAX, because worker processes import it. A suite's own modules are imported when they are used.
"""

from __future__ import annotations

import difflib
import importlib.util
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from rgvf.environments.game import Game
from rgvf.environments.game_names import (
    ATARI_GAMES,
    CRAFTAX_VIEWS,
    CUE_STEPS,
    DMLAB_LEVELS,
    DOOM_SCENARIOS,
    MINATAR_GAMES,
    XMINIGRID_ROOMS,
    find_atari,
    find_craftax,
    find_cue,
    find_dmlab,
    find_doom,
    find_minatar,
    find_room,
)
from rgvf.environments.gym_names import is_minigrid, parse_gym_name
from rgvf.spec import EnvironmentSpec

if TYPE_CHECKING:
    from rgvf.environments.environment import Environment


def _gymnasium_ids() -> Sequence[str]:
    """What is registered; nothing where Gymnasium is not installed."""
    try:
        return import_module("rgvf.environments.gymnasium").registered_ids()
    except ModuleNotFoundError:
        return ()


class WorkerNeeds(NamedTuple):
    """What the games of a suite need of their worker processes."""

    alone: bool = False
    """A process can have one game only."""
    has_engines: bool = False
    """Each game has an engine in a process of its own, which the worker waits for: both are fastest on one core."""
    is_loud: bool = False
    """The engine prints what nobody reads."""
    reset_seconds: float = 10.0
    """The longest that a reset takes; a process that has not replied by then may be given up when a run is stopped."""
    when_lost: str = ""
    """Why a process may have ended without an exception."""


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
    """The extra of rgvf that installs what the suite needs; empty where there is none."""
    package: str
    """The module that must be installed; empty where there is none."""
    summary: str
    """What its environments are, in a few words."""
    names: Callable[[], Sequence[str]]
    """Its environments, without the suite."""
    find: Callable[[str], str] = str
    """The full name of an environment from what the user wrote; ValueError where there is none."""
    options: tuple[str, ...] = ()
    """Options that its environments take."""
    is_suggested: bool = True
    """Its environments are suggested for names without a suite."""
    how_to_install: str = ""
    """What to do to have the package, where there is no extra."""
    shows_all: bool = False
    """Films show more than the agent sees."""
    restores: bool = True
    """A saved game can be continued exactly. Otherwise it starts a new episode."""
    worker: WorkerNeeds = WorkerNeeds()  # noqa: RUF009 - immutable
    """What its games need of their worker processes."""


SUITES = {
    "atari": Suite(
        *("atari", "AtariGame", False, "atari", "ale_py", "Atari 2600 games, as in the paper"),
        *(lambda: ATARI_GAMES, find_atari),
        options=("sticky", "frame_cap", "episodic_life"),
    ),
    "minatar": Suite(
        *("minatar", "MinAtar", True, "minatar", "pgx", "small games on boards of 10×10 cells, in JAX: fastest"),
        *(lambda: MINATAR_GAMES, find_minatar, ("sticky",)),
    ),
    "minatar-pgx": Suite(
        *("minatar", "PgxMinAtar", True, "minatar", "pgx", "the same by the rules of the package pgx, to compare"),
        *(lambda: MINATAR_GAMES, find_minatar),
        options=("sticky",),
        is_suggested=False,
    ),
    "cue": Suite(
        *("cue", "Cue", True, "", "", "a test of memory: a cue is seen once, and needed later"),
        *(lambda: CUE_STEPS, find_cue),
        is_suggested=False,
    ),
    "dmlab": Suite(
        *("dmlab", "LabGame", False, "", "deepmind_lab", "DeepMind Lab in 3-D, as in the paper; it must be built"),
        *(lambda: DMLAB_LEVELS, find_dmlab),
        how_to_install="build DeepMind Lab's Python package from https://github.com/google-deepmind/lab (its "
        "docs/users/build.md and python/pip_package say how) and install the wheel with pip; it is not on PyPI",
        restores=False,
        worker=WorkerNeeds(
            alone=True,
            is_loud=True,
            reset_seconds=180.0,
            when_lost="DeepMind Lab ends its process where a map is missing, memory is short, or its renderer does not "
            "start",
        ),
    ),
    "doom": Suite(
        *("doom", "DoomGame", False, "doom", "vizdoom", "ViZDoom's scenarios in 3-D"),
        *(lambda: DOOM_SCENARIOS, find_doom),
        worker=WorkerNeeds(has_engines=True),
    ),
    "xminigrid": Suite(
        *("rooms", "Room", True, "xminigrid", "xminigrid", "MiniGrid's rooms, in JAX; the agent sees a few cells"),
        *(lambda: XMINIGRID_ROOMS, find_room),
        shows_all=True,
    ),
    "craftax": Suite(
        *("craftax", "Craftax", True, "craftax", "craftax", "Craftax-Classic: survive and craft, in JAX"),
        *(lambda: CRAFTAX_VIEWS, find_craftax),
    ),
    "gym": Suite(
        *("gymnasium", "GymGame", False, "gym", "gymnasium", "Gymnasium environments with discrete actions"),
        _gymnasium_ids,
        options=("render",),
    ),
}
RULES = {"minatar/Seaquest": 2}
"""Environments whose rules have changed, by their version now; all others are at 1. Returns of two do not compare."""
GIVEN = "own"
"""The suite of environments that a program passes itself."""


def canonical_name(name: str) -> str:
    """The name as it is spelt everywhere: atari/Breakout for atari/breakout. ValueError where there is no such name."""
    suite, _, rest = name.partition("/")
    if suite.lower() in SUITES and not rest:
        raise ValueError(f"{suite} is a suite of environments; 'rgvf environments {suite.lower()}' lists their names")
    if suite not in (*SUITES, GIVEN) or not rest:
        alike = " or ".join(_alike(name))
        forms = f"expected {', '.join(f'{each}/NAME' for each in SUITES)}; 'rgvf environments' lists the suites"
        raise ValueError(f"{name!r} is no environment; {f'did you mean {alike}?' if alike else forms}")
    needed_modules(name)  # ValueError where it is malformed
    return name if suite == GIVEN else f"{suite}/{SUITES[suite].find(rest)}"


def own_name(environment: Environment) -> str:
    """The name of an environment that a program passes itself: own/CLASS. ValueError where it is no environment."""
    from rgvf.environments.environment import check_environment

    check_environment(environment)
    return f"{GIVEN}/{type(environment).__name__}"


def _alike(name: str) -> list[str]:
    """What someone may mean who leaves the suite out or misspells it: gym/CartPole-v1 for CartPole-v1."""
    by_key: dict[str, dict[str, str]] = {}
    for suite, each in SUITES.items():
        for known in each.names() if each.is_suggested else ():
            same = by_key.setdefault(_key(known), {})
            same[suite] = same[suite] if same.get(suite) == f"{suite}/{name}" else f"{suite}/{known}"  # or the newest
    near = difflib.get_close_matches(_key(name), by_key, n=1, cutoff=0.8)
    if near:
        return list(by_key[near[0]].values())
    suite, _, rest = name.partition("/")
    with suppress(ValueError):
        return [canonical_name(f"{each}/{rest}") for each in difflib.get_close_matches(suite, SUITES, n=1) if rest]
    return []


def _key(name: str) -> str:
    """A name without what people write differently: ALE/Breakout-v5 is breakout."""
    suites = "ale|atari|minatar|xminigrid|craftax|dmlab|doom|gym"
    plain = re.sub(rf"^({suites})/|(noframeskip|deterministic)?-v\d+$", "", name.lower())
    return re.sub(r"[\s_-]", "", plain)


def needed_modules(name: str) -> tuple[str, ...]:
    """Modules outside of rgvf that are imported when the environment of this name is made: of gym/MODULE:ID."""
    suite, _, rest = name.partition("/")
    return parse_gym_name(rest).modules if suite == "gym" else ()


def make_game(name: str, seed: int, **options: Any) -> Game:
    """A game on the host. `seed` decides everything that is random in it."""
    suite, _, rest = canonical_name(name).partition("/")
    if suite == GIVEN or SUITES[suite].in_jax:
        raise ValueError(f"{name} runs inside the compiled program, not on the host")
    return _make(name, (rest, seed), options)


def find_environment(name: str, given: Environment | None = None, **options: Any) -> Environment | None:
    """The environment in JAX of this name, or the one that was `given`.

    None where it is a game on the host, such as all of atari/, dmlab/, doom/ and gym/: `make_game` makes those.
    """
    suite, _, rest = canonical_name(name).partition("/")
    if given is not None:
        if suite != GIVEN:
            raise ValueError(f"an environment that is passed as an object is named {GIVEN}/NAME, not {name}")
        from rgvf.environments.environment import check_environment

        check_environment(given)
        return given
    if suite == GIVEN:
        how = "pass it as `environment`, in Python: no command can make it"
        raise ValueError(f"{name} is known only to the program that made it: {how}")
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


def is_installed(suite: Suite) -> bool:
    """Whether the package that a suite needs is there."""
    return not suite.package or importlib.util.find_spec(suite.package) is not None


def takes_option(name: str, option: str) -> bool:
    """Whether the environment of this name has an option, such as sticky."""
    suite = name.partition("/")[0]
    return suite in SUITES and option in SUITES[suite].options


def shows_observation(name: str, given: Environment | None = None) -> bool:
    """Whether the pictures of films are what the agent sees, so that a place in its observation is one in them."""
    suite, _, rest = name.partition("/")
    if suite == GIVEN:
        return not hasattr(given, "render")
    return not (SUITES[suite].shows_all or (suite == "gym" and is_minigrid(parse_gym_name(rest).id)))


def restores_games(name: str) -> bool:
    """Whether a saved game of this environment can be continued exactly."""
    suite = name.partition("/")[0]
    return suite not in SUITES or SUITES[suite].restores


def worker_needs(name: str) -> WorkerNeeds:
    """What games of this environment need of their worker processes."""
    suite = SUITES.get(name.partition("/")[0])
    return WorkerNeeds() if suite is None else suite.worker


def _make(name: str, arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    suite = SUITES[name.partition("/")[0]]
    for option in options:
        if option not in suite.options:
            raise ValueError(f"{name} has no option {option}")
    with _missing_package(name, suite):
        make = getattr(import_module(f"rgvf.environments.{suite.module}"), suite.maker)
        return make(*arguments, **options)


@contextmanager
def _missing_package(name: str, suite: Suite) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        what_to_do = f"pip install 'rgvf[{suite.extra}]'" if suite.extra else suite.how_to_install
        missing = error.name if is_installed(suite) else suite.package
        if is_installed(suite) and not suite.extra:
            what_to_do = f"{suite.package} itself imports it (docs/three-d.md says more)"
        raise ValueError(f"{name} needs {missing}, which is not installed: {what_to_do}") from error
