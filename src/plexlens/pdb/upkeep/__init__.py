"""Upkeep of a PDB: what `plexlens pdb` does."""
