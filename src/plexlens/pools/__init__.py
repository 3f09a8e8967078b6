"""Buffer pool analysis of page-reference traces."""
