"""Processors: partitions of a machine, engines of a system, capacity and capture, from SMF 70-1 (and 72-3)."""

from __future__ import annotations

from plexlens.metrics.cpu.partition import PARTITION
from plexlens.metrics.cpu.system import SYSTEM

GRAINS = (SYSTEM, PARTITION)
