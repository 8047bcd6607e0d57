"""What the module of a study needs, in one place."""

from rgvf.studies.claims import Claim, beats, falls, matches
from rgvf.studies.config import StudyConfig
from rgvf.studies.curves import Curves, write_curves
from rgvf.studies.folder import FolderError, StudyFolder
from rgvf.studies.run import conclude_study, run_study
from rgvf.studies.study import Conclusion, Study, StudyListener, open_study, some_of

__all__ = [
    "Claim",
    "Conclusion",
    "Curves",
    "FolderError",
    "Study",
    "StudyConfig",
    "StudyFolder",
    "StudyListener",
    "beats",
    "conclude_study",
    "falls",
    "matches",
    "open_study",
    "run_study",
    "some_of",
    "write_curves",
]
