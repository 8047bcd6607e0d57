"""Studies: what is trained, what is drawn, which claims are checked."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from rgvf.studies.claims import Claim, beats, falls, matches
from rgvf.studies.config import StudyConfig
from rgvf.studies.curves import Curves
from rgvf.studies.folder import FolderError, StudyFolder
from rgvf.studies.registry import STUDIES, find_study
from rgvf.studies.run import conclude_study, run_study
from rgvf.studies.study import Conclusion, Study, StudyListener, open_study, sentences, some_of

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
    "sentences",
    "some_of",
]


def __getattr__(name: str) -> Any:
    if name in ("RunsConfig", "RunsStudy"):  # they import JAX, which the list of studies does not need
        return getattr(import_module("rgvf.studies.runs"), name)
    raise AttributeError(f"module 'rgvf.studies' has no attribute {name!r}")
