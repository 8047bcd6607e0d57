"""Names of Gymnasium environments with the arguments of their constructor: gym/ID?NAME=VALUE&wrapper=MODULE:CLASS.

One text says all that is needed to make the environment again, so a run's configuration and its workers need no more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote

_WRAPPER = "wrapper"
_PLAIN = '/:.,[]{}"-'  # characters that need no escape


class GymName(NamedTuple):
    """What the name of a Gymnasium environment says."""

    id: str
    """As `gymnasium.make` takes it; MODULE:ID imports the module first."""
    kwargs: dict[str, Any]
    """For the constructor."""
    wrappers: tuple[str, ...]
    """MODULE:CLASS of each wrapper, the innermost first."""

    @property
    def modules(self) -> tuple[str, ...]:
        """The modules that are imported when the environment is made."""
        return tuple(each.partition(":")[0] for each in (self.id, *self.wrappers) if ":" in each)


def parse_gym_name(name: str) -> GymName:
    """Read a name, without gym/. ValueError where it is malformed."""
    id, mark, query = name.partition("?")
    try:
        fields = parse_qsl(query, keep_blank_values=True, strict_parsing=True, max_num_fields=100) if mark else []
    except ValueError:
        raise ValueError(f"{name!r} is malformed; expected ID?NAME=VALUE&NAME=VALUE") from None
    kwargs = {key: parse_value(text) for key, text in fields if key != _WRAPPER}
    wrappers = tuple(text for key, text in fields if key == _WRAPPER)
    for each in wrappers:
        module, colon, cls = each.partition(":")
        if not (module and colon and cls):
            raise ValueError(f"a wrapper is named MODULE:CLASS, such as minigrid.wrappers:ImgObsWrapper, not {each!r}")
    return GymName(id, kwargs, wrappers)


def gym_name(id: str, kwargs: Mapping[str, Any] | None = None, wrappers: Sequence[str] = ()) -> str:
    """The name for `RunConfig` of a Gymnasium environment with arguments and wrappers.

    Args:
        id: as `gymnasium.make` takes it.
        kwargs: for the constructor; values that JSON can hold.
        wrappers: MODULE:CLASS of each, the innermost first.
    """
    before = parse_gym_name(id)
    fields = [(key, _text(value)) for key, value in (kwargs or {}).items()]
    fields += [(_WRAPPER, each) for each in wrappers]
    if not fields:
        return f"gym/{id}"
    query = "&".join(f"{quote(key)}={quote(text, safe=_PLAIN)}" for key, text in fields)
    name = f"{id}{'&' if before.kwargs or before.wrappers else '?'}{query}"
    parse_gym_name(name)
    return f"gym/{name}"


def _text(value: Any) -> str:
    """What `parse_value` reads as this value: text as it is, unless that would be read as something else."""
    return value if isinstance(value, str) and parse_value(value) == value else json.dumps(value)


def parse_value(text: str) -> Any:
    """JSON, or the text itself where it is none: 8x8, false, 0.5."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def is_minigrid(gym_id: str) -> bool:
    """Whether a Gymnasium environment is one of MiniGrid: the agent sees a few cells, in its own direction."""
    return gym_id.rpartition(":")[2].startswith(("MiniGrid-", "BabyAI-"))


def is_classic_control(gym_id: str) -> bool:
    """Whether a Gymnasium environment is one of the classic ones whose returns are of the order of hundreds."""
    return gym_id.rpartition(":")[2].startswith(("Acrobot-", "CartPole-", "LunarLander-", "MountainCar-"))
