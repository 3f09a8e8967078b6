"""What a page declares, and how its blocks are filled from a database."""
