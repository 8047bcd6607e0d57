"""Names: the 49 Atari games of Mnih et al. (2015) and the five of MinAtar as the literature has them; cue/STEPS."""

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

CUE_STEPS = ("5", "10", "20")
"""Some lengths of the corridor of cue/STEPS; it can have any."""
MAX_CUE_STEPS = 10_000

FRAME_CAP = 108_000
"""A game is truncated after this many frames: half an hour of play at 60 frames a second."""


def find_atari(name: str) -> str:
    """The game of `ATARI_GAMES` with this name; case, spaces, hyphens and underscores do not matter."""
    return _find(name, ATARI_GAMES, "Atari")


def find_minatar(name: str) -> str:
    """The same for `MINATAR_GAMES`."""
    return _find(name, MINATAR_GAMES, "MinAtar")


def find_cue(name: str) -> str:
    """The length of the corridor in cue/STEPS, checked."""
    if not (name.isascii() and name.isdigit() and int(name[:9]) <= MAX_CUE_STEPS):
        raise ValueError(f"cue/STEPS needs a whole number of steps from 0 to {MAX_CUE_STEPS:,}, not {name!r}")
    return str(int(name))


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
