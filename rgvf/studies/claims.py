"""A claim, stated as a check on the data: one final number for every seed of every variant."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from rgvf.analysis import clearly_lower, estimate


@dataclass(frozen=True)
class Claim:
    """What is claimed, how it is checked, and the verdict."""

    claim: str
    """The statement: the paper's, or this project's own."""
    check: str
    """The statement as a check on the data."""
    holds: bool | None
    """None: this data cannot decide it."""
    figures: dict[str, Any] = field(default_factory=dict)

    def to_data(self) -> dict[str, Any]:
        """The claim and its verdict as JSON can hold them."""
        verdict = {True: "holds", False: "does not hold", None: "not checked: this data cannot decide it"}
        return {**asdict(self), "verdict": verdict[self.holds]}


def falls(claim: str, check: str, finals: Mapping[str, np.ndarray], order: list[str]) -> Claim:
    """Each variant in `order` ends clearly lower than the one before it."""
    if not _enough(finals, order):
        return Claim(claim, check, None)
    pairs = itertools.pairwise(order)
    holds = all(clearly_lower(finals[after], finals[before]) for before, after in pairs)
    return Claim(claim, check, holds, figures(finals, order))


def beats(claim: str, check: str, finals: Mapping[str, np.ndarray], better: str, worse: list[str]) -> Claim:
    """One variant ends clearly lower than each of the others."""
    if not _enough(finals, [better, *worse]):
        return Claim(claim, check, None)
    holds = all(clearly_lower(finals[better], finals[name]) for name in worse)
    return Claim(claim, check, holds, figures(finals, [better, *worse]))


def matches(
    claim: str, check: str, finals: Mapping[str, np.ndarray], names: list[str], reference: str, within: float
) -> Claim:
    """Each variant's mean is no more than `within` above the reference's."""
    if not _enough(finals, [*names, reference]):
        return Claim(claim, check, None)
    holds = all((finals[name] - finals[reference]).mean() < within for name in names)
    return Claim(claim, check, holds, {**figures(finals, [*names, reference]), "within": within})


def figures(finals: Mapping[str, np.ndarray], names: list[str]) -> dict[str, Any]:
    """Mean and standard error of each variant."""
    return {name: estimate(finals[name])._asdict() for name in names}


def _enough(finals: Mapping[str, np.ndarray], names: list[str]) -> bool:
    """Whether every variant was run, with at least two seeds."""
    return all(name in finals and len(finals[name]) > 1 for name in names)
