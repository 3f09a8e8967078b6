"""Names for the tables and views in which roll-ups and reports keep their data."""

from __future__ import annotations

from itertools import count

from plexlens.metrics.inputs import Inputs
from plexlens.pdb.engine import quoted

__all__ = ["drop_made", "fresh_name", "quoted"]

_NUMBERS = count(1)


def fresh_name(stem: str) -> str:
    """A name that no table has yet."""
    return f"{stem}_{next(_NUMBERS)}"


def drop_made(inputs: Inputs, keep_first: int) -> None:
    """Drop what roll-ups made except the first ``keep_first`` views and tables, with the cached facts about them."""
    dropped = {name for _, name in inputs.made[keep_first:]}
    for kind, name in reversed(inputs.made[keep_first:]):
        inputs.connection.execute(f"drop {kind} if exists {name}")
    del inputs.made[keep_first:]
    gone = [key for key, value in inputs.kept.items() if isinstance(value, str) and value in dropped]
    tables = {key[0] for key in gone}
    for key in gone:
        del inputs.kept[key]
    for pattern in [key for key in inputs.patterns if key[0] in tables]:
        del inputs.patterns[pattern]
