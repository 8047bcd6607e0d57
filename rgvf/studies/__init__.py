"""Studies: what is trained, what is drawn, which claims are checked."""

from rgvf.studies.base import Conclusion, FolderError, Study, StudyListener, run_study, some_of
from rgvf.studies.registry import STUDIES, find_study

__all__ = ["STUDIES", "Conclusion", "FolderError", "Study", "StudyListener", "find_study", "run_study", "some_of"]
