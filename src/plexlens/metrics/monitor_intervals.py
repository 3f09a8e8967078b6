"""Monitor records of z/VM, their counters as what they counted between two records of one entity.

Which field counts on, how wide it is and which way it runs, is data (`plexlens.ingest.monitor_map`). The conversion is
that of `plexlens.metrics.cumulative`: a record that is missing makes the interval longer, a counter of 32 bits may
wrap, and a fall is a restart. A counter that runs down is turned. One whose direction is not known is taken the way in
which it did not fall; it never tells a restart. Records that name no system are compared within their file, since
another such file may be of another system.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from plexlens.errors import UsageError
from plexlens.ingest.monitor_map import Counter
from plexlens.metrics.cumulative import differenced
from plexlens.metrics.definition import Differences
from plexlens.pdb.engine import connect, quoted

_FIRST = ("system", "interval_start", "interval_end", "interval_seconds", "unused_because")

#: The file of a record that names no system.
_UNNAMED = "file of no system"


def between_records(
    rows: pa.Table, key: Sequence[str], counters: Mapping[str, Counter], *, kind: str = "these records"
) -> pa.Table:
    """The rows with each counter as the change since the record before.

    Parameters
    ----------
    rows
        Records of one kind, as `plexlens.ingest.monitor.MonitorReading` gives them.
    key
        Columns that tell the entities of a system apart.
    counters
        The columns that count on.
    kind
        What an error calls the records.

    Returns
    -------
    pyarrow.Table
        System, key, start and length of the interval, ``unused_because`` (why a record makes none: no earlier record,
        restart, same time, no time; null where it makes one), then the fields. A counter is null in a row that makes no
        interval.

    Raises
    ------
    UsageError
        No field of these records counts on, or none has a known direction: a restart would go unseen.
    """
    sure = [name for name, counter in counters.items() if counter.runs != "either"]
    if not sure:
        what = "no field of {} is known to count on" if not counters else "the direction of no counter of {} is known"
        raise UsageError(
            file="",
            what=what.format(kind),
            remedy="leave --intervals out, or list the fields in DIR/vm/counters.csv and give --layouts DIR",
        )
    both = {name for name, counter in counters.items() if counter.runs == "either"}
    turned = {name for name, counter in counters.items() if counter.runs == "down"}
    columns = [
        f"-{quoted(name)}::double as {quoted(name)}" if name in turned else quoted(name) for name in rows.column_names
    ]
    columns += [f"-{quoted(name)}::double as {quoted(_back(name))}" for name in both]
    columns.append(f"case when system is null then source_id end as {quoted(_UNNAMED)}")
    widths = {name: counter.width for name, counter in counters.items()}
    widths |= {_back(name): counters[name].width for name in both}
    differences = Differences(("system", _UNNAMED, *key), widths, witnesses=tuple(sure), keep_unused=True)
    changed = differenced(f"(select {', '.join(columns)} from records)", differences)
    own = [name for name in rows.column_names if name not in {*_FIRST, *key}]
    shown = [quoted(name) for name in ("system", *key, *_FIRST[1:])]
    shown += [
        f"coalesce({quoted(name)}, {quoted(_back(name))}) as {quoted(name)}" if name in both else quoted(name)
        for name in own
    ]
    order = ", ".join(quoted(name) for name in ("interval_end", "record_no"))
    connection = connect()
    try:
        connection.register("records", rows)
        return connection.sql(f"select {', '.join(shown)} from ({changed}) order by {order}").to_arrow_table()
    finally:
        connection.close()


def _back(name: str) -> str:
    """The column of a counter turned."""
    return f"{name} down"
