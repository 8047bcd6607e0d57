"""How much random questions and questions about reward should weigh, and whether an agent can learn it.

Fixed balances on two MinAtar games, and a balance that is learned by a meta-gradient (`rgvf.agents.Balance`): with
several rates on the same two games, and with one of them on the other three.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rgvf.agents import AgentConfig
from rgvf.analysis import Line, Style, learning_panels, show_estimate, styles
from rgvf.environments import MINATAR_GAMES
from rgvf.runs import RunConfig
from rgvf.studies.base import Claim, Conclusion, Curves, StudyFolder, write_curves
from rgvf.studies.minatar_reward import SEARCH_GAMES, TUNED
from rgvf.studies.reward_agents import COMBINATION, agent_config
from rgvf.studies.runs import LEGEND, RunsConfig, RunsStudy

FIRST_SEED = 4000
"""Not one of the seeds that other studies use."""
FIXED: Mapping[str, tuple[float, float]] = {
    f"fixed{power:+d}": (min(1.0, 2.0**-power), min(1.0, 2.0**power)) for power in range(-3, 4)
}
"""Weights of random questions and of questions about reward; the number is the ratio's power of two."""
RATES = (0.003, 0.01, 0.03)
"""Of the learned balance."""
LEARNED: Mapping[str, float] = {f"learned-{rate:g}": rate for rate in RATES}
CHOSEN = "learned-0.01"
"""The rate that is tested on the games on which none was tried."""
BALANCES = (*FIXED, *LEARNED)


def config_of(balance: str) -> AgentConfig:
    """The combination with a balance of `BALANCES`."""
    plain = agent_config(COMBINATION, TUNED[COMBINATION])
    if balance in FIXED:
        return dataclasses.replace(plain, c=FIXED[balance])
    return dataclasses.replace(plain, balance_rate=LEARNED[balance])


@dataclass(frozen=True)
class BalanceConfig(RunsConfig):
    """Settings of the study."""

    seeds: int = 5
    """Number of independent agents for each balance; their seeds start at 4000."""


class BalanceStudy(RunsStudy):
    """Fixed balances and learned ones."""

    name = "minatar-balance"
    config_type = BalanceConfig
    variants: Sequence[str] = tuple(
        f"{game}.{balance}"
        for game in MINATAR_GAMES
        for balance in (BALANCES if game in SEARCH_GAMES else ("fixed+0", CHOSEN))
    )

    def run_config(self, config: BalanceConfig, variant: str) -> RunConfig:
        """A balance in a game."""
        game, _, balance = variant.partition(".")
        return config.run_config(f"minatar/{game}", config_of(balance), FIRST_SEED)

    def batch(self, variant: str) -> str:
        """All of a game."""
        return variant.partition(".")[0]

    def conclude(self, config: BalanceConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The table, the claim and the curves."""
        write_curves(folder, self.measure, curves)
        looks: Mapping[str, Style] = styles({balance: balance for balance in BALANCES})
        panels: dict[str, list[Line]] = {}
        for variant, each in curves.items():
            game, _, balance = variant.partition(".")
            panels.setdefault(game, []).append(Line(balance, each.frames, each.values, looks[balance]))
        title = "MinAtar: random questions and questions about reward, by their balance"
        figures = learning_panels([folder.path / "curves.png"], panels, "return", title)
        legend = f"{LEGEND}, mean ± standard error over seeds. fixed+1: questions about reward weigh twice as much."
        return Conclusion(_table(curves), [check(curves)], figures, legend, config.caution)


def check(curves: Mapping[str, Curves]) -> Claim:
    """Is the learned balance as good as the better fixed one in both games?"""
    claim = "One learned balance is as good as the better fixed one in each game."
    how = f"on {' and '.join(SEARCH_GAMES)}, the mean of {CHOSEN} is at least 0.95 times the mean of the best fixed one"
    means = {variant: float(each.final.mean()) for variant, each in curves.items()}
    wanted = [f"{game}.{balance}" for game in SEARCH_GAMES for balance in (*FIXED, CHOSEN)]
    if any(variant not in means or len(curves[variant].values) < 2 for variant in wanted):
        return Claim(claim, how, None)
    best = {game: max(FIXED, key=lambda balance, g=game: means[f"{g}.{balance}"]) for game in SEARCH_GAMES}
    ratio = {game: means[f"{game}.{CHOSEN}"] / means[f"{game}.{best[game]}"] for game in SEARCH_GAMES}
    return Claim(claim, how, min(ratio.values()) >= 0.95, {"best fixed": best, "learned / best fixed": ratio})


def _table(curves: Mapping[str, Curves]) -> list[tuple[str, ...]]:
    games = list(dict.fromkeys(variant.partition(".")[0] for variant in curves))
    table = [("balance", *games)]
    for balance in BALANCES:
        found = [curves.get(f"{game}.{balance}") for game in games]
        if any(each is not None for each in found):
            table.append((balance, *("" if each is None else show_estimate(each.final) for each in found)))
    return table


STUDY = BalanceStudy()
