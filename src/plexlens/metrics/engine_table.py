"""Names for the tables and views in which roll-ups and reports keep their data."""

from __future__ import annotations

from itertools import count

from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import quoted

__all__ = ["drop_views", "fresh_name", "quoted"]

_NUMBERS = count(1)


def fresh_name(stem: str) -> str:
    """A name that no table has yet."""
    return f"{stem}_{next(_NUMBERS)}"


def drop_views(inputs: Inputs, keep_first: int) -> None:
    """Drop the views created by roll-ups except the first ``keep_first``, with the cached facts about them."""
    dropped = inputs.views[keep_first:]
    del inputs.views[keep_first:]
    for name in reversed(dropped):
        inputs.connection.execute(f"drop view if exists {name}")
    gone = [key for key, value in inputs.kept.items() if isinstance(value, str) and value in dropped]
    tables = {key[0] for key in gone}
    for key in gone:
        del inputs.kept[key]
    for pattern in [key for key in inputs.patterns if key[0] in tables]:
        del inputs.patterns[pattern]
