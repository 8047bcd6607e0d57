"""The paper's comparison on 12 levels of DeepMind Lab: A2C, random questions and two rival tasks, in both modes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from rgvf.agents import STOPPED
from rgvf.analysis import learning_panels
from rgvf.environments import DMLAB_LEVELS
from rgvf.studies import Claim, Conclusion, Curves, StudyFolder, sentences
from rgvf.studies.comparison import game_panels, outperforms
from rgvf.studies.normalised_scores import (
    DMLAB,
    INTERVALS_CAVEAT,
    NormalisedScores,
    does_not_outperform,
    left_out,
    published_curves,
    table,
)
from rgvf.studies.trials import TrialsConfig, TrialsStudy

BASELINE = "a2c"
OURS = "rgvf"
RIVALS = {"mhvp": "multi-horizon values", "pixel-control": "pixel control"}
LEGEND = (
    "The mean return over the last tenth of training, normalised by human scores, over levels and seeds (capped mean: "
    "no run counts more than 1, as the paper has it); in brackets its 95 % bootstrap interval (seeds resampled within "
    f"each level). {INTERVALS_CAVEAT}"
)


ENGINE_BYTES = 200 * 2**20
"""What an engine takes of the memory."""


@dataclass(frozen=True)
class LabConfig(TrialsConfig):
    """Settings of the study."""

    PRESETS: ClassVar[tuple[str, ...]] = ("paper",)

    preset: str = "paper"
    """paper: the only one for DeepMind Lab."""


class Lab12Study(TrialsStudy):
    """Seven agents in 12 levels."""

    name = "dmlab-12"
    config_type = LabConfig
    suite = "dmlab"
    games = DMLAB_LEVELS
    agents = (BASELINE, *(f"{task}{mode}" for task in (OURS, *RIVALS) for mode in (STOPPED, "")))
    not_planned = (
        "Not counted: maps, which are compiled when episodes begin, in 6 to 20 s each, unless an earlier run with the "
        "same seed has kept them. The first agent of each seed may take several times as long."
    )
    more_agents = tuple(f"rgvf+action-values{mode}" for mode in (STOPPED, ""))

    def default_parallel(self, config: Any) -> int:
        """As many batches at once as keep the cores busy, if their engines fit into half of the memory."""
        trials = self.chosen(config)
        in_a_batch = max((len(members) for _, members in self.batches(trials)), default=1)
        engines = in_a_batch * self.run_config(config, trials[0]).actors
        fit = memory_bytes() // 2 // (engines * ENGINE_BYTES)
        return max(1, min(fit, super().default_parallel(config)))

    def judge(self, config: TrialsConfig, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """The aggregates of each agent, the claims and the figures."""
        found, agents = NormalisedScores(self.by_agent(curves), DMLAB), self.all_agents
        caution = sentences(self.caution(config, curves), left_out(found, agents))
        return Conclusion(table(found, agents), check(found), draw(found, agents, folder.path), LEGEND, caution)


def memory_bytes() -> int:
    """Of this machine."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def check(found: NormalisedScores) -> list[Claim]:
    """The paper's claims about DeepMind Lab."""
    stopped = f"{OURS}{STOPPED}"
    matches = "Stop-gradient random GVFs match end-to-end A2C: A2C does not outperform them."
    claims = [does_not_outperform(found, matches, BASELINE, stopped)]
    for task, name in RIVALS.items():
        claims.append(outperforms(found, f"Stop-gradient random GVFs outperform {name}.", stopped, f"{task}{STOPPED}"))
        claims.append(outperforms(found, f"End to end, random GVFs outperform {name}.", OURS, task))
    return claims


def draw(found: NormalisedScores, agents: Sequence[str], folder: Path) -> list[Path]:
    """Learning curves in each level, and over the levels that all agents have."""
    panels = game_panels(found.curves, DMLAB_LEVELS, found.trained(agents))
    if not panels:
        return []
    title = "DeepMind Lab: return of the last 100 episodes"
    figures = learning_panels([folder / "curves.png"], panels, "return", title, columns=4 if len(panels) > 6 else 3)
    compared, levels = found.compared(agents)
    if levels:
        over = published_curves(found, compared, levels)
        title = f"DeepMind Lab, {len(levels)} level{'s' * (len(levels) > 1)}"
        figures += learning_panels([folder / "aggregate.png"], over, "score", title)
    return figures


STUDY = Lab12Study()
