"""Buffer pool analysis of page-reference traces."""

from plexlens.pools.curves import PoolCurve, curves_of, to_json

__all__ = ["PoolCurve", "curves_of", "to_json"]
