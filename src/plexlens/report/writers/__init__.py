"""A report as HTML, text, JSON, CSV, ZIP and Excel; writers only format."""
