"""Load tests: what the driver measured, where it was steady, and what each request cost on z/OS and on Linux."""

from __future__ import annotations

from plexlens.load.cost import Costs, Share, costs_of, intervals_of
from plexlens.load.criteria import Validity, criteria_named, validity_of
from plexlens.load.repeats import Repeats, repeats_of
from plexlens.load.run import Run, run_of
from plexlens.load.servers import with_servers
from plexlens.load.study_folder import Way, study_files

__all__ = [
    "Costs",
    "Repeats",
    "Run",
    "Share",
    "Validity",
    "Way",
    "costs_of",
    "criteria_named",
    "intervals_of",
    "repeats_of",
    "run_of",
    "study_files",
    "validity_of",
    "with_servers",
]
