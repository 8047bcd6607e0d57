"""Parsing options; what is wrong with them becomes one sentence."""

from __future__ import annotations

import io
import itertools
import re
import types
import typing
from contextlib import redirect_stderr, suppress
from pathlib import Path
from typing import Any

from rgvf.cli.errors import CommandError

_WRONG_NUMBER = "could not convert string to float"


def parse(options: Any, arguments: list[str], program: str, **settings: Any) -> Any:
    """Options from the command line. CommandError where they are wrong."""
    import tyro

    registry = tyro.constructors.ConstructorRegistry()
    registry.primitive_rule(_whole_numbers)
    registry.primitive_rule(_values_or_none)
    output = io.StringIO()
    try:
        with redirect_stderr(output):
            return tyro.cli(options, args=arguments, prog=program, registry=registry, **settings)
    except SystemExit as stop:
        if not stop.code:
            raise
        raise CommandError(f"{_sentence(output.getvalue())} ('{program} --help' lists the options)") from None


def _whole_numbers(info: Any) -> Any:
    """Whole numbers as people write them: 100000 or 1e5."""
    from tyro.constructors import PrimitiveConstructorSpec

    if info.type is not int:
        return None
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar="INT",
        instance_from_str=lambda words: _whole_number(words[0]),
        is_instance=lambda value: isinstance(value, int),
        str_from_instance=lambda value: [str(value)],
    )


def _whole_number(word: str, what: str = "a whole number") -> int:
    with suppress(ValueError):
        return int(word)
    with suppress(ValueError):
        number = float(word)
        if number.is_integer():
            return int(number)
    raise ValueError(f"must be {what}, not {word!r}")


def _values_or_none(info: Any) -> Any:
    """A value that may be left out: the word for that is the one of the help, none, or Python's."""
    from tyro.constructors import PrimitiveConstructorSpec

    kinds = typing.get_args(info.type) if typing.get_origin(info.type) in (typing.Union, types.UnionType) else ()
    kind = next((each for each in kinds if each in _OR_NONE), None)
    if kind is None or set(kinds) != {kind, type(None)}:
        return None
    metavar, read = _OR_NONE[kind]
    return PrimitiveConstructorSpec(
        nargs=1,
        metavar=f"none|{metavar}",
        instance_from_str=lambda words: None if words[0].lower() == "none" else read(words[0]),
        is_instance=lambda value: value is None or isinstance(value, kind),
        str_from_instance=lambda value: ["none" if value is None else str(value)],
    )


def _number_or_none(word: str) -> float:
    with suppress(ValueError):
        return float(word)
    raise ValueError(f"must be a number or none, not {word!r}")


_OR_NONE: dict[type, tuple[str, Any]] = {
    int: ("INT", lambda word: _whole_number(word, "a whole number or none")),
    float: ("FLOAT", _number_or_none),
    Path: ("PATH", Path),
}


def _sentence(box: str) -> str:
    """The first paragraph of the parser's message, without its title and the frame around it."""
    _, *lines = [line.strip("│ ").strip() for line in re.sub(r"\x1b\[[0-9;]*m", "", box).splitlines()] or [""]
    paragraphs = itertools.groupby(lines, lambda line: set(line) <= set("─╭╮╰╯-"))  # a terminal may lack frames
    joined = next(("\n".join(text) for is_rule, text in paragraphs if not is_rule), "the options are not valid")
    joined = re.sub(r"(?<=\d,)\n(?=\d{3})", "", joined).replace("\n", " ")  # a number may be broken at its comma
    suggested = "\n".join(lines).partition("Perhaps you meant:")[2]
    if near := re.findall(r"^(--[a-z][\w.-]*)", suggested, re.MULTILINE):
        joined += f"; did you mean {' or '.join(sorted(near, key=len)[:2])}?"
    joined = re.sub(rf"^Error parsing (\S+): {_WRONG_NUMBER}: (.*)", r"\1 must be a number, not \2", joined)
    joined = re.sub(r"^Error parsing (--\S+): must ", r"\1 must ", joined)
    group = re.match(r"^Error parsing ([\w-]+): (\w+) must ", joined)
    if group:  # settings of a task, --rgvf.depth; those of a study have no prefix
        prefix = "" if group[1] in ("settings", "_Options") else f"{group[1]}."
        return f"--{prefix}{group[2].replace('_', '-')} must {joined[group.end() :]}"
    return re.sub(r"^Error parsing \S+: ", "", joined)
