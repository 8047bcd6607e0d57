"""Scores of agents in units of a baseline's mean in each game: aggregates with intervals, table, claim and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rgvf.analysis import (
    Interval,
    bootstrap,
    interquartile_mean,
    interval,
    intervals,
    learning_panels,
    ratio_interval,
)
from rgvf.studies.claims import Claim
from rgvf.studies.comparison import (
    ENOUGH_SEEDS,
    ByVariant,
    Duel,
    GameScores,
    game_difference,
    game_panels,
    game_table,
)
from rgvf.studies.study import sentences

PARTS = ("agents", "ablations")


@dataclass(frozen=True)
class Comparison:
    """What is compared."""

    title: str
    """Of the figures."""
    games: Sequence[str]
    agents: Sequence[str]
    """In the order of the tables, as the games are."""
    baseline: str
    """The agent whose mean return is the unit in each game."""
    ablations: Sequence[str] = ()
    """Those of the agents that have a figure of their own."""
    beside: Sequence[str] = ()
    """Agents that are also drawn there, to compare with."""
    by_game: bool = True
    """Claims report the difference in each game, too."""


class RelativeScores(GameScores):
    """All agents that were trained, in the games that all of them have and in which the baseline scored at all."""

    measure = "interquartile mean"

    def __init__(self, curves: ByVariant, comparison: Comparison) -> None:
        super().__init__(curves, comparison.games)
        self.comparison, self.baseline = comparison, comparison.baseline
        self.unit = f"in units of {self.baseline.upper()}'s mean in each game"
        self.resampled = f"{GameScores.resampled}, {self.baseline.upper()}'s too"
        self.agents = self.trained(comparison.agents)
        complete = self.games(*self.agents) if self.baseline in self.agents else []
        self.compared = [game for game in complete if curves[f"{game}.{self.baseline}"].final.mean() > 0]
        returns = {agent: self.final(agent, self.compared) for agent in self.agents} if self.compared else {}
        self.n_seeds = min((each.shape[1] for each in returns.values()), default=0)
        self.samples = bootstrap(returns, interquartile_mean, self.baseline) if returns else {}
        """Bootstrap samples of the aggregates."""
        self.aggregates: dict[str, Interval] = {}
        """Of each agent the interquartile mean over games and seeds; one seed has no interval."""
        for agent, each in returns.items():
            value = float(interquartile_mean(each / returns[self.baseline].mean(1, keepdims=True)))
            low, high = interval(self.samples[agent]) if self.n_seeds > 1 else (math.nan, math.nan)
            self.aggregates[agent] = Interval(low, value, high)

    def duel(self, a: str, b: str) -> Duel:
        """Not decided where an agent is missing, or has few seeds."""
        if not {a, b} <= self.aggregates.keys() or self.n_seeds < 2:
            return Duel()
        low, high = interval(self.samples[a] - self.samples[b])
        figures: dict[str, Any] = {name: self.aggregates[name].value for name in (a, b)}
        figures["difference, 95 % interval"] = [low, high]
        if self.comparison.by_game:
            each = {game: game_difference(self.curves, game, b, a) for game in self.compared}
            figures["difference of mean returns by game, 95 % interval"] = each
        return Duel(low > 0 if self.n_seeds >= ENOUGH_SEEDS else None, figures, high)

    def improves(self, claim: str, agent: str, *, at_least: float, everywhere: float) -> Claim:
        """A claim that an agent is so many times as good as the baseline over all games, and nowhere much worse."""
        baseline = self.baseline
        check = (
            f"interquartile mean of {agent} at least {at_least:g} times that of {baseline}, with the 95 % bootstrap "
            f"interval of the ratio above 1; its mean return in each game at least {everywhere:g} times that of "
            f"{baseline}"
        )
        if agent not in self.aggregates or self.n_seeds < ENOUGH_SEEDS or self.compared != list(self.all_games):
            return Claim(claim, check, None)
        ratio = self.aggregates[agent].value / self.aggregates[baseline].value
        low, high = interval(self.samples[agent] / self.samples[baseline])
        pairs = {game: [self.curves[f"{game}.{each}"].final for each in (baseline, agent)] for game in self.compared}
        ratios = {game: float(mine.mean() / base.mean()) for game, (base, mine) in pairs.items()}
        figures = {
            "ratio": ratio,
            "ratio, 95 % interval": [low, high],
            "ratio of mean returns by game": ratios,
            "ratio of mean returns by game, 95 % interval": {
                game: list(ratio_interval(*pair)) for game, pair in pairs.items()
            },
        }
        holds = ratio >= at_least and low > 1 and min(ratios.values()) >= everywhere
        return Claim(claim, check, holds, figures)

    def table(self) -> list[tuple[str, ...]]:
        """Mean ± standard error in each game, and the aggregate."""
        last = {agent: f"{each.value:.2f}" for agent, each in self.aggregates.items()}
        over = f"interquartile mean / {self.baseline}"
        return game_table(self.curves, self.all_games, self.agents, last=(over, last))

    def missing(self) -> str:
        """What the aggregates leave out: games, agents; and where their intervals are of few seeds."""
        agents = self.comparison.agents
        only = 0 < len(self.compared) < len(self.all_games)
        zero = not self.compared and self.baseline in self.agents
        name = self.baseline.upper()
        return sentences(
            f"Only {', '.join(self.compared)}." if only else "",
            f"No game has returns of all these agents and a mean return of {name} above 0." if zero else "",
            f"This has {len(self.agents)} of {len(agents)} agents." if 0 < len(self.agents) < len(agents) else "",
            f"Fewer than {ENOUGH_SEEDS} seeds decide no claim." if 1 < self.n_seeds < ENOUGH_SEEDS else "",
        )

    def draw(self, folder: Path) -> list[Path]:
        """Learning curves in a panel for each game, the ablations apart; and the aggregates with their intervals."""
        title, beside = self.comparison.title, {self.baseline, *self.comparison.beside}
        parts = {name: self._part(name) for name in PARTS}
        parts = {name: agents for name, agents in parts.items() if set(agents) - beside} or {PARTS[0]: self.agents}
        figures: list[Path] = []
        for name, agents in parts.items():
            file = folder / ("ablations.png" if name == "ablations" else "curves.png")
            what = f"{title}, {name}" if len(parts) > 1 else title
            heading = f"{what}: return of the last 100 games"
            figures += learning_panels([file], game_panels(self.curves, self.all_games, agents), "return", heading)
        if self.aggregates:
            panels = {name: {agent: self.aggregates[agent] for agent in agents} for name, agents in parts.items()}
            many = self.n_seeds > 1
            games = "games and " if len(self.compared) > 1 else ""
            over = f"{games}{self.n_seeds} seeds, 95 % bootstrap interval" if many else f"{games}one seed"
            heading = f"{title}: interquartile mean over {over}"
            label = (
                f"final return / {self.baseline.upper()}'s mean in the game\nfilled: end-to-end; open: stop-gradient"
            )
            figures.append(intervals(folder / "aggregate.png", panels, heading, label, level=1.0))
        return figures

    def _part(self, name: str) -> list[str]:
        ablations = self.comparison.ablations
        if name == "ablations":
            return [each for each in self.agents if each in (self.baseline, *self.comparison.beside, *ablations)]
        return [each for each in self.agents if each not in ablations]
