"""The page of `plexlens cost`."""
