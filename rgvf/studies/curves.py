"""Learning curves: what every variant of a study gives."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rgvf.analysis import final
from rgvf.studies.folder import StudyFolder


@dataclass(frozen=True)
class Curves:
    """One measure, of several seeds, against frames."""

    frames: list[int]
    values: np.ndarray
    """The measure: [seeds, points]."""
    first_seed: int = 0
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Whatever else a study keeps of a variant, by name."""

    @property
    def final(self) -> np.ndarray:
        """The mean over the last tenth of training: [seeds]."""
        return final(self.values)

    @property
    def seeds(self) -> range:
        """The seeds."""
        return range(self.first_seed, self.first_seed + len(self.values))

    def to_data(self) -> dict[str, Any]:
        """The curves as JSON can hold them."""
        arrays = {name: array.tolist() for name, array in self.arrays.items()}
        return {
            "frames": self.frames,
            "first_seed": self.first_seed,
            "values": _without_nan(self.values),
            **({"arrays": arrays} if arrays else {}),
        }

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Curves:
        """The curves that `to_data` wrote."""
        arrays = {name: np.array(array, float) for name, array in data.get("arrays", {}).items()}
        return cls(list(data["frames"]), np.array(data["values"], float), int(data["first_seed"]), arrays)


def _without_nan(values: np.ndarray) -> list[list[float | None]]:
    """The numbers as JSON can hold them: null where there is none."""
    return [[None if math.isnan(value) else value for value in row] for row in values.tolist()]


def write_curves(folder: StudyFolder, measure: str, curves: Mapping[str, Curves], **extra: Any) -> None:
    """All curves in one compact file, `curves.json`: one line for each variant, values to four digits."""
    lines = []
    for variant, each in curves.items():
        rounded = [
            [None if value is None else float(f"{value:.4g}") for value in row] for row in _without_nan(each.values)
        ]
        data = {"frames": each.frames, "seeds": list(each.seeds), "values": rounded}
        lines.append(f"{json.dumps(variant)}: {json.dumps(data, separators=(',', ':'))}")
    head = json.dumps({"x": "frames", "y": measure, **extra})[:-1]
    folder.write_text("curves.json", f'{head}, "variants": {{\n' + ",\n".join(lines) + "\n}}\n")
