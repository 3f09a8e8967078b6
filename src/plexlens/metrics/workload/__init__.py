"""Sources of the family that are functions still."""
