"""Facts rolled up beforehand, by interval, hour and day, and kept in the database as derived data.

`rule` says which grains can be; `making` makes the days that an ingest touched; `reading` finds those that are up to
date, and `levels` the coarsest of them that answers a question as the raw rows do. docs/rollups.md has the whole.
"""
