"""The formulas by which derived columns of studies are worked out."""
