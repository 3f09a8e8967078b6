"""The audit of a study: cells worked out again, relations that must hold, and what does not agree."""
