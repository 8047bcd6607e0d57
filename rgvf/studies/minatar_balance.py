"""How much random questions and questions about reward should weigh, and whether an agent can learn it.

Fixed balances on two MinAtar games, and one that is learned (`rgvf.agents.Balance`). How it is learned was chosen on
these two games; so it is also compared with equal weights on the other three.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rgvf.agents import AgentConfig
from rgvf.analysis import Style, learning_panels, ratio_interval
from rgvf.environments import MINATAR_GAMES
from rgvf.runs import RunConfig
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.comparison import ENOUGH_SEEDS, game_panels, game_table
from rgvf.studies.minatar_reward import SEARCH_GAMES, TUNED
from rgvf.studies.reward_agents import CAVEAT, COMBINATION, agent_config
from rgvf.studies.runs import LEGEND, RunsConfig, RunsStudy

FIRST_SEED = 4000
"""Not one of the seeds that other studies use."""
FIXED: Mapping[str, tuple[float, float]] = {
    f"fixed{power:+d}": (min(1.0, 2.0**-power), min(1.0, 2.0**power)) for power in range(-3, 4)
}
"""c of random questions and of questions about reward; the number is the ratio's power of two."""
EQUAL, LEARNED = "fixed+0", "learned"
BALANCES = (*FIXED, LEARNED)
LABELS: Mapping[str, str] = {
    **{name: f"fixed {a / min(a, b):g} : {b / min(a, b):g}" for name, (a, b) in FIXED.items()},
    LEARNED: LEARNED,
}
"""What figures and tables call them: the weight of random questions, and that of questions about reward."""
_FROM_RANDOM_TO_REWARD = "#5A1A00", "#CC3311", "#F2A97C", "#8C8C8C", "#A6CFEA", "#4F9BD3", "#0B2A5C"
STYLES: Mapping[str, Style] = {
    **{LABELS[name]: Style(colour) for name, colour in zip(FIXED, _FROM_RANDOM_TO_REWARD, strict=True)},
    LABELS[LEARNED]: Style("#000000", marker="o"),
}
"""By label."""
AS_GOOD = 0.95
"""A balance is as good as another one if its mean return is at least so many times the other's."""


def config_of(balance: str) -> AgentConfig:
    """The combination with a balance of `BALANCES`."""
    plain = agent_config(COMBINATION, TUNED[COMBINATION])
    if balance == LEARNED:
        return dataclasses.replace(plain, learn_balance=True)
    return dataclasses.replace(plain, c=FIXED[balance])


@dataclass(frozen=True)
class BalanceConfig(RunsConfig):
    """Settings of the study."""

    seeds: int = 5
    """Number of independent agents for each balance; their seeds start at 4000."""


class BalanceStudy(RunsStudy):
    """Fixed balances and a learned one."""

    name = "minatar-balance"
    config_type = BalanceConfig
    variants: Sequence[str] = tuple(
        f"{game}.{balance}"
        for game in MINATAR_GAMES
        for balance in (BALANCES if game in SEARCH_GAMES else (EQUAL, LEARNED))
    )

    def run_config(self, config: BalanceConfig, variant: str) -> RunConfig:
        """A balance in a game."""
        game, _, balance = variant.partition(".")
        return config.run_config(f"minatar/{game}", config_of(balance), FIRST_SEED)

    def judge(self, config: BalanceConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The table, the claims and the curves."""
        figures = draw(curves, folder.path)
        legend = f"{LEGEND}, mean ± standard error over seeds. Fixed 1 : 2: questions about reward weigh twice as much."
        table = game_table(labelled(curves), MINATAR_GAMES, [*LABELS.values()], first="random : reward")
        return Conclusion(table, check(curves), figures, legend, sentences(config.caution, CAVEAT))


def labelled(curves: Mapping[str, Curves]) -> dict[str, Curves]:
    """The curves by GAME.LABEL."""
    names = {variant: variant.partition(".") for variant in curves}
    return {f"{game}.{LABELS[balance]}": curves[variant] for variant, (game, _, balance) in names.items()}


def draw(curves: Mapping[str, Curves], folder: Path) -> list[Path]:
    """Learning curves in each game."""
    panels = game_panels(labelled(curves), MINATAR_GAMES, [*LABELS.values()], STYLES.__getitem__)
    title = "MinAtar: random questions and questions about reward, by their balance (random : reward)"
    return learning_panels([folder / "curves.png"], panels, "return", title)


def check(curves: Mapping[str, Curves]) -> list[Claim]:
    """Is the learned balance as good as the best fixed one, and elsewhere as good as equal weights?"""
    other_games = [game for game in MINATAR_GAMES if game not in SEARCH_GAMES]
    return [
        _as_good(curves, "The learned balance is as good as the best fixed one in each game.", SEARCH_GAMES, [*FIXED]),
        _as_good(curves, "In the other games it is as good as equal weights.", other_games, [EQUAL]),
    ]


def _as_good(curves: Mapping[str, Curves], claim: str, games: Sequence[str], fixed: Sequence[str]) -> Claim:
    """The learned balance against the best of some fixed ones, game by game."""
    which = f"the best of {len(fixed)} fixed balances" if len(fixed) > 1 else fixed[0]
    how = (
        f"on {', '.join(games)}: the mean return is at least {AS_GOOD:g} times that of {which}; means decide, not the "
        f"intervals, with at least {ENOUGH_SEEDS} seeds"
    )
    finals = {variant: each.final for variant, each in curves.items() if len(each.values) >= ENOUGH_SEEDS}
    if any(f"{game}.{balance}" not in finals for game in games for balance in (*fixed, LEARNED)):
        return Claim(claim, how, None)
    figures: dict[str, Any] = {}
    for game in games:
        best = max(fixed, key=lambda balance, game=game: float(finals[f"{game}.{balance}"].mean()))
        base, learned = finals[f"{game}.{best}"], finals[f"{game}.{LEARNED}"]
        ratio = float(learned.mean() / base.mean())
        figures[game] = {"fixed": best, "learned / fixed": ratio, "95 % interval": list(ratio_interval(base, learned))}
    return Claim(claim, how, all(each["learned / fixed"] >= AS_GOOD for each in figures.values()), figures)


STUDY = BalanceStudy()
