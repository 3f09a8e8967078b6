"""Studies as folders: tables as printed, and what follows from what in them."""
