"""The report of a capacity model, and of what it predicts."""
