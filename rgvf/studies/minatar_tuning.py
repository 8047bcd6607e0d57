"""The search for learning rates and feature scales on one MinAtar game, the same for every agent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rgvf.analysis import Line, learning_panels, show_estimate, styles
from rgvf.runs import RunConfig
from rgvf.studies import Conclusion, Curves, StudyFolder
from rgvf.studies.minatar import AGENTS, TUNED, PaperAgentsConfig, Tuning, agent_config
from rgvf.studies.runs import LEGEND, RunsStudy

GAME = "Breakout"
FIRST_SEED = 1000
"""Not one of the seeds that the studies report."""
RATES = (7e-4, 2e-3, 4e-3, 8e-3)
LARGER_RATE = 1.6e-2
"""Also tried for agents that were best at the largest of these."""
SCALES = (2.0, 32.0)
"""Also tried, with learning rate 0.002, for agents with random features; the default is 8."""


def tried(agent: str) -> list[Tuning]:
    """The settings that are tried for an agent."""
    rates = [*RATES, LARGER_RATE] if TUNED[agent].learning_rate >= RATES[-1] else RATES
    scales = SCALES if agent.startswith("rgvf") else ()
    return [*(Tuning(rate) for rate in rates), *(Tuning(2e-3, scale) for scale in scales)]


VARIANTS: Mapping[str, tuple[str, Tuning]] = {
    f"{agent}.rate-{tuning.learning_rate:g}.scale-{tuning.feature_scale:g}": (agent, tuning)
    for agent in AGENTS
    for tuning in tried(agent)
}


@dataclass(frozen=True)
class TuningConfig(PaperAgentsConfig):
    """Settings of the search."""

    seeds: int = 3
    """Number of independent agents for each setting; their seeds start at 1000."""
    frames: int = 2_500_000
    """Frames to train each agent for."""
    points: int = 50
    """Points of a learning curve."""
    checkpoints: int = 5
    """Checkpoints of a run."""


class TuningStudy(RunsStudy):
    """Every agent with each of the settings; the best by its mean return over the last tenth of training."""

    name = "minatar-tuning"
    config_type = TuningConfig
    variants: Sequence[str] = tuple(VARIANTS)

    def run_config(self, config: TuningConfig, variant: str) -> RunConfig:
        """An agent with one setting."""
        agent, tuning = VARIANTS[variant]
        return config.run_config(f"minatar/{GAME}", agent_config(agent, tuning, config.hidden), FIRST_SEED)

    def batch(self, variant: str) -> str:
        """All of them."""
        return GAME

    def judge(self, config: TuningConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The table, the best setting of each agent, and the curves."""
        found = {agent: tuning._asdict() for agent, tuning in best(curves).items()}
        folder.write_json("best.json", found, indent=1)
        looks = styles({_label(tuning): _label(tuning) for _, tuning in VARIANTS.values()})
        panels: dict[str, list[Line]] = {}
        for variant, each in curves.items():
            agent, tuning = VARIANTS[variant]
            line = Line(_label(tuning), each.frames, each.values, looks[_label(tuning)])
            panels.setdefault(agent, []).append(line)
        title = f"{GAME}: return of the last 100 games, by learning rate ×feature scale"
        figures = learning_panels([folder.path / "curves.png"], panels, "return", title, columns=4)
        return Conclusion(_table(curves), [], figures, f"{LEGEND}, mean ± standard error over seeds.", config.caution)


def best(curves: Mapping[str, Curves]) -> dict[str, Tuning]:
    """For each agent the setting with the highest mean final return."""
    chosen: dict[str, tuple[float, Tuning]] = {}
    for variant, each in curves.items():
        agent, tuning = VARIANTS[variant]
        score = float(each.final.mean())
        if agent not in chosen or score > chosen[agent][0]:
            chosen[agent] = score, tuning
    return {agent: tuning for agent, (_, tuning) in chosen.items()}


def _label(tuning: Tuning) -> str:
    return f"{tuning.learning_rate:g} ×{tuning.feature_scale:g}"


def _table(curves: Mapping[str, Curves]) -> list[tuple[str, ...]]:
    settings = list(dict.fromkeys(tuning for _, tuning in VARIANTS.values()))
    table = [("agent (rate ×scale)", *(_label(tuning) for tuning in settings), "best")]
    finals = {VARIANTS[variant]: each.final for variant, each in curves.items()}
    for agent, tuning in best(curves).items():
        found = [finals.get((agent, setting)) for setting in settings]
        cells = ["" if each is None else show_estimate(each) for each in found]
        table.append((agent, *cells, _label(tuning)))
    return table


STUDY = TuningStudy()
