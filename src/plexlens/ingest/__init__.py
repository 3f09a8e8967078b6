"""Sources in: one module per kind of source, each turning a file into tables of Arrow batches."""
