"""The agents of `dmlab-12` in ViZDoom's 3-D scenarios, and one with questions about reward beside random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rgvf.agents import STOPPED
from rgvf.analysis import learning_panels
from rgvf.environments import DOOM_SCENARIOS
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, dmlab_12
from rgvf.studies.comparison import clearly_above, game_panels, game_table
from rgvf.studies.dmlab_12 import BASELINE, RIVALS
from rgvf.studies.normalised_scores import INTERVALS_CAVEAT
from rgvf.studies.runs import LEGEND
from rgvf.studies.trials import TrialsConfig, TrialsStudy

GAMES = ("my_way_home", "health_gathering")
OURS = f"rgvf{STOPPED}"
COMBINATION = f"rgvf+action-values{STOPPED}"


@dataclass(frozen=True)
class DoomConfig(TrialsConfig):
    """Settings of the study."""

    PRESETS: ClassVar[tuple[str, ...]] = ("doom",)

    preset: str = "doom"
    """doom: the only one for ViZDoom."""


class DoomStudy(TrialsStudy):
    """Eight agents in two scenarios; others can be chosen."""

    name = "doom"
    config_type = DoomConfig
    suite = "doom"
    games = GAMES
    more_games = tuple(each for each in DOOM_SCENARIOS if each not in GAMES)
    agents = (*dmlab_12.STUDY.agents, COMBINATION)
    more_agents = ("rgvf+action-values", f"action-values{STOPPED}", "action-values")

    def judge(self, config: TrialsConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """Returns by scenario, the claims, and learning curves."""
        found, agents = self.by_agent(curves), self.all_agents
        games = [game for game in self.all_games if any(f"{game}.{agent}" in found for agent in agents)]
        figures = draw(found, folder.path)
        legend = f"{LEGEND}, mean ± standard error over seeds. {INTERVALS_CAVEAT}"
        table = game_table(found, games, agents)
        return Conclusion(table, check(found, games), figures, legend, self.caution(config, curves))


def draw(found: Mapping[str, Curves], folder: Path) -> list[Path]:
    """Learning curves by scenario, of curves by GAME.AGENT."""
    panels = game_panels(found, STUDY.all_games, STUDY.all_agents)
    title = "ViZDoom: return of the last 100 games"
    return learning_panels([folder / "curves.png"], panels, "return", title) if panels else []


def check(found: Mapping[str, Curves], games: Sequence[str]) -> list[Claim]:
    """Whether random questions are as good a teacher here as the paper found in DeepMind Lab, by scenario."""
    pairs = [
        ("stop-gradient random questions outperform A2C.", OURS, BASELINE),
        ("end to end, random questions outperform A2C.", "rgvf", BASELINE),
        ("with questions about reward, stop-gradient random questions outperform A2C.", COMBINATION, BASELINE),
        ("questions about reward help stop-gradient random questions.", COMBINATION, OURS),
    ]
    pairs += [
        (f"stop-gradient random questions outperform {RIVALS[task]}.", OURS, f"{task}{STOPPED}") for task in RIVALS
    ]
    return [
        clearly_above(found, game, f"{game}: {claim}", (better,), worse)
        for game in games
        for claim, better, worse in pairs
    ]


STUDY = DoomStudy()
