"""The paper's questions on the five MinAtar games: many seeds in minutes, on one GPU."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from rgvf.agents import STOPPED, AgentConfig
from rgvf.environments import MINATAR_GAMES
from rgvf.runs import MINATAR_RATES, RunConfig
from rgvf.settings import positive, require
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.comparison import outperforms
from rgvf.studies.relative_scores import Comparison, RelativeScores
from rgvf.studies.runs import LEGEND, RunsConfig, RunsStudy
from rgvf.tasks import RandomQuestions, find_task

_BOTH = ("rgvf", "mhvp", "pixel-control", "curl")
_ABLATIONS = ("rgvf-no-actions", "rgvf-shallow", "rgvf-discounted-sum")
BASELINE = "a2c"
"""The agent whose mean in a game is the unit."""
AGENTS = (
    BASELINE,
    *(f"{task}{mode}" for task in _BOTH for mode in (STOPPED, "")),
    *(f"{task}{STOPPED}" for task in _ABLATIONS),
)


class Tuning(NamedTuple):
    """Settings that are searched for each agent on one game, and then fixed for all."""

    learning_rate: float
    feature_scale: float = 8.0


TUNED: Mapping[str, Tuning] = {agent: Tuning(MINATAR_RATES[agent]) for agent in AGENTS}
"""The best that `rgvf study minatar-tuning` found on Breakout: docs/results/minatar.md."""


@dataclass(frozen=True)
class PaperAgentsConfig(RunsConfig):
    """Settings of a study of the paper's agents on MinAtar; all others are the paper's for Atari."""

    hidden: int = 128
    """Units of the hidden layer of each head."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "at least 1", lambda x: x >= 1, "hidden")


@dataclass(frozen=True)
class MinAtarConfig(PaperAgentsConfig):
    """Settings of the study."""

    learning_rate: float | None = None
    """Learning rate of all agents; by default each has the best that the study minatar-tuning found."""
    feature_scale: float | None = None
    """Length of the random vectors of features; by default each agent has the best that was found."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self, "positive", lambda x: x is None or positive(x), "learning_rate", "feature_scale")


def agent_config(name: str, tuning: Tuning, hidden: int, **questions: Any) -> AgentConfig:
    """The agent of this name in `AGENTS`; `questions`: settings of its random questions."""
    task, stopped = name.removesuffix(STOPPED), name.endswith(STOPPED)
    tasks = []
    if task != BASELINE:
        settings = find_task(task)
        own = {"feature_scale": tuning.feature_scale, **questions} if issubclass(settings, RandomQuestions) else {}
        tasks = [settings(**own)]
    return AgentConfig(tasks, stop_gradient=stopped, hidden=hidden, learning_rate=tuning.learning_rate)


class MinAtarStudy(RunsStudy):
    """A2C, random questions, the rival tasks and the ablations, on five games."""

    name = "minatar"
    config_type = MinAtarConfig
    comparison = Comparison(
        "MinAtar",
        MINATAR_GAMES,
        AGENTS,
        BASELINE,
        ablations=[f"{task}{STOPPED}" for task in _ABLATIONS],
        beside=[f"rgvf{STOPPED}"],
        by_game=False,
    )
    variants: Sequence[str] = tuple(f"{game}.{agent}" for game in MINATAR_GAMES for agent in AGENTS)

    def run_config(self, config: MinAtarConfig, variant: str) -> RunConfig:
        """An agent in a game."""
        game, agent = variant.split(".")
        best = TUNED[agent]
        tuning = Tuning(config.learning_rate or best.learning_rate, config.feature_scale or best.feature_scale)
        return config.run_config(f"minatar/{game}", agent_config(agent, tuning, config.hidden))

    def judge(self, config: MinAtarConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The table, the claims, and curves and aggregates as figures."""
        found = RelativeScores(curves, self.comparison)
        caution = sentences(config.caution, found.missing())
        legend = f"{LEGEND}, mean ± standard error over seeds; the last column is over games and seeds."
        return Conclusion(found.table(), check(found), found.draw(folder.path), legend, caution)


def check(found: RelativeScores) -> list[Claim]:
    """The paper's claims, on the interquartile mean over games and seeds."""
    ours = f"rgvf{STOPPED}"
    claims = [
        ("Stop-gradient random GVFs outperform end-to-end A2C.", ours, BASELINE),
        ("Depth matters: deep questions outperform shallow ones.", ours, f"rgvf-shallow{STOPPED}"),
        ("Action-conditioning matters.", ours, f"rgvf-no-actions{STOPPED}"),
        ("Random deep questions outperform discounted sums.", ours, f"rgvf-discounted-sum{STOPPED}"),
        ("Stop-gradient random GVFs outperform multi-horizon values.", ours, f"mhvp{STOPPED}"),
        ("Stop-gradient random GVFs outperform pixel control.", ours, f"pixel-control{STOPPED}"),
        ("Stop-gradient random GVFs outperform CURL.", ours, f"curl{STOPPED}"),
        ("End to end, random GVFs outperform A2C.", "rgvf", BASELINE),
        ("End to end, random GVFs outperform multi-horizon values.", "rgvf", "mhvp"),
    ]
    return [outperforms(found, *claim) for claim in claims]


STUDY = MinAtarStudy()
