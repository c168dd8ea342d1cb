"""``wireproof study``: which settings of a library are obeyed, and which of them help here."""

from wireproof.workflow.study.course import run_study
from wireproof.workflow.study.launching import StudySpecification
from wireproof.workflow.study.libraries import libraries, library_called

__all__ = ["StudySpecification", "libraries", "library_called", "run_study"]
