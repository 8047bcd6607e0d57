"""Scores of agents in games, normalised: which games are compared, aggregates with intervals, tables and claims."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from rgvf.analysis import (
    Interval,
    Line,
    Statistic,
    agent_style,
    aggregate,
    bootstrap,
    capped_mean,
    compare_by_game,
    interquartile_mean,
    interval,
    mean_over_games,
    median_of_seeds,
    normalised,
    over_games,
    probability_of_improvement,
    sign_test,
)
from rgvf.environments import ATARI_GAMES, DMLAB_LEVELS
from rgvf.studies.claims import Claim
from rgvf.studies.comparison import ENOUGH_SEEDS, Duel, GameScores
from rgvf.studies.curves import Curves

INTERVALS_CAVEAT = (
    "Bootstrap intervals of few seeds are too narrow: in a single game, a difference that is not there is found in "
    f"about 6 % of cases with five seeds, where 2.5 % would be right. Fewer than {ENOUGH_SEEDS} seeds decide nothing."
)
"""For legends: how much to trust the intervals."""
SIGNIFICANT = 0.05
"""Sign tests with a smaller p-value count."""
WITHIN = 0.05
"""Part of its score by which an agent may be behind another one and still match it."""


class Measure(NamedTuple):
    """One number of the final returns of an agent."""

    name: str
    by: Literal["human", "record"]
    """What returns are normalised by."""
    statistic: Statistic


MEDIAN = Measure("median human-normalised", "human", median_of_seeds)
RECORD = Measure("mean record-normalised", "record", mean_over_games)
CAPPED = Measure("capped mean", "human", capped_mean)
MIDDLE = Measure("interquartile mean", "human", interquartile_mean)


class Benchmark(NamedTuple):
    """Games with reference scores, and how agents are measured in them."""

    name: str
    games: Sequence[str]
    measures: tuple[Measure, ...]
    """Those of tables."""
    published: tuple[Measure, ...]
    """Those of the paper, which are drawn over training."""
    decides: Measure
    """What claims are decided by."""


MEASURES = (MEDIAN, RECORD, CAPPED, MIDDLE)
"""Of Atari; the paper's two come first."""
ATARI = Benchmark("Atari", ATARI_GAMES, MEASURES, (MEDIAN, RECORD), MIDDLE)
DMLAB = Benchmark("DeepMind Lab", DMLAB_LEVELS, (CAPPED, MEDIAN, MIDDLE), (CAPPED,), CAPPED)


class NormalisedScores(GameScores):
    """Scores normalised by those of people or by records, over the games that the agents in question have.

    Args:
        curves: by GAME.AGENT. Games may be missing, and the seeds in each may be more or fewer.
        benchmark: the games, and the measures.
    """

    unit = "human-normalised, over the games of both"
    few_seeds = (
        f"; of fewer than {ENOUGH_SEEDS} seeds: better in more games than worse, p < {SIGNIFICANT} by the sign test"
    )

    def __init__(self, curves: Mapping[str, Curves], benchmark: Benchmark = ATARI) -> None:
        super().__init__(curves, benchmark.games)
        self.benchmark, self.measure = benchmark, benchmark.decides.name

    def compared(self, agents: Sequence[str]) -> tuple[list[str], list[str]]:
        """Agents to compare, and the games that all of them have.

        Agents with few games are left out where these would leave few games to all: chosen are the agents for which
        (agents − 1) · games is largest, of those with the most games.
        """
        trained = self.trained(agents)
        most = sorted(trained, key=lambda agent: -len(self.games(agent)))
        sets = [most[:n] for n in range(len(most), 1, -1)]
        best = max(sets, key=lambda chosen: (len(chosen) - 1) * len(self.games(*chosen)), default=trained)
        if not trained or not self.games(*best):
            return trained, []
        return [agent for agent in trained if agent in best], self.games(*best)

    def means(self, agent: str, games: Sequence[str]) -> np.ndarray:
        """Final returns, the mean of all seeds that there are: [games]."""
        return np.array([self.curves[f"{game}.{agent}"].final.mean() for game in games])

    def over_training(self, agent: str, games: Sequence[str]) -> tuple[list[int], np.ndarray]:
        """Frames, and the returns at each, as far as all games have them: [games, seeds, points]."""
        found = [self.curves[f"{game}.{agent}"] for game in games]
        seeds, points = self.seeds(agent, games)[0], min(len(each.frames) for each in found)
        return found[0].frames[:points], np.stack([each.values[:seeds, :points] for each in found])

    def aggregate(self, agent: str, games: Sequence[str], measure: Measure) -> Interval:
        """One number over games and seeds, with its 95 % bootstrap interval; one seed has none."""
        return aggregate(normalised(self.final(agent, games), games, measure.by), measure.statistic)

    def duel(self, a: str, b: str) -> Duel:
        """Over the games that both have: decided by seeds, or where these are few, by a sign test over games.

        The sign test decides nothing where even wins in all of so few games would not be significant.
        """
        games = self.games(a, b)
        if not games:
            return Duel()
        returns = {agent: self.final(agent, games) for agent in (a, b)}
        seeds = {agent: each.shape[1] for agent, each in returns.items()}
        figures: dict[str, Any] = {"games": len(games), "seeds in each game": seeds}
        if len(games) < len(self.all_games):
            figures["only"] = games
        by_measure: dict[str, Interval] = {}
        for measure in dict.fromkeys((self.benchmark.decides, *self.benchmark.published)):
            scores = {agent: normalised(each, games, measure.by) for agent, each in returns.items()}
            by_measure[measure.name] = difference = _difference(scores[a], scores[b], measure.statistic)
            own = {agent: float(measure.statistic(each)) for agent, each in scores.items()}
            figures[measure.name] = {**own, "difference": difference.value, "95 % interval": _ends(difference)}
        one, other = (normalised(each, games) for each in returns.values())
        wins, paired = probability_of_improvement(one, other), compare_by_game(one, other)
        figures["probability of improvement"] = {"value": wins.value, "95 % interval": _ends(wins)}
        figures["game by game, human-normalised"] = {
            "better": paired.better,
            "worse": paired.worse,
            "equal": paired.equal,
            "p of the sign test": paired.p_value,
            "mean difference": paired.difference.value,
            "95 % interval (games resampled)": _ends(paired.difference),
        }
        if min(seeds.values()) >= ENOUGH_SEEDS:
            decides = by_measure[self.measure]
            return Duel(decides.low > 0, figures, decides.high)
        if sign_test(len(games), 0) >= SIGNIFICANT:
            return Duel(None, figures)
        return Duel(paired.better > paired.worse and paired.p_value < SIGNIFICANT, figures)


def left_out(found: NormalisedScores, agents: Sequence[str]) -> str:
    """Which games agents are compared in, and which agents are not, where agents have different games."""
    trained, (compared, games) = found.trained(agents), found.compared(agents)
    if all(found.games(agent) == games for agent in trained):
        return ""
    if not games:
        return "No game has all agents."
    few = [f"{agent} (games: {len(found.games(agent))})" for agent in trained if agent not in compared]
    without = f", without {', '.join(few)}" if few else ""
    return (
        f"Agents are compared in the games that they have in common{without}: {', '.join(games)}. Each claim is about "
        "the games that its two agents have."
    )


def table(found: NormalisedScores, agents: Sequence[str]) -> list[tuple[str, ...]]:
    """A row for each agent; where they have different games, a second one over the games that all have."""
    compared, games = found.compared(agents)
    rows = [_row(found, agent, found.games(agent)) for agent in found.trained(agents)]
    header = "agent", "games", "seeds", *(measure.name for measure in found.benchmark.measures)
    if not games or all(found.games(agent) == games for agent in found.trained(agents)):
        return [header, *rows]
    heading = f"in the same {len(games)} game{'s' * (len(games) > 1)}:", *[""] * (len(header) - 1)
    return [header, *rows, heading, *(_row(found, agent, games) for agent in compared)]


def _row(found: NormalisedScores, agent: str, games: Sequence[str]) -> tuple[str, ...]:
    fewest, most = found.seeds(agent, games)
    seeds = str(fewest) if fewest == most else f"{fewest}–{most}"
    shown = (_show(found.aggregate(agent, games, each)) for each in found.benchmark.measures)
    return agent, str(len(games)), seeds, *shown


def _show(value: Interval) -> str:
    ends = f" [{value.low:.3f}, {value.high:.3f}]" if np.isfinite(value.low) else ""
    return f"{value.value:.3f}{ends}"


def published_curves(found: NormalisedScores, agents: Sequence[str], games: Sequence[str]) -> dict[str, list[Line]]:
    """The paper's measures over training: a line for each agent in a panel for each measure."""
    panels: dict[str, list[Line]] = {}
    for measure in found.benchmark.published:
        for agent in agents:
            frames, returns = found.over_training(agent, games)
            by_seed = over_games(normalised(returns, games, measure.by), measure.statistic)
            panels.setdefault(f"{measure.name} score", []).append(Line(agent, frames, by_seed, agent_style(agent)))
    return panels


def does_not_outperform(found: NormalisedScores, claim: str, agent: str, other: str) -> Claim:
    """A claim that one agent is not better than another, over the games that both have.

    That there is too little data to tell is no evidence for it.
    """
    measure = found.benchmark.decides
    check = (
        f"{measure.name} of {agent}, human-normalised, over the games of both, at most {WITHIN:.0%} above that of "
        f"{other}, or clearly below it: the upper end of the 95 % bootstrap interval of the difference; of fewer than "
        f"{ENOUGH_SEEDS} seeds: clearly below, by the sign test"
    )
    duel = found.duel(agent, other)
    if duel.is_better is None or duel.is_better:
        return Claim(claim, check, False if duel.is_better else None, dict(duel.figures))
    is_close = duel.at_most <= WITHIN * duel.figures[measure.name][other]
    return Claim(claim, check, True if is_close or found.duel(other, agent).is_better else None, dict(duel.figures))


def _difference(a: np.ndarray, b: np.ndarray, statistic: Statistic) -> Interval:
    """The statistic of a minus that of b, each [games, seeds]; seeds are resampled within each game."""
    value = float(statistic(a) - statistic(b))
    if min(a.shape[1], b.shape[1]) < 2:
        return Interval(math.nan, value, math.nan)
    resampled = bootstrap({"a": a, "b": b}, statistic)
    low, high = interval(resampled["a"] - resampled["b"])
    return Interval(low, value, high)


def _ends(found: Interval) -> list[float] | None:
    """As JSON can hold them."""
    return None if math.isnan(found.low) else [found.low, found.high]
