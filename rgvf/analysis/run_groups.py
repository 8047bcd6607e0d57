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

from rgvf.analysis.statistics import final
from rgvf.analysis.styles import STOPPED
from rgvf.errors import UserError
from rgvf.messages import os_error, unknown
from rgvf.settings import flat_settings

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


class NoRunsError(UserError):
    """A folder holds no runs, or none with metrics."""


def read_runs(folders: Sequence[Path], say: Callable[[str], object] = lambda sentence: None) -> list[RunGroup]:
    """The runs in these folders, in groups. A folder may be that of a run, or hold runs, such as a study's.

    Args:
        say: gets a sentence about each folder that is left out, because it holds no runs and others do.

    Raises:
        UserError: a folder is missing, none has a run with metrics, or a run is given twice.
    """
    runs: list[Path] = []
    without: list[NoRunsError] = []
    for folder in folders:
        try:
            runs += _runs_in(folder)
        except NoRunsError as error:
            without.append(error)
    if without and not runs:
        raise without[0]
    for error in without:
        say(f"Left out: {error}.")
    return _grouped(runs)


def _grouped(paths: Sequence[Path]) -> list[RunGroup]:
    alike: dict[tuple[str, str], list[tuple[Path, dict[str, Any]]]] = {}
    for path in paths:
        config = _read_config(path)
        settings = flat_settings(config)
        key = str(settings["env"]), settings["agent"] + STOPPED * bool(settings.get("stop_gradient"))
        compared = {name: value for name, value in settings.items() if name not in _NO_SETTINGS}
        compared["rules"] = dict(config.get("made_with") or {}).get("rules", 1)
        alike.setdefault(key, []).append((path, compared))
    groups: dict[str, RunGroup] = {}
    for (env, agent), runs in alike.items():
        telling = _telling_settings([settings for _, settings in runs])
        for path, settings in runs:
            compared = {name: settings.get(name) for name in telling}
            key = json.dumps([env, agent, compared], sort_keys=True)
            _add(groups.setdefault(key, RunGroup(env, agent, compared)), path)
    _name(list(groups.values()))
    return list(groups.values())


def _telling_settings(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """The settings that can tell runs apart: not those that older runs lack, where all others agree."""
    names = dict.fromkeys(itertools.chain(*runs))
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
    without = [group.label for group in groups if group not in found]
    return found, [f"Without {metric}, so left out: {', '.join(without)}."] * bool(without)


def _all(curves: Sequence[tuple[np.ndarray, np.ndarray]]) -> bool:
    return all(len(frames) for frames, _ in curves)


def _runs_in(folder: Path) -> list[Path]:
    if not folder.exists():
        raise UserError(f"there is no folder {folder}")
    if not folder.is_dir():
        raise UserError(f"{folder} is a file, not the folder of a run")
    if "env" in _config(folder):
        if not _has_metrics(folder):
            raise NoRunsError(f"{folder} has no metrics yet")
        return [folder]
    inside = folder / "agents" if (folder / "agents").is_dir() else folder
    runs = [path for path in sorted(inside.iterdir()) if path.is_dir() and "env" in _config(path)]
    if not runs:
        raise NoRunsError(f"{folder} holds no runs: neither it nor a folder in it has the config.json of one")
    begun = [path for path in runs if _has_metrics(path)]
    if not begun:
        raise NoRunsError(f"the runs in {folder} have no metrics yet")
    return begun


def _config(folder: Path) -> Mapping[str, Any]:
    """What config.json says; nothing where there is none that can be read."""
    try:
        data = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, Mapping) else {}


def _read_config(folder: Path) -> Mapping[str, Any]:
    config = _config(folder)
    agent = config.get("agent")
    if not isinstance(agent, Mapping) or not isinstance(agent.get("tasks"), list):
        raise UserError(f"{folder} holds no run that can be read: it was made by another version of rgvf")
    return config


def _has_metrics(folder: Path) -> bool:
    path = folder / "metrics.jsonl"
    return path.exists() and path.stat().st_size > 0


def _add(group: RunGroup, path: Path) -> None:
    lines: dict[int, list[dict[str, Any]]] = {}
    for line in _read_metrics(path):
        lines.setdefault(int(line["seed"]), []).append(line)
    for seed, mine in lines.items():
        if seed in group.lines:
            both = f"{group.folders[seed]} and {path}"
            raise UserError(f"{both} are runs of one agent with the same seed {seed}; give only one of them")
        group.lines[seed], group.folders[seed] = mine, path


def _read_metrics(path: Path) -> list[dict[str, Any]]:
    try:
        text = (path / "metrics.jsonl").read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"cannot read the metrics of {path}: {os_error(error)}") from None
    except UnicodeDecodeError:
        raise UserError(f"{path / 'metrics.jsonl'} is damaged: it is no text") from None
    whole = text[: text.rfind("\n") + 1].splitlines()  # the last line may be only half written
    try:
        lines = [json.loads(line) for line in whole]
        lines = [line for line in lines if isinstance(line["seed"], int) and isinstance(line["frames"], int)]
    except (ValueError, TypeError, LookupError):
        raise UserError(f"{path / 'metrics.jsonl'} is damaged: a line is no metrics") from None
    if not lines:
        raise UserError(f"{path} has no metrics yet")
    return lines


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
    return names if all(names) and len(set(names)) == len(names) else [", ".join(map(str, each)) for each in folders]


def _text(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(map(_text, value)) or "default"
    return f"{value:g}" if _is_number(value) else str(value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
