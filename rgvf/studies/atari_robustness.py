"""How much the random questions' hyperparameters matter (the paper's Figure 6 and its appendix), on three Atari games.

The paper does not say how many runs each of its points is; here it is one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rgvf.studies import Conclusion, Curves, StudyFolder
from rgvf.studies.hyperparameters import BASELINE, HEADER, SAMPLED, Finals, check, draw, rows
from rgvf.studies.runs import LEGEND
from rgvf.studies.trials import Trial, TrialsConfig, TrialsStudy
from rgvf.tasks import RandomQuestions, TaskSettings

_SAMPLES = {name.replace(".", "-"): name for name in SAMPLED}
"""Names of samples by names of agents, in which dots would separate."""


@dataclass(frozen=True)
class AtariRobustnessConfig(TrialsConfig):
    """Settings of the study."""

    seeds: int = 5
    """Number of trials of A2C in each game; each sample has one, with a seed of its own."""


class AtariRobustnessStudy(TrialsStudy):
    """Stop-gradient random questions with other hyperparameters, and A2C to compare with.

    Trials are GAME.depth-07.7 and GAME.a2c.0: no two samples of a hyperparameter share a seed.
    """

    name = "atari-robustness"
    config_type = AtariRobustnessConfig
    games = ("Breakout", "BeamRider", "SpaceInvaders")
    agents = (*_SAMPLES, BASELINE)

    def trial_seeds(self, config: TrialsConfig, agent: str) -> Sequence[int]:
        """The number of the sample, or A2C's seeds."""
        return range(config.seeds) if agent == BASELINE else (SAMPLED[_SAMPLES[agent]].number,)

    def tasks(self, agent: str) -> str | TaskSettings:
        """Random questions with one hyperparameter of the sample's."""
        return BASELINE if agent == BASELINE else RandomQuestions(**SAMPLED[_SAMPLES[agent]].questions)

    def is_stopped(self, agent: str) -> bool:
        """All but the baseline."""
        return agent != BASELINE

    def kind(self, config: TrialsConfig, variant: str) -> str:
        """The hyperparameter, whose first sample stands for all."""
        del config
        agent = Trial.parse(variant).agent
        return BASELINE if agent == BASELINE else f"rgvf, other {SAMPLED[_SAMPLES[agent]].name}"

    def beside(self, curves: Mapping[str, Curves]) -> dict[str, Any]:
        """The value of each sample."""
        del curves
        return {"samples": {agent: SAMPLED[name].value for agent, name in _SAMPLES.items()}}

    def judge(self, config: TrialsConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """For each game the rows of the table, the claims and the scatter plots."""
        found = {game: self.finals(curves, game) for game in self.games}
        table = [("game", *HEADER), *((game, *row) for game, finals in found.items() for row in rows(finals))]
        claims = [claim for game, finals in found.items() for claim in check(finals, game)]
        drawn = {game: finals for game, finals in found.items() if finals.keys() - {BASELINE}}
        figures = [draw(finals, folder.path / f"scatter-{game}.png", game) for game, finals in drawn.items()]
        return Conclusion(table, claims, figures, f"{LEGEND}; one trial for each sample.", self.caution(config, curves))

    def finals(self, curves: Mapping[str, Curves], game: str) -> Finals:
        """The final returns in a game, by the name of a sample, and of the baseline."""
        of = {name.partition(".")[2]: each.final for name, each in self.by_agent(curves).items() if _is_in(name, game)}
        return {_SAMPLES.get(agent, agent): each for agent, each in of.items()}

    def caution(self, config: TrialsConfig, curves: Mapping[str, Curves]) -> str:
        """What of the full study is missing in the results; empty where nothing is."""
        full = self.full
        if config.identity() == full.identity() and set(self.variants) <= curves.keys():
            return ""
        found = {game: self.finals(curves, game) for game in self.games}
        parts = ", ".join(
            f"{game} {len(finals.keys() - {BASELINE})} samples and {len(finals.get(BASELINE, ()))} trials of A2C"
            for game, finals in found.items()
        )
        return (
            f"This has {config.length:,} frames by the preset {config.preset}: {parts}. The full study has "
            f"{full.length:,} frames by the preset {full.preset}, in each game {len(SAMPLED)} samples and {full.seeds} "
            "trials of A2C, and its claims may come out otherwise."
        )


def _is_in(name: str, game: str) -> bool:
    return name.startswith(f"{game}.")


STUDY = AtariRobustnessStudy()
