"""The report of a simulation of buffer pools, and of what it recommends."""
