"""What depth and action-conditioning are good for (the paper's Figure 5): four kinds of random questions, six games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rgvf.agents import STOPPED
from rgvf.analysis import learning_panels
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.comparison import (
    CLEARLY,
    clearly_above,
    enough_seeds,
    game_difference,
    game_panels,
    game_table,
    outperforms,
)
from rgvf.studies.normalised_scores import INTERVALS_CAVEAT, MIDDLE, NormalisedScores, left_out
from rgvf.studies.runs import LEGEND
from rgvf.studies.trials import TrialsConfig, TrialsStudy

OURS = f"rgvf{STOPPED}"
NO_ACTIONS, SHALLOW, SUMS = (f"rgvf-{kind}{STOPPED}" for kind in ("no-actions", "shallow", "discounted-sum"))


class AtariAblationStudy(TrialsStudy):
    """Four kinds of question networks in six games, all stop-gradient."""

    name = "atari-ablation"
    games = ("BeamRider", "Breakout", "Pong", "Qbert", "Seaquest", "SpaceInvaders")
    agents = (OURS, NO_ACTIONS, SHALLOW, SUMS)

    def judge(self, config: TrialsConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """Returns by game, the claims, and learning curves."""
        found = NormalisedScores(self.by_agent(curves))
        claims = [*over_games(found), *by_game(found, self.games), in_half_of_the_games(found, self.games)]
        caution = sentences(self.caution(config, curves), left_out(found, self.agents))
        legend = (
            f"{LEGEND}, mean ± standard error over seeds; the last column is human-normalised, over seeds and the "
            f"games that all agents have. {INTERVALS_CAVEAT}"
        )
        panels = game_panels(found.curves, self.games, self.agents)
        title = "Atari, four kinds of random questions: return of the last 100 games"
        figures = learning_panels([folder.path / "curves.png"], panels, "return", title) if panels else []
        return Conclusion(table(found, self.games, self.agents), claims, figures, legend, caution)


def table(found: NormalisedScores, games: Sequence[str], agents: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns of each agent in each game, and over the games that all agents have."""
    compared, shared = found.compared(agents)
    over = {agent: f"{found.aggregate(agent, shared, MIDDLE).value:.3f}" for agent in compared if shared}
    return game_table(found.curves, games, agents, last=(MIDDLE.name, over))


def over_games(found: NormalisedScores) -> list[Claim]:
    """The claims over all games together."""
    return [
        outperforms(found, "Depth matters: deep questions outperform shallow ones.", OURS, SHALLOW),
        outperforms(found, "Action-conditioning matters.", OURS, NO_ACTIONS),
        outperforms(found, "Random deep questions outperform discounted sums.", OURS, SUMS),
    ]


def by_game(found: NormalisedScores, games: Sequence[str]) -> list[Claim]:
    """The claims about each game."""
    others = (OURS, NO_ACTIONS, SUMS)
    worst = [
        clearly_above(found.curves, game, f"{game}: shallow questions perform worst.", others, SHALLOW)
        for game in games
    ]
    claim = "questions about actions outperform those without."
    return [*worst, *(clearly_above(found.curves, game, f"{game}: {claim}", (OURS,), NO_ACTIONS) for game in games)]


def in_half_of_the_games(found: NormalisedScores, games: Sequence[str]) -> Claim:
    """What the paper counted against discounted sums: better in three games, worse in one."""
    claim = "Random deep questions outperform discounted sums in half of the games, and are worse in one at most."
    check = f"{OURS} is above {SUMS} in at least half of the {len(games)} games and below in at most one, {CLEARLY}"
    intervals: dict[str, Any] = {game: game_difference(found.curves, game, SUMS, OURS) for game in games}
    if None in intervals.values():
        return Claim(claim, check, None)
    better = sum(low > 0 for low, _ in intervals.values())
    worse = sum(high < 0 for _, high in intervals.values())
    figures = {"better": better, "worse": worse, "difference, 95 % interval": intervals}
    enough = all(enough_seeds(found.curves, game, OURS, SUMS) for game in games)
    return Claim(claim, check, 2 * better >= len(games) and worse <= 1 if enough else None, figures)


STUDY = AtariAblationStudy()
