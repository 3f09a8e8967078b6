"""Grains, facts and metrics from the files of the catalogue: the shipped files, overridden by a site's own.

A file holds one grain. A site's file of a grain that is there adds to it, and overrides facts, metrics and sources by
name; it then gives only the keys that differ.
"""

from __future__ import annotations

from plexlens.metrics.catalogue.catalogue import Catalogue
from plexlens.metrics.catalogue.current import GRAINS, VARIABLE
from plexlens.metrics.catalogue.error import CatalogueError
from plexlens.metrics.catalogue.index import Family

__all__ = ["GRAINS", "VARIABLE", "Catalogue", "CatalogueError", "Family"]
