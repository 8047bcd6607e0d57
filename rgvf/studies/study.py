"""What a study is, and running one: its variants in batches, then the figures and the claims."""

from __future__ import annotations

import fnmatch
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from rgvf.messages import suggestion
from rgvf.studies.claims import Claim
from rgvf.studies.config import StudyConfig
from rgvf.studies.curves import Curves, write_curves
from rgvf.studies.folder import StudyFolder


@dataclass(frozen=True)
class Conclusion:
    """What a study shows."""

    table: list[tuple[str, ...]]
    """A short table for people, its header first."""
    claims: list[Claim]
    figures: list[Path]
    legend: str = ""
    """What the numbers of the table are, in a sentence."""
    caution: str = ""
    """Why the claims may come out otherwise, where less was run than the full study."""
    failed: tuple[str, ...] = ()
    """Variants that should have been run, and have failed."""
    unfinished: tuple[str, ...] = ()
    """Variants that should have been run, and were interrupted, or left to another process."""


@runtime_checkable
class StudyListener(Protocol):
    """Gets reports about a study."""

    def found(self, variants: Sequence[str]) -> None:
        """The folder has results of these already."""
        ...

    def begin(self, batch: str) -> None:
        """A batch starts."""
        ...

    def progress(self, fraction: float) -> None:
        """A fraction of the batch is done."""
        ...

    def warn(self, message: str) -> None:
        """Something is wrong, but the study continues."""
        ...

    def finish(self, batch: str, seconds: float) -> None:
        """A batch is done."""
        ...


class Study(ABC):
    """An experiment: variants that are trained, and what their learning curves show."""

    name: str
    config_type: type[StudyConfig]
    variants: Sequence[str]
    """Those of the full study."""
    measure: str = "return"
    """What the curves are of."""

    @property
    def summary(self) -> str:
        """What it has, for its help."""
        return f"Variants: {some_of(self.variants)}."

    def chosen(self, config: Any) -> Sequence[str]:
        """The variants that the settings choose; all of them, where a study has no such settings."""
        del config
        return self.variants

    def known(self, names: Sequence[str]) -> list[str]:
        """Those of the names that the study can conclude from, in its order."""
        given = set(names)
        return [name for name in self.variants if name in given]

    def check_ready(self, config: Any, variants: Sequence[str]) -> None:
        """ValueError where none of these variants could be run here. By default all can."""
        del config, variants

    def default_parallel(self, config: Any) -> int:
        """How many batches to run at once, each in a process of its own; 0: one after another in this process."""
        del config
        return 0

    def batches(self, variants: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        """The variants, divided into those that are best run at once; each batch has a name for people."""
        return ((variant, (variant,)) for variant in variants)

    def retries(self, variants: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        """Batches of variants that failed together: one by one, so that none that fails again takes others with it."""
        return ((variant, (variant,)) for variant in variants)

    @abstractmethod
    def run(
        self, config: Any, variants: Sequence[str], listener: StudyListener, folder: StudyFolder
    ) -> dict[str, Curves]:
        """Train a batch, and report progress. Unfinished work may be kept in the folder."""

    @abstractmethod
    def identity(self, config: Any, variant: str) -> dict[str, Any]:
        """What tells a variant's result from that of another one, as JSON can hold it."""

    def is_result_of(self, config: Any, variant: str, identity: Any) -> bool:
        """Whether a stored identity is that of the variant."""
        return identity == self.identity(config, variant)

    def seeds(self, config: Any, variant: str) -> int:
        """How many agents a variant has."""
        del variant
        return config.seeds

    def is_complete(self, config: Any, curves: Curves) -> bool:
        """Whether the arrays beside the curves are those that `run` gives."""
        del config, curves
        return True

    def conclude(self, config: Any, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """Write the curves that there are into the folder, and judge them."""
        write_curves(folder, self.measure, curves, **self.beside(curves))
        return self.judge(config, curves, folder)

    def beside(self, curves: Mapping[str, Curves]) -> dict[str, Any]:
        """What `curves.json` says beside the curves, by name."""
        del curves
        return {}

    @abstractmethod
    def judge(self, config: Any, curves: Mapping[str, Curves], folder: StudyFolder) -> Conclusion:
        """Draw and check the curves that there are, into the folder."""


def run_batch(study: Study, config: Any, variants: Sequence[str], listener: StudyListener, folder: StudyFolder) -> None:
    """Train a batch and store its results."""
    for name, curves in study.run(config, variants, listener, folder).items():
        folder.save_result(name, {"identity": study.identity(config, name), **curves.to_data()})


def open_study(
    study: Study, config: StudyConfig, out: Path, variants: Sequence[str] = ()
) -> tuple[StudyFolder, list[str]]:
    """The folder of a study, and the variants that the settings and the patterns choose."""
    names = choose(study, config, variants)
    return StudyFolder(out, study.name, config.identity(), defaults=type(config)().identity()), names


def choose(study: Study, config: StudyConfig, variants: Sequence[str] = ()) -> list[str]:
    """The variants that the settings and the patterns choose, in the study's order. ValueError where one is unknown."""
    known = list(study.chosen(config))
    matching = {name for pattern in variants for name in _matching(study.name, known, pattern)}
    return [name for name in known if name in matching] if variants else known


def stored_results(study: Study, config: StudyConfig, folder: StudyFolder) -> dict[str, Curves]:
    """The finished results in the folder, in the order of the study's variants."""
    found = ((name, _complete(study, config, name, folder.result(name))) for name in study.known(folder.names()))
    return {name: curves for name, curves in found if curves is not None}


def _complete(study: Study, config: StudyConfig, variant: str, result: Mapping[str, Any] | None) -> Curves | None:
    """The curves of a result, if it is one that `run` would have given."""
    try:
        if result is None or not study.is_result_of(config, variant, result["identity"]):
            return None
        curves = Curves.from_data(result)
        shape = study.seeds(config, variant), len(curves.frames)
        whole = curves.values.shape == shape and curves.frames[-1] >= config.length
        return curves if whole and study.is_complete(config, curves) else None
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        return None


def _matching(study: str, variants: Sequence[str], pattern: str) -> list[str]:
    found = fnmatch.filter(variants, pattern)
    if not found:
        hint = suggestion(pattern, variants, cutoff=0.75) or f"choose from {some_of(variants)}"
        raise ValueError(f"{study} has no variant {pattern!r}; {hint}")
    return found


def sentences(*parts: str) -> str:
    """Those that are not empty, one after another."""
    return " ".join(filter(None, parts))


def some_of(names: Sequence[str], limit: int = 12) -> str:
    """The names; of many only the first, and how many there are."""
    if len(names) <= limit:
        return ", ".join(names)
    return f"{', '.join(names[:limit])}, … ({len(names)} in all)"
