"""Questions about reward beside random ones, on the five MinAtar games: this project's own step beyond the paper.

The study has two parts. The search: every agent tries the same settings on two of the games, with seeds of its own. The
comparison: every agent with its best setting, on all games, with other seeds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rgvf.agents import STOPPED
from rgvf.analysis import show_estimate
from rgvf.environments import MINATAR_GAMES
from rgvf.runs import MINATAR_WIDE_RATES, RunConfig
from rgvf.settings import require
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.comparison import outperforms
from rgvf.studies.relative_scores import Comparison, RelativeScores
from rgvf.studies.reward_agents import (
    ABLATIONS,
    AGENTS,
    BASELINE,
    CAVEAT,
    COMBINATION,
    ONE_NETWORK,
    SEARCHED,
    SIZES,
    TWO_TASKS,
    Setting,
    agent_config,
    score,
    settings_of,
)
from rgvf.studies.runs import LEGEND, RunsConfig, RunsStudy

SEARCH_GAMES = ("Breakout", "Freeway")
FIRST_SEED, FIRST_SEARCH_SEED = 3000, 2000
"""No search, of this study or another one, has used the seeds of the comparison."""

SEARCH: Mapping[str, tuple[str, str, Setting]] = {
    f"search.{game}.{agent}.{setting}": (game, agent, setting)
    for game in SEARCH_GAMES
    for size in SIZES
    for agent in SEARCHED
    for setting in settings_of(agent)
    if setting.size == size
}
"""Game, agent and setting of each variant of the search."""
TUNED: Mapping[str, Setting] = {agent: Setting("wide", MINATAR_WIDE_RATES[agent]) for agent in SEARCHED}
"""The best of the search: docs/results/minatar-reward.md."""


@dataclass(frozen=True)
class RewardConfig(RunsConfig):
    """Settings of the study."""

    search_seeds: int = 3
    """Number of independent agents for each setting of the search; their seeds start at 2000."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda x: x >= 1, "search_seeds")


class RewardStudy(RunsStudy):
    """A2C, random questions, questions about reward, and both together."""

    name = "minatar-reward"
    config_type = RewardConfig
    comparison = Comparison(
        "MinAtar", MINATAR_GAMES, AGENTS, BASELINE, ablations=ABLATIONS, beside=[COMBINATION, f"rgvf{STOPPED}"]
    )
    variants: Sequence[str] = (*(f"{game}.{agent}" for game in MINATAR_GAMES for agent in AGENTS), *SEARCH)

    def run_config(self, config: RewardConfig, variant: str) -> RunConfig:
        """An agent in a game: with a setting of the search, or with its best."""
        if variant in SEARCH:
            game, agent, setting = SEARCH[variant]
            first_seed = FIRST_SEARCH_SEED
        else:
            game, agent = variant.split(".")
            setting = TUNED[COMBINATION if agent in ABLATIONS else agent]
            first_seed = FIRST_SEED
        seeds = self.seeds(config, variant)
        return config.run_config(f"minatar/{game}", agent_config(agent, setting), first_seed, seeds=seeds)

    def seeds(self, config: RewardConfig, variant: str) -> int:
        """The search has fewer."""
        return config.search_seeds if variant in SEARCH else config.seeds

    def batch(self, variant: str) -> str:
        """All agents of a game, or of a game and a size in the search."""
        if variant in SEARCH:
            game, _, setting = SEARCH[variant]
            return f"search.{game}.{setting.size}"
        return super().batch(variant)

    def judge(self, config: RewardConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The tables, the claims, and curves and aggregates as figures."""
        searched = {variant: each for variant, each in curves.items() if variant in SEARCH}
        compared = {variant: each for variant, each in curves.items() if variant not in SEARCH}
        if searched:
            finals = {variant: each.final.round(3).tolist() for variant, each in searched.items()}
            measure = "return over the last tenth of training"
            folder.write_json("search.json", {"y": measure, "variants": finals}, indent=1)
        if not compared:
            legend = "The search: return over the last tenth of training, mean ± standard error over seeds."
            return Conclusion(search_table(searched), [], [], legend, config.caution)
        found = RelativeScores(compared, self.comparison)
        legend = f"{LEGEND}, mean ± standard error over seeds; the last column is over games and seeds."
        caution = sentences(config.caution, found.missing(), _other_choices(searched), CAVEAT)
        return Conclusion(found.table(), check(found), found.draw(folder.path), legend, caution)


def best(curves: Mapping[str, Curves]) -> dict[str, Setting]:
    """The best setting of each agent that was run with every setting in every game of the search."""
    finals = {SEARCH[variant]: float(each.final.mean()) for variant, each in curves.items()}
    chosen: dict[str, Setting] = {}
    for agent in SEARCHED:
        settings = settings_of(agent)
        if all((game, agent, setting) in finals for game in SEARCH_GAMES for setting in settings):
            of_agent = {s: score(finals[game, agent, s] for game in SEARCH_GAMES) for s in settings}
            chosen[agent] = max(settings, key=of_agent.__getitem__)
    return chosen


def search_table(curves: Mapping[str, Curves]) -> list[tuple[str, ...]]:
    """A row for each agent and game, a column for each setting."""
    found, chosen = {SEARCH[variant]: each for variant, each in curves.items()}, best(curves)
    settings = sorted({setting for agent in SEARCHED for setting in settings_of(agent)})
    table = [("agent", "game", *map(str, settings), "best of both games")]
    for agent in SEARCHED:
        for game in SEARCH_GAMES:
            cells = [found.get((game, agent, setting)) for setting in settings]
            if any(each is not None for each in cells):
                shown = ["" if each is None else show_estimate(each.final) for each in cells]
                table.append((agent, game, *shown, str(chosen.get(agent, ""))))
    return table


def _other_choices(searched: Mapping[str, Curves]) -> str:
    """Where the search in this folder found other settings than those that the comparison has."""
    other = [f"{agent} {setting}" for agent, setting in best(searched).items() if setting != TUNED[agent]]
    return f"The search here prefers other settings: {', '.join(other)}." if other else ""


def check(found: RelativeScores) -> list[Claim]:
    """Does a representation without any policy gradient beat A2C, and which kinds of questions does it take?"""
    one, alone = f"{ONE_NETWORK}{STOPPED}", f"action-values{STOPPED}"
    pairs = [
        ("Random questions and action values, two tasks, outperform A2C.", COMBINATION, BASELINE),
        ("Random questions and action values, one network, outperform A2C.", one, BASELINE),
        ("The two tasks outperform random questions alone.", COMBINATION, f"rgvf{STOPPED}"),
        ("The two tasks outperform action values alone.", COMBINATION, alone),
        ("Action values, normalised, outperform multi-horizon values as published.", alone, f"mhvp{STOPPED}"),
        ("In the combination, conditions on actions matter.", COMBINATION, ABLATIONS[0]),
        ("In the combination, questions after actions matter.", COMBINATION, ABLATIONS[1]),
        ("In the combination, sequences of several actions matter.", COMBINATION, ABLATIONS[2]),
        ("End to end, the combination outperforms A2C.", TWO_TASKS, BASELINE),
    ]
    goal = "The two tasks reach the goal: 1.3 times A2C over games and seeds, and no game below 0.95 times."
    whole = found.improves(goal, COMBINATION, at_least=1.3, everywhere=0.95)
    return [whole, *(outperforms(found, *pair) for pair in pairs)]


STUDY = RewardStudy()
