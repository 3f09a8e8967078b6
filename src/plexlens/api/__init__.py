"""The Python interface: databases, questions to them, and the answers of the commands as objects.

The names are given by the package itself: ``import plexlens as px; px.open("pdb")``. ``docs/api.md`` shows each.
"""

from __future__ import annotations

from plexlens.api.answers import Answer, Page
from plexlens.api.asked import compare, plan, pools, simulate
from plexlens.api.database import Database, DataLossWarning, open_database, read
from plexlens.api.table import Numbers, Rows

__all__ = [
    "Answer",
    "DataLossWarning",
    "Database",
    "Numbers",
    "Page",
    "Rows",
    "compare",
    "open_database",
    "plan",
    "pools",
    "read",
    "simulate",
]
