"""`rgvf train`: train an agent, or resume a run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rgvf.cli.errors import CommandError, command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse

if TYPE_CHECKING:
    from rgvf.runs import RunConfig

DESCRIPTION = """Train an agent that answers random questions about its future.

To resume a run: rgvf train --resume DIR. With --env, the defaults below are those of the environment's preset.
--import MODULE, before all else, imports a module of yours that registers environments or tasks."""


def train(arguments: list[str]) -> None:
    """Run the command."""
    imports, rest = import_modules(arguments)
    folder, rest = _split_resume(rest)
    if folder is None:
        _train(rest, imports)
    else:
        _resume(folder, rest)


def _split_resume(arguments: list[str]) -> tuple[Path | None, list[str]]:
    """Split `--resume DIR` off; the other options then default to the run's own."""
    for i, argument in enumerate(arguments):
        if argument == "--resume":
            if i + 1 == len(arguments):
                raise CommandError("--resume needs the folder of a run.")
            return Path(arguments[i + 1]), arguments[:i] + arguments[i + 2 :]
        if argument.startswith("--resume="):
            return Path(argument.removeprefix("--resume=")), arguments[:i] + arguments[i + 1 :]
    return None, arguments


def _train(arguments: list[str], imports: tuple[str, ...]) -> None:
    from rgvf.cli.options import config_of, named_as_options, option_type
    from rgvf.runs import default_folder, train

    options = parse(option_type(), arguments, "rgvf train", description=DESCRIPTION, **_preset(arguments))
    with command_errors():
        with named_as_options():
            config = config_of(options, imports)
        out = options.out or default_folder(config)
        _run(out, config, lambda: train(config, out))


def _preset(arguments: list[str]) -> dict[str, Any]:
    """The preset's settings as the defaults of the options; of --help they need an environment."""
    from rgvf.cli.options import named_as_options, names_in, option_type, preset_options

    without_help = [each for each in arguments if each not in ("-h", "--help")]
    if "env" not in names_in(arguments):
        if without_help != arguments:
            return {}
        raise CommandError(
            "which environment? For example: rgvf train --env gym/CartPole-v1 ('rgvf environments' lists the suites)"
        )
    chosen = parse(option_type(), without_help, "rgvf train")
    with command_errors(), named_as_options():
        return {"default": preset_options(arguments, chosen)}


def _resume(out: Path, arguments: list[str]) -> None:
    from rgvf.cli.options import changed_config, named_as_options, option_type, options_of
    from rgvf.runs import RunFolder, resume

    with command_errors():
        _, saved = RunFolder.open(out)
        options = parse(option_type(), arguments, "rgvf train --resume", default=options_of(saved))
        with named_as_options():
            config = changed_config(saved, options)
        _run(out, config, lambda: resume(out, config))


def _run(out: Path, config: RunConfig, run: Callable[[], object]) -> None:
    try:
        run()
    except KeyboardInterrupt:
        again = config.command("train --resume", out)
        raise CommandError(f"stopped; a checkpoint is saved. To resume: {again}", status=130) from None
    following = ", ".join(config.command(each, out) for each in ("evaluate", "record"))
    print(f"Done: {out}. Next: {following}")
