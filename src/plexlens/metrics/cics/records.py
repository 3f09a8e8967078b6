"""What the grains of the family share: keys, documents, the reading of statistics.

A collection adds up with those before and after it when it reset the counters: interval (INT), end of day (EOD),
requested with reset (RRT) and unsolicited (USS: a resource went away, and its counters with it). A requested
collection (REQ) resets nothing, so that the next one counts the same again: it is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ibis

from plexlens.metrics.definition import Fact, Key, Rollup, Source
from plexlens.metrics.expressions import interval_seconds
from plexlens.metrics.inputs import RECORD, Inputs, identity
from plexlens.metrics.unit import SECONDS

APPLID = Key("applid", "Region (applid)")

INTERVAL = Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "SMF 110-2 SMFSTLRT, SMFSTCLT")


def document(topic: str) -> str:
    """Source text of a topic of the product's documentation."""
    return f"IBM CICS TS documentation, {topic}"


def statistics(inputs: Inputs, table: str, *columns: str, text: tuple[str, ...] = ()) -> Any:
    """A section of statistics records, without collections that reset nothing.

    Parameters
    ----------
    inputs
        The raw tables.
    table, columns, text
        As `Inputs.table` takes them.

    Returns
    -------
    ibis.expr.types.Table
        Identity columns and those named, and ``generic_applid``.
    """
    section = inputs.table(table, *columns, text=text)
    if not inputs.has("smf110_2_product"):
        return section.mutate(generic_applid=ibis.null("string"))
    product = inputs.table("smf110_2_product", text=("smfstrqt", "smfstprn")).select(
        *RECORD, collection="smfstrqt", generic_applid="smfstprn"
    )
    joined = section.left_join(product, list(RECORD)).drop("source_id_right", "record_no_right")
    return joined.filter(joined.collection.cast("string").fill_null("") != "REQ").drop("collection")


def common(table: Any) -> dict[str, Any]:
    """Identity, region and length of the interval of a section of statistics."""
    return identity(table) | {"applid": table.subsystem, "interval_seconds": interval_seconds(table)}


def any_of(
    sections: tuple[str, ...],
    rows: Callable[[Inputs], Any],
    *,
    kind: str = "SMF 110-2",
    beside: tuple[str, ...] = (),
) -> tuple[Source, ...]:
    """Sources of a grain whose rows come from several sections, of which any is enough.

    Parameters
    ----------
    sections
        Raw tables; those that are missing are for ``rows`` to pass over.
    rows
        Facts from all of them that are there.
    kind
        What a reader calls the source.
    beside
        Raw tables that are needed whichever section is there.
    """

    def source(number: int) -> Source:
        def facts(inputs: Inputs) -> Any:
            table = rows(inputs)
            # The source of an earlier section has told everything already.
            return table.limit(0) if any(inputs.has(earlier) for earlier in sections[:number]) else table

        return Source(kind, (*beside, sections[number]), facts)

    return tuple(source(number) for number in range(len(sections)))


def plus(*tables: Any) -> Any:
    """Rows of several tables, one after the other; a column that a table lacks is null in its rows."""
    kinds: dict[str, Any] = {}
    for table in tables:
        for name, kind in table.schema().items():
            kinds.setdefault(name, kind)
    aligned = [
        table.select(
            **{
                name: table[name].cast(kind) if name in table.columns else ibis.null(kind)
                for name, kind in kinds.items()
            }
        )
        for table in tables
    ]
    return aligned[0] if len(aligned) == 1 else ibis.union(*aligned)
