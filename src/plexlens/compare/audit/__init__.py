"""The audit of a study: recomputed cells, relations that must hold, and disagreements."""
