"""Service and report class periods, from SMF 72-3 and the RMF workload activity report."""

from __future__ import annotations

from plexlens.metrics.workload.period import PERIOD

GRAINS = (PERIOD,)
