"""A laboratory on this machine: CPU time per request measured in two ways that must agree, as a test of the method."""

from __future__ import annotations

from plexlens.lab.measure import Lab, Measured, measure
from plexlens.lab.way import WAYS, Way

__all__ = ["WAYS", "Lab", "Measured", "Way", "measure"]
