"""The formulas for derived columns of studies."""
