"""`rgvf study`: run one of the paper's studies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from rgvf.commands import CommandError

Config = TypeVar("Config")


@dataclass(frozen=True)
class _Options(Generic[Config]):
    settings: Config
    out: Path
    """Folder for the results. Where it holds some of this study already, the study goes on from them."""
    variants: tuple[str, ...] = ()
    """Run these variants only."""


def study(arguments: list[str]) -> None:
    if not arguments:
        raise CommandError("which study? 'rgvf study list' names them.")
    name, *options = arguments
    if name == "list":
        _list()
    else:
        _run(name, options)


def _list() -> None:
    from rgvf.studies.registry import STUDIES

    width = max(map(len, STUDIES))
    for name, (_, summary) in STUDIES.items():
        print(f"{name:{width}}  {summary}")


def _run(name: str, arguments: list[str]) -> None:
    import tyro

    from rgvf.studies.folder import FolderError
    from rgvf.studies.registry import STUDIES, find_study
    from rgvf.studies.study import run_study
    from rgvf.terminal import StudyProgress, print_conclusion

    try:
        chosen = find_study(name)
        options: Any = tyro.cli(
            _Options[chosen.config_type],
            args=arguments,
            default=_Options(chosen.config_type(), Path("runs") / name),
            prog=f"rgvf study {name}",
            description=f"{STUDIES[name][1]}.\n\nVariants: {', '.join(chosen.variants)}.",
            config=(tyro.conf.OmitArgPrefixes,),
        )
        with StudyProgress() as progress:
            conclusion = run_study(chosen, options.settings, options.out, options.variants, progress)
    except (ValueError, FolderError) as error:
        raise CommandError(str(error)) from None
    except OSError as error:
        raise CommandError(f"{error.strerror or error}: {error.filename or 'while writing'}") from None
    print_conclusion(conclusion, options.out)
