"""The cost of data sharing: measured from a performance database, and predicted for other configurations."""

from plexlens.sharing.assumptions import PATHS, Assumptions, CommitWrites
from plexlens.sharing.cost import CostOfSharing, SpaceCost, SystemCost, cost_of
from plexlens.sharing.measured import Measured
from plexlens.sharing.reading import measure

__all__ = [
    "PATHS", "Assumptions", "CommitWrites", "CostOfSharing", "Measured", "SpaceCost", "SystemCost", "cost_of",
    "measure",
]  # fmt: skip
