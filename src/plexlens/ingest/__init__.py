"""Sources: each kind of source has a module that turns a file into tables of Arrow batches.

`plexlens.ingest.kinds` lists them. Adding one is its module, with ``sniff`` and ``read`` as `plexlens.ingest.source`
describes them, one line in `SOURCES`, and its tests.
"""
