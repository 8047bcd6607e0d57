"""The paper's studies: what runs, what it draws, what it claims."""

from rgvf.studies.folder import FolderError
from rgvf.studies.registry import STUDIES, find_study
from rgvf.studies.study import Conclusion, Listener, Study, run_study

__all__ = ["STUDIES", "Conclusion", "FolderError", "Listener", "Study", "find_study", "run_study"]
