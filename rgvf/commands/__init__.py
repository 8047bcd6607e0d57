"""The commands of the command line, one file each: parse, call, print."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stderr
from typing import Any


class CommandError(Exception):
    """What was asked cannot be done; the message is one sentence for the user."""

    def __init__(self, message: str, status: int = 2) -> None:
        super().__init__(message)
        self.status = status


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
    """The first paragraph of the parser's message, without the frame around it."""
    lines = [line.strip("│ ").strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines()]
    text: list[str] = []
    for line in lines:
        if set(line) <= set("─╭╮╰╯") or line.startswith("╭"):
            if text:
                break
            continue
        text.append(line)
    joined = " ".join(text) or "the options cannot be understood"
    return re.sub(r"^Error parsing \S+: ", "", joined)
