"""Data for others: names replaced, times moved, numbers kept, and the proof that the metrics are the same."""
