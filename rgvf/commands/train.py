"""`rgvf train`: train an agent, or go on with one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rgvf.commands import CommandError, parse

DESCRIPTION = "Train an agent that answers random questions about its future; go on with: rgvf train --resume DIR"

Config = TypeVar("Config")


@dataclass(frozen=True)
class _Options(Generic[Config]):
    run: Config
    out: Path | None = None
    """Folder of the run; runs/ENV-AGENT-SEED by default."""


def train(arguments: list[str]) -> None:
    from rgvf.accelerate import use_fast_convolutions

    use_fast_convolutions()
    resumed, rest = _take_resume(arguments)
    if resumed is None:
        _start(rest)
    else:
        _resume(resumed, rest)


def _take_resume(arguments: list[str]) -> tuple[Path | None, list[str]]:
    """Split `--resume DIR` off; the other options then default to the run's own."""
    for i, argument in enumerate(arguments):
        if argument == "--resume":
            if i + 1 == len(arguments):
                raise CommandError("--resume needs the folder of a run.")
            return Path(arguments[i + 1]), arguments[:i] + arguments[i + 2 :]
        if argument.startswith("--resume="):
            return Path(argument.removeprefix("--resume=")), arguments[:i] + arguments[i + 1 :]
    return None, arguments


def _start(arguments: list[str]) -> None:
    from rgvf.training.config import RunConfig
    from rgvf.training.run import train

    options = parse(_Options[RunConfig], arguments, "rgvf train", description=DESCRIPTION)
    out = options.out or _default_folder(options.run)
    _with_progress(out, lambda listener, stop: train(options.run, out, listener, stop))


def _resume(out: Path, arguments: list[str]) -> None:
    from rgvf.training.config import RunConfig
    from rgvf.training.folder import RunError, RunFolder
    from rgvf.training.run import resume

    try:
        _, saved = RunFolder.open(out)
    except RunError as error:
        raise CommandError(str(error)) from None
    asked = parse(RunConfig, arguments, "rgvf train --resume", default=saved)
    _with_progress(out, lambda listener, stop: resume(out, asked, listener, stop))


def _default_folder(config: Any) -> Path:
    mode = "-stop-gradient" if config.agent.stop_gradient else ""
    return Path("runs") / re.sub(r"[^\w.+-]+", "-", f"{config.env}-{config.agent.name}{mode}-{config.seed}")


def _with_progress(out: Path, run: Any) -> None:
    from rgvf.interrupt import GracefulStop
    from rgvf.terminal import RunProgress
    from rgvf.training.folder import RunError

    with GracefulStop() as stop, RunProgress() as progress:
        try:
            finished = run(progress, lambda: stop.requested is not None)
        except RunError as error:
            raise CommandError(str(error), status=1) from None
        except ValueError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            where = f": {error.filename}" if error.filename else ""
            raise CommandError(f"{error.strerror or error}{where}", status=1) from None
    if finished:
        print(f"Done: {out}. Next: rgvf evaluate {out}, rgvf record {out}")
        return
    raise CommandError(f"stopped; a checkpoint is saved. Go on with: rgvf train --resume {out}", status=130)
