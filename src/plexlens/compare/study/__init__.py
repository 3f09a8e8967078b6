"""Studies as folders: tables as printed, and the rules by which cells follow from others."""
