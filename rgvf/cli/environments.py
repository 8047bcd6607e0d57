"""`rgvf environments`: the names for `rgvf train --env`."""

from __future__ import annotations

import sys

from rgvf.cli.errors import CommandError
from rgvf.cli.imports import import_modules


def environments(arguments: list[str]) -> None:
    """Run the command."""
    from rgvf.environments.registry import SUITES

    _, rest = import_modules(arguments)
    if rest:
        raise CommandError("'rgvf environments' takes no options but --import MODULE.")
    for suite, each in SUITES.items():
        for name in sorted(each.names()):
            print(f"{suite}/{name}")
    note = "Of gym/, those with discrete actions can be trained. Those of other packages are named gym/PACKAGE:ID."
    print(note, file=sys.stderr)
