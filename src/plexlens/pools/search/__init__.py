"""The search for what to change: which objects share a pool, sizes, settings, and steps that lead there."""
