"""The command line. Each command imports what it needs, so that help is fast."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from rgvf.cli.errors import CommandError
from rgvf.messages import unknown
from rgvf.version import __version__

COMMANDS = ("train", "evaluate", "record", "plot", "compare", "study", "environments")
USAGE = """\
rgvf: learn state representations from random questions about the future.

usage:
  rgvf train --env atari/Breakout --agent rgvf   train an agent
  rgvf train --resume DIR                        resume a run
  rgvf evaluate DIR                              play whole games with a trained agent
  rgvf record DIR                                make a film of a game, with what the agent predicts
  rgvf plot DIR…                                 draw learning curves of runs, with bands over seeds
  rgvf compare DIR…                              print a table of runs, with intervals over seeds
  rgvf study list                                list the paper's studies
  rgvf study NAME                                run a study, draw its figures, check its claims
  rgvf environments                              list the suites of environments that --env takes
  rgvf environments NAME                         list those of a suite, or describe one
  rgvf --version                                 print the version

rgvf COMMAND --help lists the options of a command.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return _dispatch(words)
    except CommandError as error:
        print(f"rgvf: {' '.join(str(error).split())}", file=sys.stderr)
        return error.status
    except KeyboardInterrupt:
        kept = " Finished work is kept; the same command continues from it." if words[:1] == ["study"] else ""
        print(f"\nrgvf: interrupted.{kept}", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader (head, less) has closed the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _dispatch(arguments: list[str]) -> int:
    match arguments:
        case [] | ["-h" | "--help", *_]:
            print(USAGE, end="")
        case ["--version"]:
            print(f"rgvf {__version__}")
        case ["study", *options]:
            from rgvf.cli.study import study

            study(options)
        case ["train", *options]:
            from rgvf.cli.train import train

            train(options)
        case ["evaluate", *options]:
            from rgvf.cli.evaluate import evaluate

            evaluate(options)
        case ["record", *options]:
            from rgvf.cli.record import record

            record(options)
        case ["plot", *options]:
            from rgvf.cli.plot import plot

            plot(options)
        case ["environments", *options]:
            from rgvf.cli.environments import environments

            environments(options)
        case ["compare", *options]:
            from rgvf.cli.compare import compare

            compare(options)
        case [command, *_]:
            raise CommandError(f"{unknown('command', command, COMMANDS)} 'rgvf --help' explains them.")
        case _:
            raise AssertionError(arguments)
    return 0
