"""Data that arrives: folders are watched, new dumps ingested, and what rules find in them is passed on."""
