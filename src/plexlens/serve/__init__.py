"""The workbench in a browser: pages over a performance database, made on the server.

`plexlens.serve.running.run` serves `plexlens.serve.app.application`, behind `plexlens.serve.guard.Guard`. Numbers come
from the metric layer, pages and drawings from the report; this layer only asks and shows.
"""
