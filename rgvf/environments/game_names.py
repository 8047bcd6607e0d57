"""Environments by the names that the literature or their packages give them; and cue/STEPS."""

from __future__ import annotations

import difflib
import re

_NAMES = """
Alien Amidar Assault Asterix Asteroids Atlantis BankHeist BattleZone BeamRider Bowling Boxing Breakout Centipede
ChopperCommand CrazyClimber DemonAttack DoubleDunk Enduro FishingDerby Freeway Frostbite Gopher Gravitar Hero
IceHockey Jamesbond Kangaroo Krull KungFuMaster MontezumaRevenge MsPacman NameThisGame Pong PrivateEye Qbert
Riverraid RoadRunner Robotank Seaquest SpaceInvaders StarGunner Tennis TimePilot Tutankham UpNDown Venture
VideoPinball WizardOfWor Zaxxon
"""

ATARI_GAMES = tuple(_NAMES.split())
"""The 49 Atari games of the paper: atari/NAME."""

MINATAR_GAMES = ("Asterix", "Breakout", "Freeway", "Seaquest", "SpaceInvaders")
"""The five games of MinAtar: minatar/NAME."""

MINATAR_ACTIONS = ("noop", "left", "up", "right", "down", "fire")
"""Of all games of MinAtar; each game has those that do something in it."""

DMLAB_LEVELS = (
    *(f"explore_{kind}_{size}" for kind in ("object_locations", "obstructed_goals") for size in ("small", "large")),
    *("explore_goal_locations_small", "explore_goal_locations_large"),
    *("explore_object_rewards_few", "explore_object_rewards_many"),
    *(f"lasertag_{kind}_{size}" for kind in ("one_opponent", "three_opponents") for size in ("small", "large")),
)
"""The 12 levels of DeepMind Lab of the paper: dmlab/NAME."""

DOOM_SCENARIOS = (
    *("basic", "basic_audio", "basic_notifications", "deadly_corridor", "deathmatch", "defend_the_center"),
    *("defend_the_line", "freedoom1", "freedoom2", "health_gathering", "health_gathering_supreme", "learning"),
    *("my_way_home", "predict_position", "rocket_basic", "simpler_basic", "take_cover"),
)
"""The scenarios for one player that ViZDoom brings with it: doom/NAME. Its others are for several players (cig, multi,
multi_duel), or need files that it does not have (doom, doom2, oblige)."""

CUE_STEPS = ("5", "10", "15")
"""Some lengths of the corridor of cue/STEPS; it can have any. Longer ones need longer segments than the preset has."""
MAX_CUE_STEPS = 10_000

XMINIGRID_ROOMS = (
    *(f"MiniGrid-{name}" for name in ("BlockedUnlockPickUp", "FourRooms", "LockedRoom", "Unlock", "UnlockPickUp")),
    *(f"MiniGrid-{kind}-{n}x{n}" for kind in ("DoorKey", "Empty", "EmptyRandom") for n in (5, 6, 8, 16)),
    *(f"MiniGrid-MemoryS{n}" for n in (8, 16, 32, 64, 128)),
)
"""The environments of MiniGrid that xminigrid has, and that have a goal: xminigrid/ID."""

CRAFTAX_VIEWS = ("Classic-Symbolic", "Classic-Pixels")
"""Craftax-Classic, seen as numbers or as an image: craftax/NAME."""

FRAME_CAP = 108_000
"""A game is truncated after this many frames: half an hour of play at 60 frames a second."""


def find_atari(name: str) -> str:
    """The game of `ATARI_GAMES` with this name; case, spaces, hyphens and underscores do not matter."""
    return _find(name, ATARI_GAMES, "Atari game")


def find_minatar(name: str) -> str:
    """The same for `MINATAR_GAMES`."""
    return _find(name, MINATAR_GAMES, "MinAtar game")


def find_dmlab(name: str) -> str:
    """The level of `DMLAB_LEVELS` with this name, which may have the engine's folder before it."""
    return _find(name.rpartition("/")[2], DMLAB_LEVELS, "level of DeepMind Lab")


def find_doom(name: str) -> str:
    """The scenario of `DOOM_SCENARIOS` with this name."""
    return _find(name, DOOM_SCENARIOS, "scenario of ViZDoom")


def find_cue(name: str) -> str:
    """The length of the corridor in cue/STEPS, checked."""
    if not (name.isascii() and name.isdigit() and len(name) <= 9 and int(name) <= MAX_CUE_STEPS):
        raise ValueError(f"cue/STEPS needs a whole number of steps from 0 to {MAX_CUE_STEPS:,}, not {name!r}")
    return str(int(name))


def find_room(name: str) -> str:
    """The same for `XMINIGRID_ROOMS`, of which MiniGrid- may be left out."""
    return _find(name, XMINIGRID_ROOMS, "environment of xminigrid", "MiniGrid-")


def find_craftax(name: str) -> str:
    """The same for `CRAFTAX_VIEWS`, where Craftax- and -v1 may be written too."""
    return _find(re.sub(r"-v1$", "", name), CRAFTAX_VIEWS, "environment of Craftax", "Craftax-")


def _find(name: str, games: tuple[str, ...], kind: str, prefix: str = "") -> str:
    def key_of(text: str) -> str:
        return re.sub(r"[\s_-]", "", text).lower().removeprefix(prefix.lower().rstrip("-"))

    by_key, key = {key_of(game): game for game in games}, key_of(name)
    if key in by_key:
        return by_key[key]
    alike = [difflib.get_close_matches(key, by_key, n=3, cutoff=each) for each in (0.6, 0.5)]
    near = [by_key[each] for each in alike[0] or alike[1]]
    hint = f"did you mean {' or '.join(near)}?" if near else f"choose from {', '.join(games)}."
    raise ValueError(f"there is no {kind} {name!r}; {hint}")


def rom_name(game: str) -> str:
    """The file that ale-py keeps `game` in, without its ending: "space_invaders" for SpaceInvaders."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", game).lower()
