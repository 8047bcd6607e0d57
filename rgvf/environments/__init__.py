"""Environments.

Two kinds: pure functions in JAX that run inside the compiled program (`environment`), and games that run on the host
(`game`), many at once in worker processes (`workers`). Names are imported when they are first used, because a worker
process must not import JAX.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rgvf.environments.craftax import Craftax
    from rgvf.environments.cue import Cue
    from rgvf.environments.environment import Environment, Step, check_environment, environment_spec, step_or_reset
    from rgvf.environments.game import Game, TimeStep
    from rgvf.environments.game_names import (
        ATARI_GAMES,
        CRAFTAX_VIEWS,
        DMLAB_LEVELS,
        DOOM_SCENARIOS,
        MINATAR_GAMES,
        XMINIGRID_ROOMS,
    )
    from rgvf.environments.grid import GridWorld
    from rgvf.environments.gym_names import gym_name
    from rgvf.environments.minatar import MinAtar, PgxMinAtar
    from rgvf.environments.registry import RULES, find_environment, find_spec, make_game, restores_games
    from rgvf.environments.rooms import Room

__all__ = [
    "ATARI_GAMES",
    "CRAFTAX_VIEWS",
    "DMLAB_LEVELS",
    "DOOM_SCENARIOS",
    "MINATAR_GAMES",
    "RULES",
    "XMINIGRID_ROOMS",
    "Craftax",
    "Cue",
    "Environment",
    "Game",
    "GridWorld",
    "MinAtar",
    "PgxMinAtar",
    "Room",
    "Step",
    "TimeStep",
    "check_environment",
    "environment_spec",
    "find_environment",
    "find_spec",
    "gym_name",
    "make_game",
    "restores_games",
    "step_or_reset",
]

_MODULES = {
    "craftax": ("Craftax",),
    "cue": ("Cue",),
    "environment": ("Environment", "Step", "check_environment", "environment_spec", "step_or_reset"),
    "game": ("Game", "TimeStep"),
    "game_names": (
        *("ATARI_GAMES", "CRAFTAX_VIEWS", "DMLAB_LEVELS", "DOOM_SCENARIOS", "MINATAR_GAMES", "XMINIGRID_ROOMS"),
    ),
    "grid": ("GridWorld",),
    "gym_names": ("gym_name",),
    "minatar": ("MinAtar", "PgxMinAtar"),
    "registry": ("RULES", "find_environment", "find_spec", "make_game", "restores_games"),
    "rooms": ("Room",),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"rgvf.environments.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'rgvf.environments' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
