"""The command line: parse, call, print. What is slow to import is imported where it is needed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from rgvf.studies import Conclusion

USAGE = """\
rgvf: learn what to see from random questions about the future.

usage:
  rgvf study list            the paper's studies
  rgvf study NAME [options]  run one, draw its figures, check the paper's claims
  rgvf study NAME --help     its options
  rgvf --version
"""

Config = TypeVar("Config")


class _UsageError(Exception):
    """Something on the command line is wrong; the message is one sentence."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    try:
        return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
    except _UsageError as error:
        print(f"rgvf: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nrgvf: interrupted; what was finished is kept, and the same command goes on from it.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case [] | ["-h" | "--help", *_] | ["study", "-h" | "--help", *_]:
            print(USAGE, end="")
        case ["--version"]:
            from importlib.metadata import version

            print(f"rgvf {version('rgvf')}")
        case ["study"]:
            raise _UsageError("which study? 'rgvf study list' names them.")
        case ["study", "list"]:
            _list_studies()
        case ["study", name, *options]:
            _run_study(name, options)
        case [command, *_]:
            raise _UsageError(f"there is no command {command!r}; 'rgvf --help' lists them.")
        case _:
            raise AssertionError(arguments)
    return 0


def _list_studies() -> None:
    from rgvf.studies.registry import STUDIES

    width = max(map(len, STUDIES))
    for name, (_, summary) in STUDIES.items():
        print(f"{name:{width}}  {summary}")


@dataclass(frozen=True)
class _StudyOptions(Generic[Config]):
    settings: Config
    out: Path
    """Folder for the results. Where it holds some of this study already, the study goes on from them."""
    variants: tuple[str, ...] = ()
    """Run these variants only."""


def _run_study(name: str, arguments: list[str]) -> None:
    import tyro

    from rgvf.studies.folder import FolderError
    from rgvf.studies.registry import STUDIES, find_study
    from rgvf.studies.study import run_study
    from rgvf.terminal import StudyProgress, print_conclusion

    try:
        study = find_study(name)
        options: Any = tyro.cli(
            _StudyOptions[study.config_type],
            args=arguments,
            default=_StudyOptions(study.config_type(), Path("runs") / name),
            prog=f"rgvf study {name}",
            description=f"{STUDIES[name][1]}.\n\nVariants: {', '.join(study.variants)}.",
            config=(tyro.conf.OmitArgPrefixes,),
        )
        with StudyProgress() as progress:
            conclusion: Conclusion = run_study(study, options.settings, options.out, options.variants, progress)
    except (ValueError, FolderError) as error:
        raise _UsageError(str(error)) from None
    except OSError as error:
        raise _UsageError(f"{error.strerror or error}: {error.filename or 'while writing'}") from None
    print_conclusion(conclusion, options.out)


if __name__ == "__main__":
    sys.exit(main())
