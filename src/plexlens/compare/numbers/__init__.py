"""Printed numbers with the bounds of their rounding, and fits to numbers."""
