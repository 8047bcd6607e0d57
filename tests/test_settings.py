"""Dataclasses of settings: conversion, refusal, and their form in JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import pytest

from rgvf.settings import check_types, field_docs, field_types, from_data, not_negative, positive, require, to_data


@dataclass(frozen=True)
class Inner:
    """Nested settings."""

    size: int = 1
    """Size."""

    def __post_init__(self) -> None:
        check_types(self)


@dataclass(frozen=True)
class Settings:
    """One field of each type."""

    count: int = 0
    """A docstring
    on two lines."""
    rate: float = 0.5
    """Rate."""
    flag: bool = False
    label: str = ""
    """Label."""
    kind: Literal["a", "b"] = "a"
    limit: int | None = None
    pair: tuple[int, float] = (1, 1.0)
    rates: tuple[float, ...] = (1.0,)
    inner: Inner = field(default_factory=Inner)

    def __post_init__(self) -> None:
        check_types(self)
        require(self, "at least 0", not_negative, "count", "rate")


@dataclass(frozen=True)
class Derived(Settings):
    rate: float = 0.25
    """Another rate."""
    more: int = 0
    """More."""


@pytest.mark.parametrize(
    ("given", "converted"),
    [
        (dict(count=5e6), 5_000_000),
        (dict(count=np.int64(3)), 3),
        (dict(count=2**53 + 1), 2**53 + 1),
        (dict(rate=2), 2.0),
        (dict(rate=np.float32(0.5)), 0.5),
        (dict(limit=3.0), 3),
        (dict(limit=None), None),
        (dict(pair=[2.0, 3]), (2, 3.0)),
        (dict(rates=2), (2.0,)),
        (dict(rates=[1, 2]), (1.0, 2.0)),
        (dict(rates=np.array([1, 2])), (1.0, 2.0)),
        (dict(rates=()), ()),
    ],
)
def test_values_are_converted_where_nothing_is_lost(given, converted):
    ((name, _),) = given.items()
    value = getattr(Settings(**given), name)
    assert value == converted
    assert type(value) is type(converted)
    if isinstance(value, tuple):
        assert [type(each) for each in value] == [type(each) for each in converted]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (dict(count=2.5), "count must be a whole number, not 2.5"),
        (dict(count=float("nan")), "count must be a whole number, not nan"),
        (dict(count=True), "count must be a number, not 'True'"),
        (dict(count="3"), "count must be a number, not '3'"),
        (dict(count=None), "count must be a number, not 'None'"),
        (dict(rate="fast"), "rate must be a number, not 'fast'"),
        (dict(rate=10**400), "rate must be a number"),
        (dict(flag=1), "flag must be true or false, not 1"),
        (dict(label=3), "label must be text, not 3"),
        (dict(kind="c"), "kind must be one of a, b; not 'c'"),
        (dict(limit="none"), "limit must be a number"),
        (dict(pair=(1, 2, 3)), "pair must be 2 values"),
        (dict(pair=(1.5, 2)), "pair must be a whole number"),
        (dict(rates=["1"]), "rates must be a number"),
        (dict(inner=3), "inner must be of type Inner, not 3"),
        (dict(count=-1), "count must be at least 0, not -1"),
        (dict(rate=float("inf")), "rate must be at least 0, not inf"),
    ],
)
def test_wrong_values_are_refused_with_the_field_named(given, said):
    with pytest.raises(ValueError, match=said):
        Settings(**given)


def test_positive_and_not_negative_need_finite_numbers():
    assert [positive(x) for x in (1e-9, 0.0, -1.0, float("inf"), float("nan"))] == [True, False, False, False, False]
    assert [not_negative(x) for x in (0, -1e-9, float("inf"), float("nan"))] == [True, False, False, False]


def test_json_round_trip():
    for settings in (Settings(), Settings(3, 0.1, True, "x", "b", 7, (2, 0.5), (1.0, 2.0), Inner(4)), Derived(more=2)):
        assert from_data(type(settings), json.loads(json.dumps(to_data(settings)))) == settings


def test_settings_that_are_left_out_have_their_defaults():
    assert from_data(Settings, {"count": 3.0, "inner": {}}) == Settings(count=3)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ({"counts": 3}, "unknown setting 'counts'"),
        ({"inner": {"sizes": 3}}, "unknown setting 'sizes'"),
        ({"inner": 3}, "expected the settings of Inner, not 3"),
        ([1, 2], "expected the settings of Settings"),
        (None, "expected the settings of Settings, not None"),
        ({"count": "3"}, "count must be a number"),
        ({"pair": [1]}, "pair must be 2 values"),
    ],
)
def test_foreign_data_is_refused(data, said):
    with pytest.raises(ValueError, match=said):
        from_data(Settings, data)


def test_docstrings_of_fields():
    assert field_docs(Settings) == {"count": "A docstring on two lines.", "rate": "Rate.", "label": "Label."}
    assert field_docs(Derived) == {**field_docs(Settings), "rate": "Another rate.", "more": "More."}


def test_types_of_fields():
    types = field_types(Derived)
    assert list(types)[:2] == ["count", "rate"]
    assert (types["count"], types["inner"], types["more"]) == (int, Inner, int)
