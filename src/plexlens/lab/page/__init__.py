"""The page of the laboratory."""
