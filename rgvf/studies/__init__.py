"""Studies: what is trained, what is drawn, which claims are checked."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rgvf.studies.base import (
    Claim,
    Conclusion,
    Curves,
    FolderError,
    Study,
    StudyConfig,
    StudyFolder,
    StudyListener,
    beats,
    conclude_study,
    falls,
    matches,
    open_study,
    run_study,
    some_of,
    write_curves,
)
from rgvf.studies.registry import STUDIES, find_study

if TYPE_CHECKING:
    from rgvf.studies.runs import RunsConfig, RunsStudy

__all__ = [
    "STUDIES",
    "Claim",
    "Conclusion",
    "Curves",
    "FolderError",
    "RunsConfig",
    "RunsStudy",
    "Study",
    "StudyConfig",
    "StudyFolder",
    "StudyListener",
    "beats",
    "conclude_study",
    "falls",
    "find_study",
    "matches",
    "open_study",
    "run_study",
    "some_of",
    "write_curves",
]


def __getattr__(name: str) -> Any:
    if name in ("RunsConfig", "RunsStudy"):  # they import JAX, which the list of studies does not need
        return getattr(import_module("rgvf.studies.runs"), name)
    raise AttributeError(f"module 'rgvf.studies' has no attribute {name!r}")
