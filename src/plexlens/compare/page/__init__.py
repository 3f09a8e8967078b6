"""The reports of studies, of two runs, of chains of runs, of predictions, and of ways into CICS."""
