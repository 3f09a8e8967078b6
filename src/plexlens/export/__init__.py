"""Export of metric views to files and to other tools."""
