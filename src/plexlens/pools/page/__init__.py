"""The report of a buffer pool simulation and its recommendation."""
