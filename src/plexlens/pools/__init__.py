"""Buffer pool analysis of page-reference traces."""

from plexlens.pools.alter import MovedObject, Script, alter, alter_object, script
from plexlens.pools.curves import PoolCurve, curves_of, to_json
from plexlens.pools.settings import Configuration, Placement, PoolSettings

__all__ = [
    "Configuration",
    "MovedObject",
    "Placement",
    "PoolCurve",
    "PoolSettings",
    "Script",
    "alter",
    "alter_object",
    "curves_of",
    "script",
    "to_json",
]
