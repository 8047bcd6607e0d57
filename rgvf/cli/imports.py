"""`--import MODULE`: modules of the user that register environments and tasks."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from rgvf.cli.errors import CommandError
from rgvf.messages import one_line

OPTION = "--import"


def import_modules(arguments: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Import the modules of all `--import MODULE` options; returns their names, and the other arguments.

    Modules are looked for in the current folder, too, also those of gym/MODULE:ID. It happens before options are
    parsed, so that tasks of the user have options like all others.
    """
    modules, rest = [], []
    words = iter(arguments)
    for word in words:
        if word == OPTION:
            modules.append(next(words, ""))
        elif word.startswith(f"{OPTION}="):
            modules.append(word.removeprefix(f"{OPTION}="))
        else:
            rest.append(word)
    if (modules or any("gym/" in word and ":" in word for word in rest)) and "" not in sys.path:
        sys.path.append("")
    for module in modules:
        if not module or module.startswith("-"):
            raise CommandError(f"{OPTION} needs the name of a Python module.")
        if module.endswith(".py"):
            name = ".".join(part for part in Path(module).with_suffix("").parts if part not in ("/", ".."))
            raise CommandError(f"{OPTION} takes the name of a module, not a file: {OPTION} {name}")
        try:
            import_module(module)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever the module does, SystemExit included
            raise CommandError(f"the module {module} cannot be imported: {one_line(error)}") from None
    return tuple(modules), rest
