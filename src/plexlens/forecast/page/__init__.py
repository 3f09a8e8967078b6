"""The page of `plexlens forecast`."""
