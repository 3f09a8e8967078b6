"""Metrics: grains, facts and formulas from the catalogue (`plexlens.metrics.catalogue`), and their evaluation.

Commands that evaluate nothing use units and the display of numbers: the catalogue is loaded when it is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from plexlens.metrics.catalogue.current import GRAINS

__all__ = ["GRAINS"]


def __getattr__(name: str) -> Any:
    """The catalogue's grains."""
    if name != "GRAINS":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from plexlens.metrics.catalogue.current import GRAINS

    globals()[name] = GRAINS
    return GRAINS
