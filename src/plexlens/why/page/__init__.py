"""The page of `plexlens why`."""
