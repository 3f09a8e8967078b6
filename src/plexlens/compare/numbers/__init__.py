"""Printed numbers with the bounds of their rounding, and what is fitted to numbers."""
