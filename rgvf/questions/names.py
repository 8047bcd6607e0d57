"""Names of features, nodes and actions, as a user may give them."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any


def names_of(kind: str, given: Iterable[str] | int, prefix: str = "") -> tuple[str, ...]:
    """Names as given, or made of a prefix and a number where a count is given."""
    if isinstance(given, str):
        raise ValueError(f"{kind}s must be a sequence of names, not the single string {given!r}")
    if isinstance(given, Iterable):
        return checked_names(kind, given)
    try:
        count = -1 if isinstance(given, bool) else operator.index(given)
    except TypeError:
        count = -1
    if count < 0:
        raise ValueError(f"{kind}s must be a sequence of names or how many there are, not {given!r}")
    return tuple(f"{prefix}{i}" for i in range(count))


def checked_names(kind: str, given: Iterable[Any]) -> tuple[str, ...]:
    """The names, if each is a non-empty string that can be written to a file, and none is there twice."""
    names = tuple(given)
    seen: set[str] = set()
    for name in names:
        if not isinstance(name, str) or not name:
            raise ValueError(f"{kind} {name!r}: a name must be a non-empty string")
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ValueError(f"{kind} {name!r}: a name must not have lone surrogates")
        if name in seen:
            raise ValueError(f"{kind} {name!r} is named twice")
        seen.add(name)
    return tuple(str(name) for name in names)
