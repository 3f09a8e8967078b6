"""Packages that threads ran (SMF 101 IFCID 239): class 7 times and class 8 suspensions."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2 import text_accounting
from plexlens.metrics.db2.records import SUBSYSTEM
from plexlens.metrics.db2.suspensions import PACKAGE_CAUSES, columns, recorded_fields
from plexlens.metrics.db2.suspensions import facts as suspension_facts
from plexlens.metrics.db2.suspensions import metrics as suspension_metrics
from plexlens.metrics.db2.threads import SHARING_ATTRIBUTES, gathered, with_correlation
from plexlens.metrics.definition import Fact, Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import COUNT, FRACTION, MEAN_COUNT, MILLISECONDS, PERCENTAGE, SECONDS

_RECORD = "SMF 101 IFCID 239"
_TIMES = "IBM OMEGAMON for Db2 documentation, Package Times - Class 7"
_SUSPENSIONS = "IBM OMEGAMON for Db2 documentation, Package Times - Class 8 - Suspensions"
_LAYOUT = "IBM does not publish where the fields stand; see docs/dsect.md for the way to the exact layout."

_KEYS = (
    SUBSYSTEM,
    Key("connection_type", "Connection type"),
    Key("plan", "Plan"),
    Key("collection", "Collection"),
    Key("package", "Package"),
)

_FACTS = (
    Fact("occurrences", "Package entries", COUNT, Rollup.COUNT, f"{_RECORD} QPAC, one each"),
    Fact("sql_statements", "SQL statements", COUNT, Rollup.COUNT, f"{_RECORD} QPACSQLC"),
    Fact("class7_elapsed_seconds", "Elapsed time in Db2", SECONDS, Rollup.COUNT, f"{_RECORD} QPACSCT"),
    Fact("class7_cp_cpu_seconds", "CP CPU time in Db2", SECONDS, Rollup.COUNT, f"{_RECORD} QPACTJST"),
    Fact("class7_se_cpu_seconds", "Specialty engine CPU time in Db2", SECONDS, Rollup.COUNT, f"{_RECORD} QPACZITM"),
    Fact("class7_entries", "Entries to and exits from Db2", COUNT, Rollup.COUNT, f"{_RECORD} QPACARNA"),
    *suspension_facts(PACKAGE_CAUSES, _RECORD),
)


def cpu(f: Any) -> Any:
    """Class 7 CPU seconds on all engines."""
    return total(f.class7_cp_cpu_seconds, f.class7_se_cpu_seconds)


def not_accounted(f: Any) -> Any:
    """Class 7 elapsed seconds that are neither CPU nor suspensions; null without class 7 or class 8."""
    return f.class7_elapsed_seconds - cpu(f).fill_null(0.0) - f.class3_total_seconds


_TIMED = ("qpacsqlc", "qpacsct", "qpactjst", "qpaczitm", "qpacarna")


def _packages(inputs: Inputs) -> Any:
    waits = recorded_fields(PACKAGE_CAUSES, "QPAC")
    table = inputs.table("smf101_ifcid239_qpac", *_TIMED, *waits, text=("qpaccoln", "qpacpkid"))
    table = with_correlation(inputs, table)
    table = table.mutate(collection=table.qpaccoln, package=table.qpacpkid, occurrences=ibis.literal(1.0))
    f = gathered(inputs, table, (key.name for key in _KEYS), summed=("occurrences", *_TIMED, *waits))
    return f.mutate(
        sql_statements=f.qpacsqlc,
        class7_elapsed_seconds=f.qpacsct,
        class7_cp_cpu_seconds=f.qpactjst,
        class7_se_cpu_seconds=f.qpaczitm,
        class7_entries=f.qpacarna,
        **columns(f, PACKAGE_CAUSES),
    )


def _packages_printed(inputs: Inputs) -> Any:
    return text_accounting.packages(inputs, tuple(key.name for key in _KEYS))


PACKAGE = Grain(
    name="db2_package",
    title="Db2 packages",
    row="one package of one plan and kind of connection, by the quarter of an hour in which its threads ended",
    keys=_KEYS,
    attributes=SHARING_ATTRIBUTES,
    facts=_FACTS,
    sources=(
        Source("SMF 101", ("smf101_ifcid239_qpac",), _packages),
        Source(text_accounting.REPORT, ("text_db2_accounting",), _packages_printed),
    ),
    metrics=(
        Metric(
            "cpu_seconds",
            "CPU time",
            SECONDS,
            "class7_cp_cpu_seconds + class7_se_cpu_seconds",
            _TIMES,
            cpu,
            _LAYOUT,
        ),
        Metric(
            "elapsed_time",
            "Elapsed time in Db2",
            MILLISECONDS,
            "class7_elapsed_seconds / occurrences",
            _TIMES,
            lambda f: ratio(f.class7_elapsed_seconds, f.occurrences),
        ),
        Metric(
            "cp_time",
            "CP CPU time",
            MILLISECONDS,
            "class7_cp_cpu_seconds / occurrences",
            _TIMES,
            lambda f: ratio(f.class7_cp_cpu_seconds, f.occurrences),
        ),
        Metric(
            "se_time",
            "SE CPU time",
            MILLISECONDS,
            "class7_se_cpu_seconds / occurrences",
            _TIMES,
            lambda f: ratio(f.class7_se_cpu_seconds, f.occurrences),
        ),
        Metric(
            "suspended_time",
            "Suspended",
            MILLISECONDS,
            "class3_total_seconds / occurrences",
            _SUSPENSIONS,
            lambda f: ratio(f.class3_total_seconds, f.occurrences),
            "Class 8, which times packages as class 3 times threads.",
        ),
        Metric(
            "not_accounted_time",
            "Not accounted",
            MILLISECONDS,
            "(class7_elapsed_seconds - class7_cp_cpu_seconds - class7_se_cpu_seconds - class3_total_seconds) / "
            "occurrences",
            _TIMES,
            lambda f: ratio(not_accounted(f), f.occurrences),
            "Waits for a processor, paging and waits that Db2 does not time; all of class 7 where class 8 is off.",
        ),
        Metric(
            "suspended_fraction",
            "Time in Db2 suspended",
            PERCENTAGE,
            "class3_total_seconds / class7_elapsed_seconds",
            _SUSPENSIONS,
            lambda f: ratio(f.class3_total_seconds, f.class7_elapsed_seconds),
        ),
        Metric(
            "ziip_share",
            "Redirected to zIIP",
            FRACTION,
            "class7_se_cpu_seconds / (class7_cp_cpu_seconds + class7_se_cpu_seconds)",
            _TIMES,
            lambda f: ratio(f.class7_se_cpu_seconds, cpu(f)),
            _LAYOUT,
        ),
        Metric(
            "sql_per_occurrence",
            "SQL statements per entry",
            MEAN_COUNT,
            "sql_statements / occurrences",
            _TIMES,
            lambda f: ratio(f.sql_statements, f.occurrences),
        ),
        Metric(
            "cpu_per_sql",
            "CPU time per SQL statement",
            MILLISECONDS,
            "(class7_cp_cpu_seconds + class7_se_cpu_seconds) / sql_statements",
            _TIMES,
            lambda f: ratio(cpu(f), f.sql_statements),
        ),
        *suspension_metrics(PACKAGE_CAUSES, elapsed="class7_elapsed_seconds", source=_SUSPENSIONS),
    ),
)
