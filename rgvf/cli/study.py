"""`rgvf study`: run one of the paper's studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import tyro

from rgvf.cli.errors import CommandError, command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse

Config = TypeVar("Config")
USAGE = """\
usage: rgvf study NAME [options]   run a study, draw its figures, check its claims
       rgvf study NAME --help      list its options
       rgvf study list             list the names
       --import MODULE, before all else, imports a module of yours that adds studies

The studies:"""


@dataclass(frozen=True)
class _Options(Generic[Config]):
    settings: Config
    out: Path
    """Folder of the results. Results of this study that it holds already are kept and used."""
    variants: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Variants to run, by name or pattern ('*.a2c'); all by default."""


def study(arguments: list[str]) -> None:
    """Run the command."""
    _, arguments = import_modules(arguments)
    if not arguments:
        raise CommandError("which study? 'rgvf study list' lists them.")
    name, *options = arguments
    if name in ("-h", "--help"):
        print(USAGE)
        _list()
    elif name == "list":
        if options:
            raise CommandError("'rgvf study list' takes no options.")
        _list()
    else:
        _run(name, options)


def _list() -> None:
    from rgvf.studies import STUDIES

    width = max(map(len, STUDIES))
    for name, (_, summary) in STUDIES.items():
        print(f"{name:{width}}  {summary}")


def _run(name: str, arguments: list[str]) -> None:
    from rgvf.cli.terminal import StudyProgress, print_conclusion
    from rgvf.studies import STUDIES, find_study, run_study, some_of

    with command_errors():
        chosen = find_study(name)
        options = parse(
            _Options[chosen.config_type],
            _repeat_option(arguments),
            f"rgvf study {name}",
            default=_Options(chosen.config_type(), Path("runs") / name),
            description=f"{STUDIES[name][1]}.\n\nVariants: {some_of(chosen.variants)}.",
            config=(tyro.conf.OmitArgPrefixes,),
        )
        print(f"{name}: {STUDIES[name][1]}", flush=True)
        with StudyProgress() as progress:
            conclusion = run_study(chosen, options.settings, options.out, options.variants, progress)
    print_conclusion(conclusion, options.out)


def _repeat_option(arguments: list[str]) -> list[str]:
    """`--variants a b` as `--variants a --variants b`, so that both forms work."""
    spread: list[str] = []
    inside = False
    for argument in arguments:
        if argument.startswith("--"):
            inside = argument == "--variants"
            spread += [] if inside else [argument]
        else:
            spread += ["--variants", argument] if inside else [argument]
    return spread
