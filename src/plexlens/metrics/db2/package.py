"""Packages that threads ran (SMF 101 IFCID 239): class 7 times and class 8 suspensions."""

from __future__ import annotations

from typing import Any

import ibis

from plexlens.metrics.db2 import text_accounting
from plexlens.metrics.db2.records import SUBSYSTEM
from plexlens.metrics.db2.suspensions import PACKAGE_CAUSES, columns, recorded_fields
from plexlens.metrics.db2.threads import gathered, with_correlation
from plexlens.metrics.definition import Key
from plexlens.metrics.inputs import Inputs

_KEYS = (
    SUBSYSTEM,
    Key("connection_type", "Connection type"),
    Key("plan", "Plan"),
    Key("collection", "Collection"),
    Key("package", "Package"),
)


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
