"""The report of what data sharing costs, and of what changes would do to it."""
