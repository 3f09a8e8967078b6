"""One Db2 as a whole (SMF 100 IFCID 1 and 2): threads, commits, SQL, EDM pools, latches, and the statistics' own gaps.

The statistics of an interval are two records written within moments of each other; their rows are brought together by
the nearest ten seconds of the interval's end.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2.records import SYSTEM, common, intervals
from plexlens.metrics.db2.subsystem_fields import SECTIONS, Section
from plexlens.metrics.definition import Fact, Rollup
from plexlens.metrics.fields import columns_of, facts_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT

_GAPS = (
    Fact("restarts", "Starts seen", COUNT, Rollup.COUNT, "SMF 100 QWHSISEQ, or counters that fall"),
    Fact("missing_records", "Statistics records missing", COUNT, Rollup.COUNT, "SMF 100 QWHSISEQ"),
    Fact("unused_records", "Records without interval", COUNT, Rollup.COUNT, "SMF 100: first, or after a start"),
    Fact("records", "Statistics records", COUNT, Rollup.COUNT, "SMF 100"),
)


def _fields() -> tuple[Fact, ...]:
    return tuple(fact for section in SECTIONS for fact in facts_of(section.record, section.fields))


def _section(inputs: Inputs, section: Section) -> Any:
    """A section's rows with the columns of the grain; facts of other sections are null."""
    table = intervals(
        inputs,
        section.table,
        section.fields,
        *section.keys,
        witnesses=section.witnesses,
        long_since_11=section.long_since_11,
        unused=not section.keys,
    )
    own = columns_of(table, section.fields)
    unused = table.unused_because.notnull()
    # Levels and peaks of a record without interval would stand beside no counts.
    known = {key: ibis.ifelse(unused, ibis.null("float64"), column) for key, column in own.items()}
    nothing = ibis.null("float64")
    ten_seconds = ((table.interval_end + ibis.interval(seconds=5)).epoch_seconds() // 10).cast("int64")
    return table.select(
        **common(table),
        moment=ten_seconds,
        restarts=table.restarts,
        missing_records=table.missing_records,
        unused_records=unused.cast("float64"),
        records=ibis.literal(1.0),
        **{fact.name: known.get(fact.name, nothing) for fact in _fields()},
    )


def _subsystems(inputs: Inputs) -> Any:
    parts = [_section(inputs, section) for section in SECTIONS if inputs.has(section.table)]
    rows = parts[0] if len(parts) == 1 else ibis.union(*parts)
    how = {Rollup.COUNT: "sum", Rollup.AMOUNT: "sum", Rollup.LEVEL: "sum", Rollup.PEAK: "max"}
    return (
        rows.group_by([*SYSTEM, "moment"])
        .aggregate(
            **{name: rows[name].max() for name in ("group_name", "member", "db2_version", "utc_offset")},
            **{name: rows[name].max() for name in ("interval_end", "interval_seconds", *(f.name for f in _GAPS))},
            interval_start=rows.interval_start.min(),
            **{fact.name: getattr(rows[fact.name], how[fact.rollup])() for fact in _fields()},
        )
        .drop("moment")
    )
