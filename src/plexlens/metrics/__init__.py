"""Metrics: grains, facts and formulas from the catalogue (`plexlens.metrics.catalogue`), and their evaluation."""

from __future__ import annotations

from plexlens.metrics.catalogue.current import GRAINS

__all__ = ["GRAINS"]
