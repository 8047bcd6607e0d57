"""Games by the names that the literature or their packages give them: Atari, MinAtar, MiniGrid in JAX, Craftax."""

from __future__ import annotations

import re

from rgvf.messages import suggestion

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


def find_room(name: str) -> str:
    """The same for `XMINIGRID_ROOMS`, of which MiniGrid- may be left out."""
    return _find(name, XMINIGRID_ROOMS, "environment of xminigrid", "MiniGrid-")


def find_craftax(name: str) -> str:
    """The same for `CRAFTAX_VIEWS`, where Craftax- and -v1 may be written too."""
    return _find(re.sub(r"-v1$", "", name), CRAFTAX_VIEWS, "environment of Craftax", "Craftax-")


def _find(name: str, games: tuple[str, ...], kind: str, prefix: str = "") -> str:
    def key_of(text: str) -> str:
        return re.sub(r"[\s_-]", "", text).lower().removeprefix(prefix.lower().rstrip("-"))

    by_key = {key_of(game): game for game in games}
    key = key_of(name)
    if key in by_key:
        return by_key[key]
    alike = suggestion(key, by_key, n=3, cutoff=0.5)
    for each, game in by_key.items():
        alike = re.sub(rf"\b{each}\b", game, alike)
    raise ValueError(f"there is no {kind} {name!r}; {alike or 'choose from ' + ', '.join(games) + '.'}")


def rom_name(game: str) -> str:
    """The file that ale-py keeps `game` in, without its ending: "space_invaders" for SpaceInvaders."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", game).lower()
