"""`rgvf study`: run one of the paper's studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

import tyro

from rgvf.commands import CommandError, parse

Config = TypeVar("Config")
USAGE = """\
usage: rgvf study NAME [options]   run a study, draw its figures, check the paper's claims
       rgvf study NAME --help      its options
       rgvf study list             the names

The studies:"""


@dataclass(frozen=True)
class _Options(Generic[Config]):
    settings: Config
    out: Path
    """Folder for the results. Where it holds some of this study already, the study goes on from them."""
    variants: tyro.conf.UseAppendAction[tuple[str, ...]] = ()
    """Run this variant only, or those that match a pattern ('*.a2c'); give it again for more."""


def study(arguments: list[str]) -> None:
    if not arguments:
        raise CommandError("which study? 'rgvf study list' names them.")
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
    from rgvf.studies.registry import STUDIES

    width = max(map(len, STUDIES))
    for name, (_, summary) in STUDIES.items():
        print(f"{name:{width}}  {summary}")


def _run(name: str, arguments: list[str]) -> None:
    from rgvf.studies.folder import FolderError
    from rgvf.studies.registry import STUDIES, find_study
    from rgvf.studies.study import run_study, some_of
    from rgvf.terminal import StudyProgress, print_conclusion
    from rgvf.training.folder import RunError

    try:
        chosen = find_study(name)
        options = parse(
            _Options[chosen.config_type],
            _one_by_one(arguments),
            f"rgvf study {name}",
            default=_Options(chosen.config_type(), Path("runs") / name),
            description=f"{STUDIES[name][1]}.\n\nVariants: {some_of(chosen.variants)}.",
        )
        print(f"{name}: {STUDIES[name][1]}", flush=True)
        with StudyProgress() as progress:
            conclusion = run_study(chosen, options.settings, options.out, options.variants, progress)
    except (ValueError, FolderError) as error:
        raise CommandError(str(error)) from None
    except RunError as error:
        raise CommandError(str(error), status=1) from None
    except OSError as error:
        raise CommandError(f"{error.strerror or error}: {error.filename or 'while writing'}") from None
    print_conclusion(conclusion, options.out)


def _one_by_one(arguments: list[str]) -> list[str]:
    """`--variants a b` as `--variants a --variants b`, so that both ways work."""
    spread: list[str] = []
    inside = False
    for argument in arguments:
        if argument.startswith("--"):
            inside = argument == "--variants"
            spread += [] if inside else [argument]
        else:
            spread += ["--variants", argument] if inside else [argument]
    return spread
