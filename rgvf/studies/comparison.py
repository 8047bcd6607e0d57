"""Agents compared in games: the returns that there are, tables and panels of them, and claims."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from rgvf.analysis import Line, Style, agent_style, difference_interval, show_estimate
from rgvf.studies.claims import Claim
from rgvf.studies.curves import Curves

ENOUGH_SEEDS = 4
"""Fewer seeds do not separate two agents in a game.

With three, all of one agent are above all of the other in 1 of 20 cases by chance alone; with four, in 1 of 70.
Bootstrap intervals of few seeds are too narrow: where there is no difference, one lies above 0 in 7 % of cases with
four or five seeds, in 4 % with ten and in 3 % with thirty (normal scores), where 2.5 % would be right.
"""
CLEARLY = f"by the 95 % bootstrap interval of the difference of means, with at least {ENOUGH_SEEDS} seeds"
ByVariant = Mapping[str, Curves]
"""Curves by GAME.AGENT."""


class Duel(NamedTuple):
    """One agent against another, over games."""

    is_better: bool | None = None
    """Whether the first is clearly better; None: this data cannot decide it."""
    figures: Mapping[str, Any] = {}
    at_most: float = math.inf
    """By how much it is better at most: the upper end of the 95 % interval, where seeds decide."""


class GameScores(ABC):
    """Final returns of agents in games. How those of several games become one number, subclasses say.

    Args:
        curves: by GAME.AGENT. Games may be missing, and the seeds in each may be more or fewer.
        games: in the order of tables.
    """

    measure: str
    """The number that decides."""
    unit: str
    """What the scores in it are."""
    resampled: str = "seeds resampled within each game"
    """How bootstrap samples are taken."""
    few_seeds: str = f"; at least {ENOUGH_SEEDS} seeds"
    """How claims are decided where there are fewer than `ENOUGH_SEEDS`, if they are."""

    def __init__(self, curves: ByVariant, games: Sequence[str]) -> None:
        self.curves, self.all_games = curves, games

    def games(self, *agents: str) -> list[str]:
        """The games that all of these agents have."""
        return [game for game in self.all_games if all(f"{game}.{agent}" in self.curves for agent in agents)]

    def trained(self, agents: Sequence[str]) -> list[str]:
        """Those of the agents that have any game."""
        return [agent for agent in agents if self.games(agent)]

    def seeds(self, agent: str, games: Sequence[str]) -> tuple[int, int]:
        """The fewest and the most seeds that an agent has in any of these games."""
        counts = [len(self.curves[f"{game}.{agent}"].values) for game in games]
        return min(counts), max(counts)

    def final(self, agent: str, games: Sequence[str]) -> np.ndarray:
        """Final returns, of as many seeds as each of these games has: [games, seeds]."""
        seeds = self.seeds(agent, games)[0]
        return np.stack([self.curves[f"{game}.{agent}"].final[:seeds] for game in games])

    @abstractmethod
    def duel(self, a: str, b: str) -> Duel:
        """Whether `a` is better than `b`: by the 95 % bootstrap interval of the difference of the measure."""


def outperforms(found: GameScores, claim: str, better: str, worse: str) -> Claim:
    """A claim that one agent is clearly better than another, over games."""
    check = (
        f"{found.measure} of {better} above that of {worse}, {found.unit}: the 95 % bootstrap interval of the "
        f"difference ({found.resampled}) lies above 0{found.few_seeds}"
    )
    duel = found.duel(better, worse)
    return Claim(claim, check, duel.is_better, dict(duel.figures))


def clearly_above(curves: ByVariant, game: str, claim: str, better: Sequence[str], worse: str) -> Claim:
    """A claim that agents have a clearly higher mean return than another in one game."""
    check = f"the mean return of {worse} is below that of {' and '.join(better)}, {CLEARLY}"
    found = {agent: game_difference(curves, game, worse, agent) for agent in better}
    ends = [each for each in found.values() if each is not None]
    if len(ends) < len(better):
        return Claim(claim, check, None)
    holds = all(low > 0 for low, _ in ends) if enough_seeds(curves, game, worse, *better) else None
    return Claim(claim, check, holds, {"difference, 95 % interval": found})


def enough_seeds(curves: ByVariant, game: str, *agents: str) -> bool:
    """Whether so many seeds of these agents can decide a claim about a game."""
    return all(len(curves[f"{game}.{agent}"].values) >= ENOUGH_SEEDS for agent in agents)


def game_difference(curves: ByVariant, game: str, of: str, to: str) -> list[float] | None:
    """The interval of the difference of mean returns in a game; None where an agent has fewer than two seeds."""
    found = [curves.get(f"{game}.{agent}") for agent in (of, to)]
    finals = [each.final for each in found if each is not None and len(each.values) > 1]
    return list(difference_interval(*finals)) if len(finals) == len(found) else None


def game_table(
    curves: ByVariant,
    games: Sequence[str],
    agents: Sequence[str],
    first: str = "agent",
    last: tuple[str, Mapping[str, str]] | None = None,
) -> list[tuple[str, ...]]:
    """Mean ± standard error of each agent in each game, as far as there are any.

    Args:
        first: the heading of the agents.
        last: heading and cells of one more column, by agent.
    """
    games = [game for game in games if any(f"{game}.{agent}" in curves for agent in agents)]
    rows = [(first, *games, *([last[0]] if last else []))]
    finals = {
        game: {agent: curves[name].final for agent in agents if (name := f"{game}.{agent}") in curves} for game in games
    }
    digits = {game: _digits(np.concatenate(list(each.values()))) for game, each in finals.items()}
    for agent in agents:
        if any(agent in each for each in finals.values()):
            cells = [show_estimate(each[agent], digits[game]) if agent in each else "" for game, each in finals.items()]
            rows.append((agent, *cells, *([last[1].get(agent, "")] if last else [])))
    return rows


def _digits(returns: np.ndarray) -> int:
    """Digits after the point in a table: one, and more where all returns are small."""
    largest = float(np.abs(returns).max())
    return 1 if largest >= 10 else 2 if largest >= 1 else 3


def game_panels(
    curves: ByVariant, games: Sequence[str], agents: Sequence[str], style: Callable[[str], Style] = agent_style
) -> dict[str, list[Line]]:
    """The lines of agents by game, as many as there are."""
    panels: dict[str, list[Line]] = {}
    for game in games:
        for agent in agents:
            if (each := curves.get(f"{game}.{agent}")) is not None:
                panels.setdefault(game, []).append(Line(agent, each.frames, each.values, style(agent)))
    return panels
