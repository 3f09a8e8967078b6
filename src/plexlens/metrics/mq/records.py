"""What the grains of the family share: keys, documents, the reading of a statistics section."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from plexlens.metrics.definition import Key
from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.fields import Field, columns_of, names_of
from plexlens.metrics.inputs import Inputs, identity

#: Pages of page sets and buffer pools, and control intervals of the log, are this long.
PAGE_BYTES = 4096

QUEUE_MANAGER = Key("queue_manager", "Queue manager")


def statistics(inputs: Inputs, table: str, fields: Sequence[Field], *columns: str, text: tuple[str, ...] = ()) -> Any:
    """A section of a statistics record, with the columns of the fields and further ones."""
    return inputs.table(table, *names_of(fields), *columns, text=text)


def common(table: Any) -> dict[str, Any]:
    """Identity, queue manager and interval length of a statistics section."""
    return identity(table) | {"queue_manager": table.subsystem, "interval_seconds": interval_seconds(table)}


def plain(table: Any, fields: Sequence[Field], **more: Any) -> Any:
    """Facts of a statistics section: what is common, the fields, and what is computed beside them."""
    return table.select(**common(table), **columns_of(table, fields), **more)
