"""The paper's comparison on 49 Atari games: A2C, random questions and the rival tasks, stop-gradient and end-to-end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from rgvf.agents import STOPPED
from rgvf.analysis import (
    agent_style,
    improvement,
    improvement_bars,
    learning_panels,
    normalised,
    performance_profile,
    profile_panels,
)
from rgvf.environments import ATARI_GAMES
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.comparison import game_panels, outperforms
from rgvf.studies.normalised_scores import (
    INTERVALS_CAVEAT,
    NormalisedScores,
    does_not_outperform,
    left_out,
    published_curves,
    table,
)
from rgvf.studies.trials import TrialsConfig, TrialsStudy

BASELINE = "a2c"
_OURS = "rgvf"
_RIVALS = {"mhvp": "multi-horizon values", "pixel-control": "pixel control", "curl": "CURL"}
_MODES = (STOPPED, "")
_MANY = 12
"""More games than these have small panels."""
THRESHOLDS = np.linspace(0, 4, 81)
"""Human-normalised scores at which performance profiles are drawn."""
LEGEND = (
    "The mean return over the last tenth of training, normalised by human scores (or records), over games and seeds; "
    "in brackets its 95 % bootstrap interval (seeds resampled within each game). Where games have more or fewer seeds, "
    f"as many count as each of them has. {INTERVALS_CAVEAT}"
)


class Atari49Study(TrialsStudy):
    """Nine agents in 49 games."""

    name = "atari-49"
    games = ATARI_GAMES
    agents = (BASELINE, *(f"{task}{mode}" for task in (_OURS, *_RIVALS) for mode in _MODES))
    more_agents = tuple(f"rgvf+action-values{mode}" for mode in _MODES)

    def judge(self, config: TrialsConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The aggregates of each agent, in its own games and in those of all; the claims and the figures."""
        found, agents = NormalisedScores(self.by_agent(curves)), self.all_agents
        caution = sentences(self.caution(config, curves), left_out(found, agents))
        return Conclusion(table(found, agents), check(found), draw(found, agents, folder.path), LEGEND, caution)


def check(found: NormalisedScores) -> list[Claim]:
    """The paper's claims in its comparison to baseline auxiliary tasks."""
    ours = f"{_OURS}{STOPPED}"
    claims = [outperforms(found, "Stop-gradient random GVFs outperform end-to-end A2C.", ours, BASELINE)]
    for task, name in _RIVALS.items():
        claim = f"End-to-end A2C is not outperformed by stop-gradient {name}."
        claims.append(does_not_outperform(found, claim, f"{task}{STOPPED}", BASELINE))
    for task, name in _RIVALS.items():
        claims.append(outperforms(found, f"Stop-gradient random GVFs outperform {name}.", ours, f"{task}{STOPPED}"))
    claims.append(outperforms(found, "End to end, random GVFs outperform A2C.", _OURS, BASELINE))
    claims += [
        outperforms(found, f"End to end, random GVFs outperform {name}.", _OURS, task) for task, name in _RIVALS.items()
    ]
    return [*claims, outperforms(found, "End to end, CURL hurts in the long run.", BASELINE, "curl")]


def draw(found: NormalisedScores, agents: Sequence[str], folder: Path) -> list[Path]:
    """Learning curves in each game and over games, improvement over A2C by game, and performance profiles."""
    trained, (compared, games) = found.trained(agents), found.compared(agents)
    panels = game_panels(found.curves, ATARI_GAMES, trained)
    if not panels:
        return []
    small = len(panels) > _MANY
    title = "Atari: return of the last 100 games"
    options = {"small": small, "columns": 7 if small else 3}
    figures = learning_panels([folder / "curves.png"], panels, "return", title, **options)
    if games:
        figures += [_aggregates(found, compared, games, folder), _profiles(found, compared, games, folder)]
    for agent in trained:
        if agent.startswith(_OURS) and (shared := found.games(agent, BASELINE)):
            figures.append(_improvement(found, agent, shared, folder))
    return figures


def _aggregates(found: NormalisedScores, agents: Sequence[str], games: Sequence[str], folder: Path) -> Path:
    panels = published_curves(found, agents, games)
    return learning_panels([folder / "aggregate.png"], panels, "score", f"Atari, {_which(games)}")[0]


def _profiles(found: NormalisedScores, agents: Sequence[str], games: Sequence[str], folder: Path) -> Path:
    profiles = {
        agent: performance_profile(normalised(found.final(agent, games), games), THRESHOLDS) for agent in agents
    }
    stopped = {agent: each for agent, each in profiles.items() if agent.endswith(STOPPED)}
    end_to_end = {agent: each for agent, each in profiles.items() if agent not in stopped}
    baseline = {agent: each for agent, each in end_to_end.items() if agent == BASELINE}
    panels = {"end-to-end": end_to_end} if end_to_end else {}
    if stopped:
        panels = {"stop-gradient" + ", and A2C" * len(baseline): baseline | stopped, **panels}
    band = " (band: 95 % bootstrap interval)" if any(np.isfinite(each[0]).any() for each in profiles.values()) else ""
    title = f"Atari, {_which(games)}: how many runs end above a score{band}"
    label = "human-normalised score"
    return profile_panels(folder / "profiles.png", panels, THRESHOLDS, title, label, ("human", 1.0))


def _improvement(found: NormalisedScores, agent: str, games: Sequence[str], folder: Path) -> Path:
    values = improvement(found.means(agent, games), found.means(BASELINE, games), games)
    title = f"{agent} against A2C, {_which(games)}"
    label = "(score − A2C) / (max(human, A2C) − random)"
    path = folder / f"improvement-{agent}.png"
    by_game = dict(zip(games, values.tolist(), strict=True))
    return improvement_bars(path, by_game, title, label, agent_style(agent).colour)


def _which(games: Sequence[str]) -> str:
    """For a title: how many games, or which one."""
    return f"{len(games)} games" if len(games) > 1 else games[0]


STUDY = Atari49Study()
