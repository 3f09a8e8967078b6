"""The page of `plexlens changes`."""
