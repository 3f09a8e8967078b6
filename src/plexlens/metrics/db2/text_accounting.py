"""Facts of Db2 accounting from text reports.

A report prints what one occurrence took on average: the sum is that times the occurrences, and carries the rounding of
the print as often. An excerpt without its highlights counts as one occurrence, which leaves every average as printed.

The same threads listed in two groupings (by plan, then by user) would count twice: a database should hold one of them.
"""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.ingest.text_reports.db2_subsystem_columns import ACCOUNTING, ACTIVITY
from plexlens.metrics.inputs import Inputs, identity, named

#: Key of a grain <- identifier as the report's table names it.
_IDENTIFIERS = {
    "connection_type": "connection_type",
    "connection": "connection",
    "plan": "plan_name",
    "correlation": "correlation_name",
    "auth": "primary_auth",
    "end_user": "end_user",
    "workstation": "workstation",
    "transaction_name": "transaction_name",
    "collection": "collection",
    "package": "package_name",
}

#: Identifiers of which a report must print one for its rows to be of a grain that has these keys.
_FINER = (("correlation",), ("auth", "end_user", "workstation", "transaction_name"))

_AVERAGES = tuple(column.name for column in ACCOUNTING.columns if column.name.startswith("class"))


def _rows(inputs: Inputs, level: str) -> Any:
    table = inputs.table(
        ACCOUNTING.name,
        *_AVERAGES,
        *ACTIVITY,
        "occurrences",
        "commits",
        "rollbacks",
        "interval_seconds",
        "is_average",
        text=("level", "group_name", "member", "db2_version", *dict.fromkeys(_IDENTIFIERS.values())),
    ).filter(lambda t: t.level == level)
    # A total over groups that are listed beside it would count them again.
    report = ibis.window(group_by=[table.source_id, table.record_no])
    is_total = table.plan_name.startswith("*").fill_null(False)
    table = table.mutate(is_total=is_total, parts=(~is_total).cast("int64").sum().over(report))
    return table.filter(lambda t: ~t.is_total | (t.parts == 0))


def _common(table: Any) -> dict[str, Any]:
    return identity(table) | {
        "subsystem": named(table, ibis.coalesce(table.subsystem, table.member)),
        "group_name": table.group_name,
        "member": table.member,
        "db2_version": table.db2_version,
        "interval_seconds": table.interval_seconds,
    }


def _times(table: Any) -> Any:
    """By what the averages of a row are multiplied."""
    return ibis.ifelse(table.is_average.cast("boolean"), table.occurrences.fill_null(1.0), 1.0)


def threads(inputs: Inputs, keys: tuple[str, ...]) -> Any:
    """Facts of threads by the keys of a grain, from the reports that print them."""
    table = _rows(inputs, "plan")
    for names in _FINER:
        if set(names) <= set(keys):
            table = table.filter(ibis.coalesce(*(table[_IDENTIFIERS[name]] for name in names)).notnull())
    times = _times(table)
    facts = {name: table[name] * times for name in (*_AVERAGES, *ACTIVITY)}
    facts["class3_total_seconds"] = ibis.coalesce(facts["class3_total_seconds"], facts["class2_suspended_seconds"])
    return table.select(
        **_common(table),
        **facts,
        **{key: table[_IDENTIFIERS[key]] for key in keys if key in _IDENTIFIERS},
        occurrences=times,
        commits=table.commits,
        rollbacks=table.rollbacks,
    )


def packages(inputs: Inputs, keys: tuple[str, ...]) -> Any:
    """Facts of packages; the report's class 7 times stand in its table's columns of class 2."""
    table = _rows(inputs, "package")
    times = _times(table)
    facts = {name: table[name] * times for name in _AVERAGES if name.startswith("class3")}
    facts |= {name.replace("class2", "class7"): table[name] * times for name in _AVERAGES if name.startswith("class2")}
    facts["class3_total_seconds"] = ibis.coalesce(facts["class3_total_seconds"], facts["class7_suspended_seconds"])
    return table.select(
        **_common(table),
        **facts,
        **{key: table[_IDENTIFIERS[key]] for key in keys if key in _IDENTIFIERS},
        occurrences=times,
    )
