"""Pools without a page trace: what statistics alone say about other sizes and placements, as ranges."""
