"""What a study is, and running one: its variants batch by batch, then the pictures and the claims."""

from __future__ import annotations

import difflib
import fnmatch
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from rgvf.studies.claims import Claim
from rgvf.studies.folder import StudyFolder

Result = dict[str, Any]
"""What a variant gave, as JSON."""


@dataclass(frozen=True)
class Conclusion:
    """What a study shows."""

    table: list[tuple[str, ...]]
    """A short table for people, its header first."""
    claims: list[Claim]
    pictures: list[Path]
    legend: str = ""
    """What the table's numbers are, in a sentence."""
    caution: str = ""
    """Why the claims could come out otherwise, where less was run than the paper did."""


class Study(Protocol):
    """One of the paper's experiments."""

    @property
    def name(self) -> str: ...

    @property
    def config_type(self) -> type:
        """A frozen dataclass of settings, checked when made, the paper's values as defaults."""
        ...

    @property
    def variants(self) -> Sequence[str]: ...

    def batches(self, variants: Sequence[str]) -> Iterable[tuple[str, Sequence[str]]]:
        """The variants, parted into those that are best run at once, each part with a name for people."""
        ...

    def run(
        self, config: Any, variants: Sequence[str], report: Callable[[float], None], folder: StudyFolder
    ) -> dict[str, Result]:
        """Run a batch; `report` is told the fraction done. What is not finished may be kept in the folder."""
        ...

    def is_whole(self, config: Any, variant: str, result: Result) -> bool:
        """Whether a result read from disk is one that `run` would have given."""
        ...

    def conclude(self, config: Any, results: Mapping[str, Result], folder: StudyFolder) -> Conclusion:
        """Draw and check what is there, into the folder."""
        ...


class Listener(Protocol):
    """Is told how a study goes."""

    def found(self, variants: Sequence[str]) -> None:
        """The results of these were there already."""
        ...

    def begin(self, batch: str) -> None: ...

    def progress(self, fraction: float) -> None: ...

    def finish(self, batch: str, seconds: float) -> None: ...


class _Silent:
    def found(self, variants: Sequence[str]) -> None: ...

    def begin(self, batch: str) -> None: ...

    def progress(self, fraction: float) -> None: ...

    def finish(self, batch: str, seconds: float) -> None: ...


def run_study(
    study: Study, config: Any, out: Path, variants: Sequence[str] = (), listener: Listener | None = None
) -> Conclusion:
    """Run what is not in the folder yet, then draw and check everything that is.

    Args:
        variants: the ones to run, by name or pattern ("Breakout.*"); all by default. Results of others that the folder
            holds are kept and used.

    Raises:
        ValueError: an unknown variant.
        FolderError: `out` cannot be used.
    """
    chosen = {name for pattern in variants for name in _matching(study, pattern)} or set(study.variants)
    folder = StudyFolder(out, study.name, asdict(config))
    listener = listener or _Silent()
    results = _stored(study, config, folder)
    if results:
        listener.found(list(results))
    for batch, names in study.batches([name for name in study.variants if name in chosen - results.keys()]):
        began = time.monotonic()
        listener.begin(batch)
        for name, result in study.run(config, names, listener.progress, folder).items():
            folder.save_result(name, result)
        listener.finish(batch, time.monotonic() - began)
    conclusion = study.conclude(config, _stored(study, config, folder), folder)  # another process may have added some
    if conclusion.claims:
        claims = [claim.to_json() for claim in conclusion.claims]
        folder.write_json("claims.json", {"study": study.name, "claims": claims})
    return conclusion


def _stored(study: Study, config: Any, folder: StudyFolder) -> dict[str, Result]:
    """The finished results in the folder, in the order of the study's variants."""
    found = ((name, folder.result(name)) for name in study.variants)
    return {name: result for name, result in found if result is not None and study.is_whole(config, name, result)}


def _matching(study: Study, pattern: str) -> list[str]:
    found = fnmatch.filter(study.variants, pattern)
    if not found:
        near = difflib.get_close_matches(pattern, study.variants, n=1, cutoff=0.75)
        hint = f"did you mean {near[0]}?" if near else f"it has {some_of(study.variants)}"
        raise ValueError(f"{study.name} has no variant {pattern!r}; {hint}")
    return found


def some_of(variants: Sequence[str], most: int = 12) -> str:
    """Their names; of many only the first, and how many there are."""
    if len(variants) <= most:
        return ", ".join(variants)
    return f"{', '.join(variants[:most])}, … ({len(variants)} in all)"
