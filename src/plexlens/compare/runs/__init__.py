"""Runs as numbers by name: definition of a run, comparability of two runs, and their differences."""
