"""Capacity models calibrated from a performance database, and their predictions for other loads and configurations."""

from plexlens.capacity.calibrate import calibrate
from plexlens.capacity.change import Change
from plexlens.capacity.json_object import to_object
from plexlens.capacity.measured import Measured, measure
from plexlens.capacity.model import Model
from plexlens.capacity.plan import TOLERANCE, Plan, make_plan

__all__ = ["TOLERANCE", "Change", "Measured", "Model", "Plan", "calibrate", "make_plan", "measure", "to_object"]
