"""Craftax-Classic: the agents of MinAtar in an environment on which nothing was tuned.

Sizes and learning rates are those that `minatar-reward` found on two MinAtar games. End-to-end random questions were
not part of that search; they have the settings of the stop-gradient ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rgvf.agents import STOPPED, AgentConfig
from rgvf.runs import RunConfig, preset
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.comparison import outperforms
from rgvf.studies.relative_scores import Comparison, RelativeScores
from rgvf.studies.reward_agents import BASELINE, COMBINATION, TWO_TASKS
from rgvf.studies.runs import LEGEND, RunsConfig, RunsStudy

GAME = "Classic"
AGENTS = (BASELINE, f"rgvf{STOPPED}", "rgvf", COMBINATION, TWO_TASKS)
FIRST_SEED = 5000
"""Not one of the seeds that other studies use."""
CAVEAT = (
    "Each agent has its learning rate from MinAtar, A2C the largest and the two tasks end to end the smallest, so a "
    "difference may be that of the rates; --learning-rate gives all agents one."
)
"""Where agents with rates of their own are compared, results come with this."""


@dataclass(frozen=True)
class CraftaxConfig(RunsConfig):
    """Settings of the study."""

    frames: int = 20_000_000
    """Frames to train each agent for."""
    view: Literal["Symbolic", "Pixels"] = "Symbolic"
    """What the agents see: 1,345 numbers, or an image of 63×63."""
    learning_rate: float | None = None
    """Of all agents; none: each has the one that suits it on MinAtar."""
    representation: str = "gru"
    """Network of the representation of all agents: gru, or another name of `rgvf train --representation`."""

    def __post_init__(self) -> None:
        super().__post_init__()
        AgentConfig(BASELINE, representation=self.representation, **self.rate)  # ValueError where one is wrong

    @property
    def rate(self) -> dict[str, Any]:
        """The setting of all agents, if there is one."""
        return {} if self.learning_rate is None else {"learning_rate": self.learning_rate}


class CraftaxStudy(RunsStudy):
    """A2C, random questions, and these with action values."""

    name = "craftax"
    config_type = CraftaxConfig
    comparison = Comparison("Craftax", (GAME,), AGENTS, BASELINE)
    variants: Sequence[str] = tuple(f"{GAME}.{agent}" for agent in AGENTS)

    def run_config(self, config: CraftaxConfig, variant: str) -> RunConfig:
        """An agent by the preset, which has the settings of MinAtar."""
        agent = variant.partition(".")[2]
        env = f"craftax/{GAME}-{config.view}"
        task, stopped = agent.removesuffix(STOPPED), agent.endswith(STOPPED)
        own = {"stop_gradient": stopped, "representation": config.representation, **config.rate}
        run = preset(env, task, "craftax", **own)
        return config.run_config(env, run.agent, FIRST_SEED)

    def judge(self, config: CraftaxConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The table, the claims and the curves."""
        found = RelativeScores(curves, self.comparison)
        legend = f"{LEGEND}, mean ± standard error over seeds. An achievement gives 1, a lost point of health −0.1."
        caution = sentences(config.caution, found.missing(), CAVEAT if config.learning_rate is None else "")
        return Conclusion(found.table(), check(found), found.draw(folder.path), legend, caution)


def check(found: RelativeScores) -> list[Claim]:
    """What MinAtar showed, where nothing was tuned."""
    pairs = [
        ("Random questions and action values outperform A2C, without its gradient.", COMBINATION, BASELINE),
        ("End to end, random questions and action values outperform A2C.", TWO_TASKS, BASELINE),
        ("Stop-gradient random questions outperform A2C.", f"rgvf{STOPPED}", BASELINE),
        ("End to end, random questions outperform A2C.", "rgvf", BASELINE),
        ("Stop-gradient, the two tasks outperform random questions alone.", COMBINATION, f"rgvf{STOPPED}"),
    ]
    return [outperforms(found, *pair) for pair in pairs]


STUDY = CraftaxStudy()
