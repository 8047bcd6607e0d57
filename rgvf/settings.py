"""Frozen dataclasses of settings: checked when they are made, written as JSON, and read back by their types."""

from __future__ import annotations

import ast
import dataclasses
import functools
import inspect
import itertools
import math
import textwrap
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, Literal, TypeVar, Union

T = TypeVar("T")


class SettingError(ValueError):
    """The value of a field is not as it must be: "depth must be at least 1, not 0"."""

    def __init__(self, field: str, what: str) -> None:
        super().__init__(f"{field} {what}")
        self.field, self.what = field, what


def check_types(settings: Any) -> None:
    """Convert each field to its annotated type where nothing is lost (5e6 is a whole number).

    Raises:
        ValueError: a value is of another type; the message names the field.
    """
    for name, kind in field_types(type(settings)).items():
        object.__setattr__(settings, name, _convert(kind, getattr(settings, name), name))


def require(settings: Any, what: str, holds: Callable[[Any], bool], *fields: str) -> None:
    """SettingError for the first of the fields whose value is not as it must be."""
    for field in fields:
        if not holds(getattr(settings, field)):
            raise SettingError(field, f"must be {what}, not {getattr(settings, field)}")


def positive(x: float) -> bool:
    """Finite and above 0."""
    return x > 0 and math.isfinite(x)


def not_negative(x: float) -> bool:
    """Finite and at least 0."""
    return x >= 0 and math.isfinite(x)


def to_data(settings: Any) -> dict[str, Any]:
    """The fields as JSON can hold them."""
    return {field.name: _plain(getattr(settings, field.name)) for field in dataclasses.fields(settings)}


def flat_settings(run: Mapping[str, Any]) -> dict[str, Any]:
    """What config.json says of a run: settings of the run and the agent by their names, of tasks by TASK.NAME."""
    agent = run["agent"]
    flat = {name: value for name, value in run.items() if name != "agent"}
    flat |= {name: value for name, value in agent.items() if name not in ("tasks", "actor_critic")}
    flat |= {"agent": "+".join(str(task["task"]) for task in agent["tasks"]) or "a2c", **agent.get("actor_critic", {})}
    for task in agent["tasks"]:
        flat |= {f"{task['task']}.{name}": value for name, value in task.items() if name != "task"}
    return flat


def from_data(cls: type[T], data: Any) -> T:
    """The settings that `to_data` wrote. ValueError where the data is anything else."""
    if not isinstance(data, Mapping):
        raise ValueError(f"expected the settings of {cls.__name__}, not {str(data)[:80]}")
    kinds = field_types(cls)
    unknown = [name for name in data if name not in kinds]
    if unknown:
        raise ValueError(f"unknown setting {unknown[0]!r}")
    return cls(**{name: _read(kinds[name], value) for name, value in data.items()})


@functools.cache
def field_types(cls: type) -> dict[str, Any]:
    """The type of each field."""
    hints = typing.get_type_hints(cls)
    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


@functools.cache
def field_docs(cls: type) -> dict[str, str]:
    """The docstring below each field, on one line."""
    docs: dict[str, str] = {}
    for base in reversed(cls.__mro__):
        if not dataclasses.is_dataclass(base):
            continue
        (definition,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(definition, ast.ClassDef)
        for field, doc in itertools.pairwise(definition.body):
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(doc, ast.Expr):
                docs[field.target.id] = " ".join(str(ast.literal_eval(doc.value)).split())
    return docs


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return to_data(value)
    return [_plain(each) for each in value] if isinstance(value, tuple) else value


def _read(kind: Any, value: Any) -> Any:
    """From JSON: dataclasses from objects, tuples from lists. The rest is converted when the settings are made."""
    if dataclasses.is_dataclass(kind) and isinstance(kind, type) and not isinstance(value, kind):
        return from_data(kind, value)
    return tuple(value) if isinstance(value, list) else value


def _convert(kind: Any, value: Any, name: str) -> Any:
    origin, choices = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        some = [each for each in choices if each is not type(None)]
        if len(some) > 1 or (value is None and len(some) < len(choices)):
            return value  # the settings check a choice of types themselves
        return _convert(some[0], value, name)
    if origin is Literal:
        if value not in choices:
            raise ValueError(f"{name} must be one of {', '.join(map(str, choices))}; not {value!r}")
        return value
    if origin is tuple:
        return _convert_tuple(choices, value, name)
    if kind in (int, float):
        return _number(kind, value, name)
    if kind in (bool, str) and not isinstance(value, kind):
        raise ValueError(f"{name} must be {'true or false' if kind is bool else 'text'}, not {value!r}")
    if dataclasses.is_dataclass(kind) and not isinstance(value, typing.cast(type, kind)):
        raise ValueError(f"{name} must be of type {typing.cast(type, kind).__name__}, not {value!r}")
    return value


def _convert_tuple(kinds: tuple[Any, ...], value: Any, name: str) -> tuple[Any, ...]:
    """A single value stands for a tuple of one."""
    values = tuple(value) if isinstance(value, list | tuple) or hasattr(value, "__array__") else (value,)
    if kinds[-1] is Ellipsis:
        kinds = (kinds[0],) * len(values)
    if len(values) != len(kinds):
        raise ValueError(f"{name} must be {len(kinds)} values, not {value!r}")
    return tuple(_convert(kind, each, name) for kind, each in zip(kinds, values, strict=True))


def _number(kind: type[int] | type[float], value: Any, name: str) -> int | float:
    try:
        if isinstance(value, bool | str):
            raise TypeError
        number = float(value)
    except OverflowError:
        raise ValueError(f"{name} must be a number below 10^308") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, not {str(value)[:40]!r}") from None
    if kind is float:
        return number
    if not number.is_integer():
        raise ValueError(f"{name} must be a whole number, not {number:g}")
    return int(value)
