"""Coupling facilities, their structures, and signalling between systems: SMF 74-4, 74-2 and their RMF reports.

Formulas follow the overview conditions that IBM publishes for SMF 74-4 (z/OS RMF User's Guide, "Coupling Facility
Activity") and the report's own definitions (z/OS RMF Report Analysis).

Two kinds of counter lie side by side in a 74-4 record. A system's own requests add up over systems. What the coupling
facility itself counted (its processors, its storage, reads and castouts of a cache structure) is the same in the record
of every system that is connected; over systems it is taken once.
"""

from __future__ import annotations

from plexlens.metrics.coupling.facility import FACILITY
from plexlens.metrics.coupling.structure import STRUCTURE
from plexlens.metrics.coupling.xcf import CLASS, MEMBER, PATH

GRAINS = (FACILITY, STRUCTURE, CLASS, PATH, MEMBER)
