"""`rgvf environments`: what `rgvf train --env` takes, by suite and by name, and what an environment shows and takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import tyro

from rgvf.cli.errors import CommandError, command_errors
from rgvf.cli.imports import import_modules
from rgvf.cli.parsing import parse

DESCRIPTION = """List the environments that 'rgvf train --env' takes, or describe one.

--import MODULE first imports a module that registers Gymnasium environments."""


@dataclass(frozen=True)
class _Options:
    name: Annotated[
        str, tyro.conf.Positional, tyro.conf.arg(metavar="NAME", help_behavior_hint="(default: list the suites)")
    ] = ""
    """A word, to list the names that have it (doom; all have a /), or a whole name, to describe that environment
    (doom/basic)."""


def environments(arguments: list[str]) -> None:
    """Run the command."""
    from rgvf.environments.registry import SUITES

    modules, arguments = import_modules(arguments)
    name = parse(_Options, arguments, "rgvf environments", description=DESCRIPTION).name
    if not name:
        return _list_suites()
    if "/" in name.rstrip("/"):
        with command_errors():
            return _describe(name, modules)
    found = [each for each in _all_names() if name.lower() in each.lower()]
    if not found:
        raise CommandError(f"no environment has {name!r} in its name; the suites are {', '.join(SUITES)}.")
    print("\n".join(found))
    if any(each.startswith("gym/") for each in found):
        note = "Of gym/, those with discrete actions can be trained. Those of other packages are named gym/PACKAGE:ID."
        print(note, file=sys.stderr)
    return None


def _list_suites() -> None:
    from rgvf.environments.registry import SUITES, is_installed

    width = max(map(len, SUITES))
    for name, suite in SUITES.items():
        absent = "" if is_installed(suite) else " (not installed)"
        print(f"{name:{width}}  {len(suite.names()):3}  {suite.summary}{absent}")
    print("'rgvf environments doom' lists the names of a suite, 'rgvf environments doom/basic' describes one of them.")


def _all_names() -> Iterator[str]:
    from rgvf.environments.registry import SUITES

    for suite, each in SUITES.items():
        for name in sorted(each.names(), key=lambda name: (len(name), name) if name.isdigit() else (0, name)):
            yield f"{suite}/{name}"


def _describe(name: str, modules: tuple[str, ...]) -> None:
    from rgvf.environments.registry import canonical_name, find_spec
    from rgvf.runs import find_preset, preset

    name = canonical_name(name)
    spec, usual = find_spec(name), preset(name, "a2c")
    shape = "×".join(map(str, spec.observation_shape))
    stack = f", the last {spec.stack} frames" if spec.is_stacked else ""
    print(name)
    print(f"observation: {shape} {spec.observation_dtype}{stack}")
    print(f"actions ({len(spec.actions)}): {', '.join(spec.actions)}")
    print(f"frames in a step: {spec.frames_per_step}")
    memory = ", agents with memory" if usual.agent.representation == "gru" else ""
    scale = "" if usual.reward_scale == 1 else f", rewards × {usual.reward_scale:g} for learning (--reward-scale)"
    print(f"preset: {find_preset(name)}, {usual.frames:,} frames{memory}{scale}")
    imports = "".join(f"--import {module} " for module in modules)
    print(f"'rgvf train {imports}--env {name} --help' shows its settings.")
