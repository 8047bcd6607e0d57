"""Parsing options; what is wrong with them becomes one sentence."""

from __future__ import annotations

import io
import itertools
import re
from contextlib import redirect_stderr
from typing import Any

from rgvf.cli.errors import CommandError

_WRONG_NUMBERS = {
    r"invalid literal for int\(\) with base 10": "a whole number",
    "could not convert string to float": "a number",
}


def parse(options: Any, arguments: list[str], program: str, **settings: Any) -> Any:
    """Options from the command line. CommandError where they are wrong."""
    import tyro

    output = io.StringIO()
    try:
        with redirect_stderr(output):
            return tyro.cli(options, args=arguments, prog=program, **settings)
    except SystemExit as stop:
        if not stop.code:
            raise
        raise CommandError(f"{_sentence(output.getvalue())} ('{program} --help' lists the options)") from None


def _sentence(box: str) -> str:
    """The first paragraph of the parser's message, without its title and the frame around it."""
    _, *lines = [line.strip("│ ").strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines()] or [""]
    paragraphs = itertools.groupby(lines, lambda line: set(line) <= set("─╭╮╰╯-"))  # a terminal may lack frames
    joined = next((" ".join(text) for is_rule, text in paragraphs if not is_rule), "the options are not valid")
    if near := re.search(r"Perhaps you meant:\n(--[\w.-]+)", "\n".join(lines)):
        joined += f"; did you mean {near[1]}?"
    for wrong, kind in _WRONG_NUMBERS.items():
        joined = re.sub(rf"^Error parsing (\S+): {wrong}: (.*)", rf"\1 must be {kind}, not \2", joined)
    joined = re.sub(r"^Error parsing (--\S+): must ", r"\1 must ", joined)
    group = re.match(r"^Error parsing ([\w-]+): (\w+) must ", joined)
    if group:  # settings of a task: --rgvf.depth
        return f"--{group[1]}.{group[2].replace('_', '-')} must {joined[group.end() :]}"
    return re.sub(r"^Error parsing \S+: ", "", joined)
