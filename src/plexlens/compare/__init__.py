"""Studies: published tables whose derived numbers are recomputed from the measured numbers in the same tables.

``load_study`` reads a study's folder, `plexlens.compare.audit.audit.audit` works out its derived columns by the
formulas of the catalogue and compares them with what is printed, allowing for the rounding of every printed digit.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plexlens.compare.audit.audit import Audit, Cell, TableAudit
    from plexlens.compare.study.model import LeftOut, Study, StudyError
    from plexlens.compare.study.places import studies_path, study_names
    from plexlens.compare.study.reader import load_study

#: Where each name is: runs of two databases are compared without any study.
_PLACES = {
    **dict.fromkeys(("Audit", "Cell", "TableAudit"), "plexlens.compare.audit.audit"),
    **dict.fromkeys(("LeftOut", "Study", "StudyError"), "plexlens.compare.study.model"),
    **dict.fromkeys(("studies_path", "study_names"), "plexlens.compare.study.places"),
    "load_study": "plexlens.compare.study.reader",
}

__all__ = [
    "Audit",
    "Cell",
    "LeftOut",
    "Study",
    "StudyError",
    "TableAudit",
    "load_study",
    "studies_path",
    "study_names",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_PLACES[name]), name)
