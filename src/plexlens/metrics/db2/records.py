"""What the statistics grains share: keys, the reading of SMF 100 sections as intervals, names of pools and releases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import ibis

from plexlens.metrics.definition import Key, Rollup
from plexlens.metrics.deltas import deltas
from plexlens.metrics.fields import Field
from plexlens.metrics.inputs import RECORD, Inputs, identity

SUBSYSTEM = Key("subsystem", "Db2")


#: Columns that say whose a row is.
SYSTEM = ("system", "sysplex", "subsystem")

#: Rolled up over time by sum: the counters of the records, which run since the start of Db2.
COUNTED = (Rollup.COUNT, Rollup.SPAN)

HEADER = "smf100_qwhs"
SHARING = "smf100_qwha"

# QWHSRN, the release that wrote the record.
_VERSIONS = {0x81: "8", 0x91: "9", 0xA1: "10", 0xB1: "11", 0xC1: "12", 0xD1: "13"}
_FIRST_WITH_LONG_COUNTERS = 0xB1


def version_of(release: Any) -> Any:
    """Db2 version of a QWHSRN column; null for releases that are not known."""
    return ibis.cases(
        *((release.cast("int64") == code, text) for code, text in _VERSIONS.items()), else_=ibis.null("string")
    )


def pool_name(number: Any, prefix: str = "BP") -> Any:
    """Name of a buffer pool by its number (QBSTPID, QBGLGN): 0 is BP0, 80 BP32K, 81 BP32K1, 100 BP8K0, 120 BP16K0."""
    n = number.cast("int64")
    return ibis.cases(
        (n.isnull(), ibis.null("string")),
        (n.between(0, 49), ibis.literal(prefix).concat(n.cast("string"))),
        (n == 80, ibis.literal(f"{prefix}32K")),
        (n.between(81, 89), ibis.literal(f"{prefix}32K").concat((n - 80).cast("string"))),
        (n.between(100, 109), ibis.literal(f"{prefix}8K").concat((n - 100).cast("string"))),
        (n.between(120, 129), ibis.literal(f"{prefix}16K").concat((n - 120).cast("string"))),
        else_=ibis.literal(f"{prefix}#").concat(n.cast("string")),
    )


def page_bytes(number: Any) -> Any:
    """Page size of a buffer pool by its number, in bytes."""
    n = number.cast("int64")
    return ibis.cases(
        (n.between(80, 89), ibis.literal(32768.0)),
        (n.between(100, 109), ibis.literal(8192.0)),
        (n.between(120, 129), ibis.literal(16384.0)),
        else_=ibis.literal(4096.0),
    )


def with_header(inputs: Inputs, table: Any) -> Any:
    """The rows of an SMF 100 section with ``db2_version``, ``group_name``, ``member``, ``sequence`` and ``wide``.

    ``wide`` is the width of the release's counters where it changed with Db2 11, in bits.
    """
    if inputs.has(HEADER):
        header = inputs.table(HEADER, "qwhsiseq", "qwhsrn")
        header = header.select(
            *RECORD,
            sequence=header.qwhsiseq.cast("float64"),
            db2_version=version_of(header.qwhsrn),
            wide=ibis.ifelse(header.qwhsrn.cast("int64") < _FIRST_WITH_LONG_COUNTERS, 32, 64),
        )
        table = table.left_join(header, list(RECORD)).drop("source_id_right", "record_no_right")
    else:
        table = table.mutate(
            sequence=ibis.null("float64"), db2_version=ibis.null("string"), wide=ibis.literal(64, type="int8")
        )
    if inputs.has(SHARING):
        sharing = inputs.table(SHARING, text=("qwhadsgn", "qwhamemn"))
        sharing = sharing.select(*RECORD, group_name=sharing.qwhadsgn.nullif(""), member=sharing.qwhamemn.nullif(""))
        return table.left_join(sharing, list(RECORD)).drop("source_id_right", "record_no_right")
    return table.mutate(group_name=ibis.null("string"), member=ibis.null("string"))


def intervals(
    inputs: Inputs,
    section: str,
    fields: Sequence[Field],
    *keys: str,
    witnesses: Sequence[str],
    text: tuple[str, ...] = (),
    long_since_11: bool = False,
    unused: bool = False,
) -> Any:
    """A section of the statistics as intervals: counters differenced, levels as they stood at the interval's end.

    Parameters
    ----------
    inputs
        The raw tables.
    section
        The raw table.
    fields
        Facts that are one field each; those that roll up as `COUNTED` are counters.
    keys
        Columns that with the subsystem make one entity.
    witnesses
        Columns of counters whose places are published: a fall of one means a restart.
    text
        Which of `keys` are text, not numbers.
    long_since_11
        Whether counters have 8 bytes from Db2 11 on; else they have 4 and wrap.
    unused
        Whether to keep rows that make no interval (their counters are null).
    """
    levels = [f.column for f in fields if f.rollup not in COUNTED]
    counted = [f.column for f in fields if f.rollup in COUNTED]
    numbers = [*counted, *levels, *(key for key in keys if key not in text)]
    table = with_header(inputs, inputs.table(section, *dict.fromkeys(numbers), text=text))
    width = {f.column: 64 for f in fields if f.unit.base == "s"}
    table = deltas(
        table,
        entity=(*SYSTEM, *keys),
        counters={name: width.get(name, "wide" if long_since_11 else 32) for name in counted},
        witnesses=witnesses,
        sequence="sequence",
    )
    return table if unused else table.filter(table.unused_because.isnull())


def common(table: Any) -> dict[str, Any]:
    """Identity, subsystem, attributes and interval length of a section read by `intervals`."""
    names = ("subsystem", "group_name", "member", "db2_version", "interval_seconds")
    return identity(table) | {name: table[name] for name in names}
