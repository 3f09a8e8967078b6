"""Child processes of the server: the data that they receive, and the access that they are denied."""

from __future__ import annotations

import os

from plexlens.metrics import GRAINS
from plexlens.metrics.catalogue.current import VARIABLE as CATALOGUE


def environment() -> dict[str, str]:
    """The environment of a process of the server: without the token, with the catalogue that the server was given."""
    kept = {name: value for name, value in os.environ.items() if name != "PLEXLENS_SERVE_TOKEN"}
    return kept | {CATALOGUE: os.pathsep.join(str(path) for path in GRAINS.catalogue.site)}
