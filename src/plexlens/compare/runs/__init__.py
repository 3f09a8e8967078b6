"""Runs as numbers by name: what a run is, whether two may be compared, and how they differ."""
