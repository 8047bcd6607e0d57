"""Agents compared over several games: tables, aggregates with intervals, claims and figures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rgvf.analysis import (
    Line,
    agent_style,
    bootstrap,
    difference_interval,
    interquartile_mean,
    interval,
    intervals,
    learning_panels,
    ratio_interval,
    show_estimate,
)
from rgvf.studies.base import Claim, Curves

PARTS = ("rivals", "ablations")
CLEARLY = "by the 95 % bootstrap interval of the difference of means"
ByVariant = Mapping[str, Curves]
"""Curves by GAME.AGENT."""
ByGame = Mapping[str, Mapping[str, np.ndarray]]
"""Final returns [seeds] by game and agent."""


class Aggregate(NamedTuple):
    """An agent's interquartile mean over games and seeds, in units of the baseline's mean in each game."""

    mean: float
    resampled: np.ndarray
    """The same of resampled seeds: [resamples]."""
    seeds: int


class Comparison:
    """Agents on games.

    Args:
        title: of the figures.
        games: in the order of the tables.
        agents: in the order of the tables.
        baseline: the agent whose mean return is the unit in each game.
        ablations: those of the agents that have a figure of their own.
        beside: agents that are also drawn there, to compare with.
    """

    def __init__(
        self,
        title: str,
        games: Sequence[str],
        agents: Sequence[str],
        baseline: str,
        ablations: Sequence[str] = (),
        beside: Sequence[str] = (),
    ) -> None:
        self.title, self.games, self.agents, self.baseline = title, games, agents, baseline
        self.ablations, self.beside = ablations, beside

    def trained(self, curves: ByVariant) -> list[str]:
        """Agents that were trained in any game."""
        return [agent for agent in self.agents if any(f"{game}.{agent}" in curves for game in self.games)]

    def complete_games(self, curves: ByVariant) -> list[str]:
        """Games that have all the agents that were trained at all."""
        agents = self.trained(curves)
        return [game for game in self.games if agents and all(f"{game}.{agent}" in curves for agent in agents)]

    def final_returns(self, curves: ByVariant) -> dict[str, np.ndarray]:
        """By agent, [games, seeds], of the games in `by_game`."""
        games = self.by_game(curves).values()
        agents = self.trained(curves) if games else ()
        return {agent: np.stack([of[agent] for of in games]) for agent in agents}

    def aggregate(self, scores: Mapping[str, np.ndarray]) -> dict[str, Aggregate]:
        """Of each agent, from its returns [games, seeds]."""
        if not scores:
            return {}
        unit = scores[self.baseline].mean(1, keepdims=True)
        resampled = bootstrap(scores, interquartile_mean, self.baseline)
        return {
            agent: Aggregate(float(interquartile_mean(each / unit)), resampled[agent], each.shape[1])
            for agent, each in scores.items()
        }

    def by_game(self, curves: ByVariant) -> ByGame:
        """The final returns by agent, of each complete game in which the baseline scored at all."""
        agents = self.trained(curves)
        if self.baseline not in agents:
            return {}
        complete = self.complete_games(curves)
        found = {game: {agent: curves[f"{game}.{agent}"].final for agent in agents} for game in complete}
        return {game: of for game, of in found.items() if of[self.baseline].mean() > 0}

    def table(self, curves: ByVariant, aggregates: Mapping[str, Aggregate]) -> list[tuple[str, ...]]:
        """Mean ± standard error in each game, and the aggregate."""
        games = [game for game in self.games if any(variant.startswith(f"{game}.") for variant in curves)]
        table = [("agent", *games, f"interquartile mean / {self.baseline}")]
        for agent in self.trained(curves):
            found = [curves.get(f"{game}.{agent}") for game in games]
            cells = ["" if each is None else show_estimate(each.final) for each in found]
            table.append((agent, *cells, f"{aggregates[agent].mean:.2f}" if agent in aggregates else ""))
        return table

    def missing(self, curves: ByVariant) -> str:
        """Which games the aggregates are about, where they are not about all."""
        games = list(self.by_game(curves))
        return f"Only {', '.join(games)}." if 0 < len(games) < len(self.games) else ""

    def draw(self, curves: ByVariant, aggregates: Mapping[str, Aggregate], folder: Path) -> list[Path]:
        """Learning curves in a panel for each game, the ablations apart; and the aggregates with their intervals."""
        parts = {name: [each for each in self._part(name) if each in self.trained(curves)] for name in PARTS}
        parts = {name: agents for name, agents in parts.items() if set(agents) - {self.baseline, *self.beside}}
        if not parts:
            parts = {"agents": self.trained(curves)}
        figures: list[Path] = []
        for name, agents in parts.items():
            file = folder / ("ablations.png" if name == "ablations" else "curves.png")
            title = f"{self.title}, {name}: return of the last 100 games"
            figures += learning_panels([file], game_panels(curves, self.games, agents), "return", title)
        if aggregates:
            panels = {
                name: {agent: _with_ends(aggregates[agent]) for agent in agents} for name, agents in parts.items()
            }
            seeds = next(iter(aggregates.values())).seeds
            over = f"games and {seeds} seeds, 95 % bootstrap interval" if seeds > 1 else "games, one seed"
            title = f"{self.title}: interquartile mean over {over}"
            label = (
                f"final return / {self.baseline.upper()}'s mean in the game\nfilled: end-to-end; open: stop-gradient"
            )
            figures.append(intervals(folder / "aggregate.png", panels, title, label, level=1.0))
        return figures

    def _part(self, name: str) -> list[str]:
        if name == "ablations":
            return [each for each in self.agents if each in (self.baseline, *self.beside, *self.ablations)]
        return [each for each in self.agents if each not in self.ablations]


def game_panels(curves: ByVariant, games: Sequence[str], agents: Sequence[str]) -> dict[str, list[Line]]:
    """The lines of agents by game, as many as there are."""
    panels: dict[str, list[Line]] = {}
    for game in games:
        for agent in agents:
            if (each := curves.get(f"{game}.{agent}")) is not None:
                panels.setdefault(game, []).append(Line(agent, each.frames, each.values, agent_style(agent)))
    return panels


def _with_ends(found: Aggregate) -> tuple[float, float, float]:
    """Low end, mean, high end. One seed has no interval."""
    low, high = interval(found.resampled) if found.seeds > 1 else (math.nan, math.nan)
    return low, found.mean, high


def outperforms(
    found: Mapping[str, Aggregate], claim: str, better: str, worse: str, by_game: ByGame | None = None
) -> Claim:
    """A claim that one agent's interquartile mean over games and seeds is above another's.

    Args:
        by_game: final returns, whose differences in each game are reported beside the verdict.
    """
    check = (
        f"interquartile mean of {better} above that of {worse}, in units of A2C's mean in each game: the 95 % "
        "bootstrap interval of the difference (seeds resampled within each game, A2C's too) lies above 0"
    )
    if better not in found or worse not in found or found[better].seeds < 2:
        return Claim(claim, check, None)
    low, high = interval(found[better].resampled - found[worse].resampled)
    figures: dict[str, Any] = {name: found[name].mean for name in (better, worse)}
    figures["difference, 95 % interval"] = [low, high]
    if by_game is not None:
        each = {game: difference_interval(of[worse], of[better]) for game, of in by_game.items()}
        figures["difference of mean returns by game, 95 % interval"] = {game: list(ends) for game, ends in each.items()}
    return Claim(claim, check, low > 0, figures)


def improves(
    found: Mapping[str, Aggregate],
    by_game: ByGame,
    claim: str,
    agent: str,
    baseline: str,
    *,
    games: Sequence[str],
    at_least: float,
    everywhere: float,
) -> Claim:
    """A claim that an agent is so many times as good as the baseline over all these games, and nowhere much worse."""
    check = (
        f"interquartile mean of {agent} at least {at_least:g} times that of {baseline}, with the 95 % bootstrap "
        f"interval of the ratio above 1; its mean return in each game at least {everywhere:g} times that of {baseline}"
    )
    if agent not in found or baseline not in found or found[agent].seeds < 2 or by_game.keys() != set(games):
        return Claim(claim, check, None)
    ratio = found[agent].mean / found[baseline].mean
    low, high = interval(found[agent].resampled / found[baseline].resampled)
    ratios = {game: float(of[agent].mean() / of[baseline].mean()) for game, of in by_game.items()}
    ends = {game: list(ratio_interval(of[baseline], of[agent])) for game, of in by_game.items()}
    figures = {
        "ratio": ratio,
        "ratio, 95 % interval": [low, high],
        "ratio of mean returns by game": ratios,
        "ratio of mean returns by game, 95 % interval": ends,
    }
    holds = ratio >= at_least and low > 1 and min(ratios.values()) >= everywhere
    return Claim(claim, check, holds, figures)


def clearly_above(curves: ByVariant, game: str, claim: str, better: Sequence[str], worse: str) -> Claim:
    """A claim that agents have a clearly higher mean return than another in one game."""
    check = f"the mean return of {worse} is below that of {' and '.join(better)}, {CLEARLY}"
    found = {agent: game_difference(curves, game, worse, agent) for agent in better}
    ends = [each for each in found.values() if each is not None]
    if len(ends) < len(better):
        return Claim(claim, check, None)
    return Claim(claim, check, all(low > 0 for low, _ in ends), {"difference, 95 % interval": found})


def game_difference(curves: ByVariant, game: str, of: str, to: str) -> list[float] | None:
    """The interval of the difference of mean returns in a game; None where an agent has fewer than two seeds."""
    found = [curves.get(f"{game}.{agent}") for agent in (of, to)]
    finals = [each.final for each in found if each is not None and len(each.values) > 1]
    return list(difference_interval(*finals)) if len(finals) == len(found) else None
