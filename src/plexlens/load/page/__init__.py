"""Page of `plexlens run`."""
