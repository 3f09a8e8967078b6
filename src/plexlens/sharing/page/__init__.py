"""The report on the cost of data sharing, and on the effect of changes."""
