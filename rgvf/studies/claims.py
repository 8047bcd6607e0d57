"""A claim of the paper, stated as a check on the data: one final number for every seed of every variant."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rgvf.analysis import clearly_lower, estimate


@dataclass(frozen=True)
class Claim:
    """What the paper says, what was looked at, and how it came out."""

    claim: str
    """The paper's statement."""
    check: str
    """The statement as a check on the data."""
    holds: bool | None
    """None: a variant that it needs was not run."""
    figures: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        verdict = {True: "holds", False: "does not hold", None: "not checked: needs variants that were not run"}
        return {**asdict(self), "verdict": verdict[self.holds]}


def falls(claim: str, check: str, finals: Mapping[str, np.ndarray], order: list[str]) -> Claim:
    """Each variant in `order` ends clearly lower than the one before it."""
    if not all(name in finals for name in order):
        return Claim(claim, check, None)
    pairs = itertools.pairwise(order)
    holds = all(clearly_lower(finals[after], finals[before]) for before, after in pairs)
    return Claim(claim, check, holds, figures(finals, order))


def beats(claim: str, check: str, finals: Mapping[str, np.ndarray], better: str, worse: list[str]) -> Claim:
    """One variant ends clearly lower than each of the others."""
    if not all(name in finals for name in [better, *worse]):
        return Claim(claim, check, None)
    holds = all(clearly_lower(finals[better], finals[name]) for name in worse)
    return Claim(claim, check, holds, figures(finals, [better, *worse]))


def matches(
    claim: str, check: str, finals: Mapping[str, np.ndarray], names: list[str], reference: str, within: float
) -> Claim:
    """Each variant's mean is no more than `within` above the reference's."""
    if not all(name in finals for name in [*names, reference]):
        return Claim(claim, check, None)
    holds = all((finals[name] - finals[reference]).mean() < within for name in names)
    return Claim(claim, check, holds, {**figures(finals, [*names, reference]), "within": within})


def figures(finals: Mapping[str, np.ndarray], names: list[str]) -> dict[str, Any]:
    return {name: estimate(finals[name])._asdict() for name in names}
