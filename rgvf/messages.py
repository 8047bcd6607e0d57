"""Parts of messages that many places need."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from rgvf.errors import UserError


def suggestion(name: str, known: Iterable[str], *, n: int = 1, cutoff: float = 0.6) -> str:
    """ "did you mean A or B?"; an empty string where nothing known is like the name."""
    near = difflib.get_close_matches(name, list(known), n=n, cutoff=cutoff)
    return f"did you mean {' or '.join(near)}?" if near else ""


def unknown(kind: str, name: str, known: Iterable[str], *, n: int = 1, cutoff: float = 0.6) -> str:
    """A sentence for a name that is not known: the nearest known name, or all of them."""
    known = list(known)
    hint = suggestion(name, known, n=n, cutoff=cutoff) or f"choose from {', '.join(known)}."
    return f"there is no {kind} {name!r}; {hint}"


def os_error(error: OSError) -> str:
    """What went wrong with which file, in a few words."""
    reason = error.strerror or str(error)
    return f"{reason}: {error.filename}" if error.filename else reason


def one_line(error: BaseException) -> str:
    """What an error says, on one line; with its type, unless it was written for users."""
    kind = "" if isinstance(error, UserError) else f"{type(error).__name__}: "
    return " ".join(f"{kind}{error}".split()).removesuffix(":")


class _Silent:
    """A listener that ignores every report."""

    def _ignore(self, *report: Any) -> None:
        """Of a run or of a study."""

    say = waiting = warn = progress = found = begin = finish = _ignore


SILENT: Any = _Silent()
"""A listener for runs and studies that shows nothing."""
