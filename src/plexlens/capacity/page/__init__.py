"""The report of a capacity model and its predictions."""
