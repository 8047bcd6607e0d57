"""The command line. What is slow to import is imported by the command that needs it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rgvf.commands import CommandError

USAGE = """\
rgvf: learn what to see from random questions about the future.

usage:
  rgvf train --env atari/Breakout --agent rgvf   train an agent
  rgvf train --resume DIR                        go on with a run
  rgvf evaluate DIR                              whole games with a trained agent
  rgvf record DIR                                a film of it playing, with what it predicts
  rgvf study list                                the paper's studies
  rgvf study NAME                                run one, draw its figures, check the paper's claims
  rgvf --version

Each command tells its options with --help.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    try:
        return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
    except CommandError as error:
        print(f"rgvf: {error}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        print("\nrgvf: interrupted; what was finished is kept, and the same command goes on from it.", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has gone; there is nobody to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case [] | ["-h" | "--help", *_]:
            print(USAGE, end="")
        case ["--version"]:
            from importlib.metadata import version

            print(f"rgvf {version('rgvf')}")
        case ["study", *options]:
            from rgvf.commands.study import study

            study(options)
        case ["train", *options]:
            from rgvf.commands.train import train

            train(options)
        case ["evaluate", *options]:
            from rgvf.commands.evaluate import evaluate

            evaluate(options)
        case ["record", *options]:
            from rgvf.commands.record import record

            record(options)
        case [command, *_]:
            raise CommandError(f"there is no command {command!r}; 'rgvf --help' lists them.")
        case _:
            raise AssertionError(arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
