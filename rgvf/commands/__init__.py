"""The commands of the command line, one file each: parse, call, print."""

from __future__ import annotations

import io
import itertools
import re
from contextlib import redirect_stderr
from typing import Any


class CommandError(Exception):
    """What was asked cannot be done; the message is one sentence for the user."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


_WRONG_NUMBERS = {
    r"invalid literal for int\(\) with base 10": "a whole number",
    "could not convert string to float": "a number",
}


def parse(options: Any, arguments: list[str], program: str, **settings: Any) -> Any:
    """Options from the command line; what is wrong with them becomes one sentence."""
    import tyro

    told = io.StringIO()
    try:
        with redirect_stderr(told):
            return tyro.cli(options, args=arguments, prog=program, config=(tyro.conf.OmitArgPrefixes,), **settings)
    except SystemExit as stop:
        if not stop.code:
            raise
        raise CommandError(f"{_sentence(told.getvalue())} ('{program} --help' lists the options)") from None


def _sentence(box: str) -> str:
    """The first paragraph of the parser's message, without its title and the frame around it."""
    _, *lines = [line.strip("│ ").strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines()] or [""]
    paragraphs = itertools.groupby(lines, lambda line: set(line) <= set("─╭╮╰╯-"))  # a terminal may have no frames
    joined = next((" ".join(text) for is_rule, text in paragraphs if not is_rule), "the options cannot be understood")
    if meant := re.search(r"Perhaps you meant:\n(--\S+)", "\n".join(lines)):
        joined += f"; did you mean {meant[1]}?"
    for wrong, kind in _WRONG_NUMBERS.items():
        joined = re.sub(rf"^Error parsing (\S+): {wrong}: (.*)", rf"\1 must be {kind}, not \2", joined)
    return re.sub(r"^Error parsing \S+: ", "", joined)
