"""Studies: published tables whose derived numbers are recomputed from the measured numbers in the same tables.

``load_study`` reads a study's folder, ``audit`` works out its derived columns by the formulas of the catalogue and
compares them with what is printed, allowing for the rounding of every printed digit.
"""

from __future__ import annotations

from plexlens.compare.audit.audit import Audit, Cell, TableAudit, audit
from plexlens.compare.study.model import LeftOut, Study, StudyError, studies_path, study_names
from plexlens.compare.study.reader import load_study

__all__ = [
    "Audit",
    "Cell",
    "LeftOut",
    "Study",
    "StudyError",
    "TableAudit",
    "audit",
    "load_study",
    "studies_path",
    "study_names",
]
