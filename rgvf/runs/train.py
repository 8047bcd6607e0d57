"""Training: start a run, resume one, or train several in one program."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rgvf.environments import RULES, Environment, find_environment
from rgvf.messages import SILENT
from rgvf.runs.advance import ShouldStop, advance
from rgvf.runs.config import MAY_CHANGE, WHAT_MAY_CHANGE, RunConfig, differences
from rgvf.runs.folder import Networks, RunError, RunFolder
from rgvf.runs.header import description, memory_note, start_message, title
from rgvf.runs.progress import RunListener, RunProgress
from rgvf.runs.run import Run, prepare, start_run
from rgvf.runs.trained_agent import TrainedAgent, load
from rgvf.signals import GracefulStop


def train(
    config: RunConfig,
    out: str | Path | None = None,
    *,
    progress: bool | RunListener = True,
    should_stop: ShouldStop | None = None,
    environment: Environment | None = None,
) -> TrainedAgent:
    """Train agents in a new folder; returns the agent of the first seed.

    Args:
        config: the run.
        out: the folder; runs/ENV-AGENT-SEED by default.
        progress: show progress on the terminal, or report it to a listener.
        should_stop: called between updates; where it returns true, the run ends early with a checkpoint. By default
            Ctrl-C and SIGTERM do so, and then raise KeyboardInterrupt.
        environment: one in JAX that `config.env` names own/NAME.

    Raises:
        RunError: the folder cannot be used, or something broke; `resume` continues from the last checkpoint.
        ValueError: the configuration does not suit the environment. Nothing is written then.
    """
    if not isinstance(config, RunConfig):
        raise ValueError(f"train needs a configuration: rgvf.train(rgvf.preset({config!r}, …)), not {config!r}")
    out = default_folder(config) if out is None else Path(out)
    with _opened({out: config}, [], progress, should_stop, environment) as opened:
        advance(*opened)
    return load(out, environment=environment)


def resume(
    out: str | Path,
    config: RunConfig | None = None,
    *,
    frames: int | None = None,
    progress: bool | RunListener = True,
    should_stop: ShouldStop | None = None,
    environment: Environment | None = None,
) -> TrainedAgent:
    """Continue a run exactly where its last checkpoint was written; returns the agent of the first seed.

    Games of DeepMind Lab start new episodes; all else about such a run continues exactly, too.

    Args:
        out: the run's folder.
        config: the run's own by default; another one may only have more frames, and other settings in `MAY_CHANGE`.
        frames: train for so many in all, more than the run was made for.
        progress: as for `train`.
        should_stop: as for `train`.
        environment: as for `train`.

    Raises:
        RunError: there is no such run, or something broke.
        ValueError: `config` belongs to another run.
    """
    out = Path(out)
    config = RunFolder.open(out)[1] if config is None else config
    config = config if frames is None else dataclasses.replace(config, frames=frames)
    with _opened({out: config}, [out], progress, should_stop, environment) as opened:
        advance(*opened)
    return load(out, environment=environment)


def train_together(
    runs: Mapping[str, RunConfig] | Mapping[Path, RunConfig],
    *,
    progress: bool | RunListener = True,
    should_stop: ShouldStop | None = None,
    environment: Environment | None = None,
) -> bool:
    """Start several runs, or resume those begun, in one compiled program; returns whether all are finished.

    Each is an ordinary run with its own folder, and ends as it would alone, up to rounding. Runs that differ only in
    what agents carry as arrays (learning rate, c, question networks) are one batch. A single run may be in any
    environment.

    Args:
        runs: the configuration of each run, by its folder.
        progress: as for `train`; a listener gets the progress of all runs together.
        should_stop: as for `train`.
        environment: as for `train`.

    Raises:
        ValueError: the runs do not share an environment in JAX, actors, steps and rewards; or a folder holds
            another run.
    """
    shared = {(each.env, each.actors, each.steps, each.rewards) for each in runs.values()}
    if len(shared) > 1:
        raise ValueError("runs share a program only with the same env, actors, steps, reward_scale and clip_rewards")
    if len(runs) > 1 and find_environment(env := shared.pop()[0], environment) is None:
        raise ValueError(f"{env} does not run inside the compiled program: train its runs one by one")
    by_path = {Path(path): config for path, config in runs.items()}
    begun = [path for path in by_path if (path / "config.json").exists()]
    with _opened(by_path, begun, progress, should_stop, environment) as opened:
        return advance(*opened)


def default_folder(config: RunConfig) -> Path:
    """runs/ENV-AGENT-SEED."""
    name = f"{config.env}-{config.agent.label}-{config.seed}"
    return Path("runs") / "".join(c if c.isalnum() or c in "_.+-" else "-" for c in name)


@contextmanager
def _opened(
    runs: Mapping[Path, RunConfig],
    begun: Collection[Path],
    progress: bool | RunListener,
    should_stop: ShouldStop | None,
    environment: Environment | None,
) -> Iterator[tuple[list[Run], RunListener, ShouldStop]]:
    """Runs ready to train, those begun from their last checkpoints. All are checked before a folder is made."""
    with ExitStack() as opened:
        listener = opened.enter_context(_listener(progress))
        folders: list[tuple[RunFolder, RunConfig]] = []
        stop = opened.enter_context(_stop_signal(should_stop, listener, lambda: _what_is_kept(folders)))
        checked: list[tuple[Path, RunConfig, Networks, RunFolder | None]] = []  # no folder: it is a new run
        for path, config in runs.items():
            if path in begun:
                folder, config = _open(path, config)
                opened.enter_context(folder)
                checked.append((path, config, folder.load_networks(config), folder))
            else:
                checked.append((path, config.with_intervals(), prepare(config, environment), None))
        started: list[Run] = []
        for path, config, networks, found in checked:
            folder = found or opened.enter_context(RunFolder.create(path, config, networks))
            folders.append((folder, config))
            listener.say(f"{title(config)}, folder {path}")
            listener.say(description(config, networks))
            if note := memory_note(config, environment):
                listener.say(note)
            listener.waiting(start_message(config))
            run = opened.enter_context(start_run(config, folder, networks, listener, environment))
            if found is not None:
                run.restore()
                listener.say(_how_far(run))
            started.append(run)
        yield started, listener, stop
    if should_stop is None and not all(run.finished for run in started):
        raise KeyboardInterrupt


def _open(out: Path, config: RunConfig) -> tuple[RunFolder, RunConfig]:
    """A run's folder, locked, and the configuration to continue with; ValueError where that is another run's."""
    folder, saved = RunFolder.open(out)
    config = config.with_intervals(saved)
    changed = differences(saved, config)
    wrong = [name for name in changed if name not in MAY_CHANGE or (name == "frames" and config.frames < saved.frames)]
    if wrong:
        listed = ", ".join(_difference(name, *changed[name]) for name in wrong)
        raise ValueError(f"the run in {out} has {listed}; {WHAT_MAY_CHANGE}")
    if folder.rules != RULES.get(config.env, 1):
        raise RunError(f"{out} was trained before the rules of {config.env} changed; train it anew in another folder")
    folder.lock()
    return folder, config


def _how_far(run: Run) -> str:
    already = "finished already; --frames N trains for longer" if run.finished else "resuming"
    return f"{run.frames:,} of {run.config.frames:,} frames are done: {already}"


def _what_is_kept(folders: Sequence[tuple[RunFolder, RunConfig]]) -> str:
    """Where the process ends at once: the newest checkpoint of each run, and how to resume it."""
    sentences = []
    for folder, config in folders:
        frames = [int(path.stem) for path in folder.checkpoints()]
        kept = f"the last checkpoint, after {frames[0]:,} frames, is kept" if frames else "there is no checkpoint yet"
        sentences.append(f"{kept}. To resume: {config.command('train --resume', folder.path)}")
    return "; ".join(sentences) or "nothing was trained yet."


def _difference(name: str, saved: Any, requested: Any) -> str:
    if name == "frames":
        return f"{saved:,} frames, not {requested:,}"
    is_file = any(isinstance(each, str) and "\n" in each for each in (saved, requested))
    return f"another {name}" if is_file else f"{name} = {saved}, not {requested}"


@contextmanager
def _listener(progress: bool | RunListener) -> Iterator[RunListener]:
    if progress is True:
        with RunProgress() as shown:
            yield shown
    else:
        yield SILENT if progress is False else progress


@contextmanager
def _stop_signal(
    should_stop: ShouldStop | None, listener: RunListener, kept: Callable[[], str]
) -> Iterator[ShouldStop]:
    """By default Ctrl-C and SIGTERM stop a run after the next update."""
    if should_stop is not None:
        yield should_stop
        return
    with GracefulStop(listener.say, kept) as stop:
        yield lambda: stop.requested is not None
