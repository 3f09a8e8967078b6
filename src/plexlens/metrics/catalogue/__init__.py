"""Grains, facts and metrics from the files of the catalogue: the shipped files, overridden by a site's own.

A file holds one grain. A site's file of a grain that is there adds to it, and overrides facts, metrics and sources by
name; it then gives only the keys that differ.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from plexlens.metrics.catalogue.error import CatalogueError

if TYPE_CHECKING:
    from plexlens.metrics.catalogue.catalogue import Catalogue
    from plexlens.metrics.catalogue.current import GRAINS, VARIABLE
    from plexlens.metrics.catalogue.index import Family

__all__ = ["GRAINS", "VARIABLE", "Catalogue", "CatalogueError", "Family"]

#: Loaded when they are asked for: numbers of pages are read from the catalogue's files without them.
_WHERE = {"GRAINS": "current", "VARIABLE": "current", "Catalogue": "catalogue", "Family": "index"}


def __getattr__(name: str) -> Any:
    """A name of `__all__`."""
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    result = globals()[name] = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    return result
