"""Scores of random play, of people and of record holders, which scores of agents are measured by.

Where the figures come from:

- Atari, random and human: `dqn_zoo/atari_data.py` of github.com/google-deepmind/dqn_zoo. Games begin with up to 30
  no-ops and end after 108,000 frames; the human is a professional tester of games.
- Atari, record: human world records, `scores/baselines.json` of github.com/danijar/dreamerv2, equal to Table K.1 of
  Hafner et al. (2021), "Mastering Atari with Discrete World Models". (That table has other scores of random play for
  Alien and Jamesbond, 229 and 7; ours are dqn_zoo's throughout.)
- DeepMind Lab: `dmlab30.py` of github.com/google-deepmind/scalable_agent, which has 30 levels. The paper uses these 12.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from rgvf.messages import unknown


class Reference(NamedTuple):
    """Mean scores in one game: what an agent's score is compared with."""

    random: float
    """Of actions that are chosen uniformly."""
    human: float
    record: float | None = None
    """The human world record, where there is one."""


ATARI_SCORES: Mapping[str, Reference] = {
    "Alien": Reference(227.8, 7127.7, 251916),
    "Amidar": Reference(5.8, 1719.5, 104159),
    "Assault": Reference(222.4, 742, 8647),
    "Asterix": Reference(210, 8503.3, 1000000),
    "Asteroids": Reference(719.1, 47388.7, 10506650),
    "Atlantis": Reference(12850, 29028.1, 10604840),
    "BankHeist": Reference(14.2, 753.1, 82058),
    "BattleZone": Reference(2360, 37187.5, 801000),
    "BeamRider": Reference(363.9, 16926.5, 999999),
    "Bowling": Reference(23.1, 160.7, 300),
    "Boxing": Reference(0.1, 12.1, 100),
    "Breakout": Reference(1.7, 30.5, 864),
    "Centipede": Reference(2090.9, 12017, 1301709),
    "ChopperCommand": Reference(811, 7387.8, 999999),
    "CrazyClimber": Reference(10780.5, 35829.4, 219900),
    "DemonAttack": Reference(152.1, 1971, 1556345),
    "DoubleDunk": Reference(-18.6, -16.4, 22),
    "Enduro": Reference(0, 860.5, 9500),
    "FishingDerby": Reference(-91.7, -38.7, 71),
    "Freeway": Reference(0, 29.6, 38),
    "Frostbite": Reference(65.2, 4334.7, 454830),
    "Gopher": Reference(257.6, 2412.5, 355040),
    "Gravitar": Reference(173, 3351.4, 162850),
    "Hero": Reference(1027, 30826.4, 1000000),
    "IceHockey": Reference(-11.2, 0.9, 36),
    "Jamesbond": Reference(29, 302.8, 45550),
    "Kangaroo": Reference(52, 3035, 1424600),
    "Krull": Reference(1598, 2665.5, 104100),
    "KungFuMaster": Reference(258.5, 22736.3, 1000000),
    "MontezumaRevenge": Reference(0, 4753.3, 1219200),
    "MsPacman": Reference(307.3, 6951.6, 290090),
    "NameThisGame": Reference(2292.3, 8049, 25220),
    "Pong": Reference(-20.7, 14.6, 21),
    "PrivateEye": Reference(24.9, 69571.3, 101800),
    "Qbert": Reference(163.9, 13455, 2400000),
    "Riverraid": Reference(1338.5, 17118, 1000000),
    "RoadRunner": Reference(11.5, 7845, 2038100),
    "Robotank": Reference(2.2, 11.9, 76),
    "Seaquest": Reference(68.4, 42054.7, 999999),
    "SpaceInvaders": Reference(148, 1668.7, 621535),
    "StarGunner": Reference(664, 10250, 77400),
    "Tennis": Reference(-23.8, -8.3, 21),
    "TimePilot": Reference(3568, 5229.2, 65300),
    "Tutankham": Reference(11.4, 167.6, 5384),
    "UpNDown": Reference(533.4, 11693.2, 82840),
    "Venture": Reference(0, 1187.5, 38900),
    "VideoPinball": Reference(16256.9, 17667.9, 89218328),
    "WizardOfWor": Reference(563.5, 4756.5, 395300),
    "Zaxxon": Reference(32.5, 9173.3, 83700),
}
"""The 49 Atari games of the paper, by name."""

DMLAB_SCORES: Mapping[str, Reference] = {
    "explore_object_locations_small": Reference(3.575, 74.45),
    "explore_object_locations_large": Reference(4.673, 65.65),
    "explore_obstructed_goals_small": Reference(6.76, 206),
    "explore_obstructed_goals_large": Reference(2.61, 119.5),
    "explore_goal_locations_small": Reference(7.66, 267.5),
    "explore_goal_locations_large": Reference(3.14, 194.5),
    "explore_object_rewards_few": Reference(2.073, 77.7),
    "explore_object_rewards_many": Reference(2.438, 106.7),
    "lasertag_one_opponent_small": Reference(-0.224, 12.65),
    "lasertag_one_opponent_large": Reference(-0.083, 18.6),
    "lasertag_three_opponents_small": Reference(-0.214, 18.55),
    "lasertag_three_opponents_large": Reference(-0.102, 31.5),
}
"""The 12 levels of DeepMind Lab of the paper, by name."""


def reference(game: str) -> Reference:
    """The reference scores of an Atari game or a level of DeepMind Lab.

    Raises:
        ValueError: the game has none; the message has the nearest name.
    """
    found = ATARI_SCORES.get(game) or DMLAB_SCORES.get(game)
    if found is None:
        raise ValueError(unknown("reference score for", game, (*ATARI_SCORES, *DMLAB_SCORES)))
    return found


def normalised(
    scores: np.ndarray, games: Sequence[str], by: Literal["human", "record"] = "human", cap: float | None = None
) -> np.ndarray:
    """Human- or record-normalised scores: (score − random) / (human − random), or the record in the human's place.

    Args:
        scores: [games, ...], such as [games, seeds] or [games, seeds, points].
        games: the name of each.
        cap: the highest that a score may count.

    Returns:
        0 for random play, 1 for the human or the record; of the same shape.
    """
    found = [reference(game) for game in games]
    best = [each.human if by == "human" else each.record for each in found]
    without = [game for game, value in zip(games, best, strict=True) if value is None]
    if without:
        raise ValueError(f"there is no record for {', '.join(without)}; normalise these by the human score")
    return scaled(scores, np.array([each.random for each in found]), np.array(best, float), cap)


def scaled(scores: np.ndarray, zero: np.ndarray, one: np.ndarray, cap: float | None = None) -> np.ndarray:
    """Scores on a scale of each game's own: (score − zero) / (one − zero).

    `normalised` has random play at 0 and people at 1. With the mean scores of a baseline at 1, this measures by that.

    Args:
        scores: [games, ...].
        zero: the score that becomes 0: [games].
        one: the score that becomes 1: [games].
        cap: the highest that a score may count.
    """
    if not len(scores) == len(zero) == len(one):
        raise ValueError(f"scores of {len(scores)} games cannot be scaled by those of {len(zero)} and {len(one)} games")
    shape = (-1, *(1,) * (scores.ndim - 1))
    zero, one = zero.reshape(shape), one.reshape(shape)
    values = (scores - zero) / (one - zero)
    return values if cap is None else np.minimum(values, cap)


def improvement(agent: np.ndarray, baseline: np.ndarray, games: Sequence[str]) -> np.ndarray:
    """How much better an agent is in each game: (agent − baseline) / (max(human, baseline) − random).

    As in Wang et al. (2016), "Dueling network architectures for deep reinforcement learning". So a small difference far
    below human play counts little, and so does one between two agents that are both far above it.

    Args:
        agent: mean scores, not normalised: [games].
        baseline: the same of the baseline: [games].
        games: the name of each.
    """
    found = [reference(game) for game in games]
    random, human = (np.array([each[i] for each in found], float) for i in (0, 1))
    return (agent - baseline) / (np.maximum(human, baseline) - random)
