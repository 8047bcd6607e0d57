"""How much the random questions' hyperparameters matter (the paper's Figure 6), on MinAtar's Breakout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rgvf.runs import RunConfig
from rgvf.studies import Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.hyperparameters import BASELINE, HEADER, OURS, SAMPLED, check, draw, rows
from rgvf.studies.minatar import TUNED, PaperAgentsConfig, agent_config
from rgvf.studies.runs import LEGEND, RunsStudy

GAME = "Breakout"


@dataclass(frozen=True)
class RobustnessConfig(PaperAgentsConfig):
    """Settings of the study; agents learn at the rates that the study minatar-tuning found."""

    seeds: int = 3
    """Number of independent agents for each sample; no two samples of a hyperparameter share a seed."""
    points: int = 50
    """Points of a learning curve."""
    checkpoints: int = 5
    """Checkpoints of a run."""


class RobustnessStudy(RunsStudy):
    """Stop-gradient random questions with other hyperparameters, and A2C to compare with."""

    name = "minatar-robustness"
    config_type = RobustnessConfig
    variants: Sequence[str] = (*SAMPLED, BASELINE)

    def run_config(self, config: RobustnessConfig, variant: str) -> RunConfig:
        """A sample of a hyperparameter, or the baseline."""
        env = f"minatar/{GAME}"
        if variant == BASELINE:
            return config.run_config(env, agent_config(BASELINE, TUNED[BASELINE], config.hidden))
        sample = SAMPLED[variant]
        agent = agent_config(OURS, TUNED[OURS], config.hidden, **sample.questions)
        return config.run_config(env, agent, first_seed=sample.number * config.seeds)

    def batch(self, variant: str) -> str:
        """All of them: their question networks are padded to one size."""
        return GAME

    def beside(self, curves: Mapping[str, Curves]) -> dict[str, Any]:
        """The value of each sample."""
        return {"samples": {variant: each.value for variant, each in SAMPLED.items() if variant in curves}}

    def judge(self, config: RobustnessConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The table, the claims and the scatter plots."""
        sampled = curves.keys() & SAMPLED.keys()
        finals = {variant: each.final for variant, each in curves.items()}
        figures = [draw(finals, folder.path / "scatter.png", GAME)] if sampled else []
        missing = f"Only {len(sampled)} of {len(SAMPLED)} samples." if len(sampled) < len(SAMPLED) else ""
        caution = sentences(config.caution, missing)
        table = [HEADER, *rows(finals)]
        return Conclusion(table, check(finals), figures, f"{LEGEND}, means over seeds.", caution)


STUDY = RobustnessStudy()
