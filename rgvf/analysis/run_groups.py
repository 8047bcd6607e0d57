"""Training runs as lines of a figure or rows of a table: runs that differ only by seed belong together.

Only the files of a run are read. The code of its environment and its tasks is not needed.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from rgvf.analysis.run_files import RunFiles, read_folders
from rgvf.analysis.statistics import final
from rgvf.analysis.styles import STOPPED
from rgvf.errors import UserError
from rgvf.messages import unknown

_NO_SETTINGS = ("format", "made_with", "agent", "stop_gradient", "env", "seed", "seeds", "frames", "log_every")
_NO_SETTINGS += ("checkpoint_every", "keep_checkpoints", "processes", "imports", "wandb")
"""In config.json, but part of an agent's name, or of no influence on what it learns in a given number of frames."""
_NO_METRICS = ("seed", "frames")
MAX_LABEL = 40
"""Characters of a setting in a label; longer ones, such as a whole question network, are not shown."""


@dataclass
class RunGroup:
    """Runs of one agent in one environment that differ only by seed."""

    env: str
    agent: str
    """As `AgentConfig.label`: rgvf-stop-gradient."""
    settings: Mapping[str, Any]
    """Of the run, the agent and its tasks, by name."""
    label: str = ""
    """The agent, and what distinguishes it from other groups with the same one: settings, or else its folders."""
    lines: dict[int, list[dict[str, Any]]] = field(default_factory=dict)
    """The metrics of each seed."""
    folders: dict[int, Path] = field(default_factory=dict)
    """The folder of each seed."""

    @property
    def metrics(self) -> list[str]:
        """The names of all metrics."""
        names = dict.fromkeys(name for lines in self.lines.values() for line in lines for name in line)
        return [name for name in names if name not in _NO_METRICS]

    def has(self, metric: str) -> bool:
        """Whether any line has a value of a metric."""
        return any(line.get(metric) is not None for lines in self.lines.values() for line in lines)

    @property
    def frames(self) -> list[int]:
        """How many frames each seed has trained for."""
        return [int(lines[-1]["frames"]) for lines in self.lines.values()]

    def curve(self, metric: str) -> tuple[list[int], np.ndarray]:
        """Frames, and the metric of each seed [seeds, points], as far as all seeds have it.

        Seeds that were logged at different frames are interpolated at those of the one with the fewest.
        """
        curves = [(frames[~np.isnan(values)], values[~np.isnan(values)]) for frames, values in self._curves(metric)]
        start, end = (max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)) if _all(curves) else (1, 0)
        grid = min((x for x, _ in curves), key=len)
        grid = grid[(grid >= start) & (grid <= end)]
        if not len(grid):
            raise UserError(f"the seeds of {self.label} have no frames with a {metric} in common yet")
        return grid.astype(int).tolist(), np.stack([np.interp(grid, x, y) for x, y in curves])

    def final(self, metric: str) -> np.ndarray:
        """The mean over the last tenth of training of each seed."""
        return np.array([final(values[None])[0] for _, values in self._curves(metric)])

    def _curves(self, metric: str) -> list[tuple[np.ndarray, np.ndarray]]:
        """Of each seed frames and values, NaN where there is none yet."""
        return [
            (np.array([line["frames"] for line in lines], float), np.array([line.get(metric) for line in lines], float))
            for lines in self.lines.values()
        ]


def read_runs(folders: Sequence[Path], say: Callable[[str], object] = lambda sentence: None) -> list[RunGroup]:
    """The runs in these folders, in groups. A folder may be that of a run, or hold runs, such as a study's.

    No group has a seed twice: of runs of one agent with the same seed, the one with the most frames is in the group of
    the others, and the rest stand apart.

    Args:
        say: gets a sentence about each folder that is left out, because it has no run that can be read and others
            have, and about each run that stands apart.

    Raises:
        UserError: a folder is missing, or none has a run that can be read.
    """
    return _grouped(read_folders(folders, say), say)


def _grouped(runs: Sequence[RunFiles], say: Callable[[str], object]) -> list[RunGroup]:
    alike: dict[tuple[str, str], list[RunFiles]] = {}
    for run in runs:
        agent = run.settings["agent"] + STOPPED * bool(run.settings.get("stop_gradient"))
        alike.setdefault((str(run.settings["env"]), agent), []).append(run)
    groups: list[RunGroup] = []
    for (env, agent), found in alike.items():
        telling = _telling_settings([run.settings for run in found])
        equal: dict[str, list[RunFiles]] = {}
        for run in found:
            equal.setdefault(json.dumps([run.settings.get(name) for name in telling]), []).append(run)
        for same in equal.values():
            compared = {name: same[0].settings.get(name) for name in telling}
            groups += [_group(RunGroup(env, agent, compared), together) for together in _without_twins(same, say)]
    _name(groups)
    return groups


def _group(group: RunGroup, runs: Sequence[RunFiles]) -> RunGroup:
    for run in runs:
        group.lines |= run.lines
        group.folders |= dict.fromkeys(run.lines, run.path)
    return group


def _without_twins(runs: Sequence[RunFiles], say: Callable[[str], object]) -> list[list[RunFiles]]:
    """The runs in groups that have no seed twice, the longest runs first; within a group in the order given."""
    groups: list[list[RunFiles]] = []
    for run in sorted(runs, key=lambda run: -run.frames):
        twins = [next((each for each in group if each.lines.keys() & run.lines.keys()), None) for group in groups]
        if None in twins:
            groups[twins.index(None)].append(run)
            continue
        groups.append([run])
        if twins and twins[0] is not None:
            seed = min(twins[0].lines.keys() & run.lines.keys())
            also = f"{run.path} has the same agent and seed {seed} as {twins[0].path}"
            say(f"{also}, and stands apart: two runs of one seed are not two samples.")
    return [[run for run in runs if any(run is each for each in group)] for group in groups]


def _telling_settings(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The settings that can tell runs apart: not those that older runs lack, where all others agree."""
    names = [name for name in dict.fromkeys(itertools.chain(*runs)) if name not in _NO_SETTINGS]
    values = {name: [json.dumps(run[name], sort_keys=True) for run in runs if name in run] for name in names}
    return [name for name, found in values.items() if len(found) == len(runs) or len(set(found)) > 1]


def with_metric(groups: Sequence[RunGroup], metric: str) -> tuple[list[RunGroup], list[str]]:
    """The groups that have a metric, and a sentence about those that have not, if any.

    Raises:
        ValueError: none has the metric; the message has the nearest name.
    """
    found = [group for group in groups if group.has(metric)]
    known = dict.fromkeys(name for group in groups for name in group.metrics)
    if metric not in known:
        raise ValueError(unknown("metric", metric, known))
    if not found:
        hint = "; no episode has ended yet" * (metric in ("return", "length"))
        raise ValueError(f"none of these runs has a value of {metric}{hint}")
    several = len({group.env for group in groups}) > 1
    without = [f"{group.label} in {group.env}" if several else group.label for group in groups if not group.has(metric)]
    return found, [f"Without {metric}, so left out: {', '.join(without)}."] * bool(without)


def _all(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    return all(len(frames) for frames, _ in curves)


def _name(groups: Sequence[RunGroup]) -> None:
    """Labels: settings distinguish groups of one environment and agent, or else their folders do."""
    alike: dict[tuple[str, str], list[RunGroup]] = {}
    for group in groups:
        alike.setdefault((group.env, group.agent), []).append(group)
    for same in alike.values():
        words = _settings_that_differ([group.settings for group in same])
        if len(set(words)) < len(words):
            folders = _folder_names(same)
            words = [f"{word}, {folder}".removeprefix(", ") for word, folder in zip(words, folders, strict=True)]
        for group, word in zip(same, words, strict=True):
            group.label = f"{group.agent} ({word})" if word else group.agent


def _settings_that_differ(settings: Sequence[Mapping[str, Any]]) -> list[str]:
    """For each of these, the settings that are not the same in all, as far as they are short."""
    texts = {name: [_text(each.get(name)) for each in settings] for name in dict.fromkeys(itertools.chain(*settings))}
    shown = {name: each for name, each in texts.items() if len(set(each)) > 1 and max(map(len, each)) <= MAX_LABEL}
    return [", ".join(f"{name} {each[i]}" for name, each in shown.items()) for i in range(len(settings))]


def _folder_names(groups: Sequence[RunGroup]) -> list[str]:
    """What the names of each group's folders begin with; or whole paths, where that does not tell groups apart."""
    folders = [list(dict.fromkeys(group.folders.values())) for group in groups]
    shared = [os.path.commonprefix([path.name for path in each]) for each in folders]  # noqa: RUF071 - letter by letter
    names = [name.rstrip("-_. ") for name in shared]
    return names if all(names) and len(set(names)) == len(names) else list(map(_paths, folders))


def _paths(folders: Sequence[Path]) -> str:
    """The first two, and how many more there are: a legend has little room."""
    return ", ".join([*map(str, folders[:2]), *[f"{len(folders) - 2} more"] * (len(folders) > 2)])


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value)) or "default"
    return f"{value:g}" if _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
