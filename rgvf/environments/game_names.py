"""The 49 Atari games of Mnih et al. (2015) and the five of MinAtar, by the names that the literature gives them."""

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

FRAME_CAP = 108_000
"""A game is truncated after this many frames: half an hour of play at 60 frames a second."""


def find_atari(name: str) -> str:
    """The game of `ATARI_GAMES` with this name; case, spaces, hyphens and underscores do not matter."""
    return _find(name, ATARI_GAMES, "Atari")


def find_minatar(name: str) -> str:
    """The same for `MINATAR_GAMES`."""
    return _find(name, MINATAR_GAMES, "MinAtar")


def _find(name: str, games: tuple[str, ...], kind: str) -> str:
    by_key = {game.lower(): game for game in games}
    key = re.sub(r"[\s_-]", "", name).lower()
    if key in by_key:
        return by_key[key]
    alike = suggestion(key.capitalize(), games, n=3, cutoff=0.5)
    raise ValueError(f"there is no {kind} game {name!r}; {alike or 'choose from ' + ', '.join(games) + '.'}")


def rom_name(game: str) -> str:
    """The file that ale-py keeps `game` in, without its ending: "space_invaders" for SpaceInvaders."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", game).lower()
