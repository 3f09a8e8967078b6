"""The Python interface: databases, questions to them, and the answers of the commands as objects.

The names are given by the package itself: ``import plexlens as px; px.open("pdb")``. ``docs/api.md`` shows each.
"""

from __future__ import annotations

from plexlens.api.answers import Answer, Page
from plexlens.api.asked import analyse_pools, compare_runs, plan, simulate_scenario, study
from plexlens.api.database import Database, open_database, read
from plexlens.api.losses import DataLossWarning
from plexlens.api.money import forecast_peaks, software_cost
from plexlens.api.table import Numbers, Rows

__all__ = [
    "Answer",
    "DataLossWarning",
    "Database",
    "Numbers",
    "Page",
    "Rows",
    "analyse_pools",
    "compare_runs",
    "forecast_peaks",
    "open_database",
    "plan",
    "read",
    "simulate_scenario",
    "software_cost",
    "study",
]
