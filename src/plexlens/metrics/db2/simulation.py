"""Simulated buffer pools (SPSIZE) of one Db2 12 or later, SMF 100 IFCID 2: QBSP."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import common, intervals, pool_name
from plexlens.metrics.definition import Rollup
from plexlens.metrics.fields import Field, columns_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import PAGES, SECONDS

# Counters whose places are published: a fall of one means that Db2 started, or that the simulation began anew.
_WITNESSES = ("qbspdrr", "qbspdrs", "qbspdra", "qbspmvi")

FIELDS = (
    Field("simulated_pages", "Pages simulated", "QBSPIUS", PAGES, Rollup.LEVEL),
    Field("simulated_sequential_pages", "Sequential pages simulated", "QBSPSUS", PAGES, Rollup.LEVEL),
    Field("avoided_reads_random", "Random synchronous reads avoidable", "QBSPDRR"),
    Field("avoided_reads_sequential", "Sequential synchronous reads avoidable", "QBSPDRS"),
    Field("avoided_pages_async", "Pages of prefetch avoidable", "QBSPDRA", PAGES),
    Field("avoided_group_reads_random", "Random reads of the group buffer pool avoidable", "QBSPGRR"),
    Field("avoided_group_reads_sequential", "Sequential reads of the group buffer pool avoidable", "QBSPGRS"),
    Field("avoided_group_pages_async", "Pages of group buffer pool prefetch avoidable", "QBSPGRA", PAGES),
    Field("pages_moved_in", "Pages moved into the simulated pool", "QBSPMVI", PAGES),
    Field("avoided_seconds", "Delay avoidable", "QBSPDTM", SECONDS),
)


def _pools(inputs: Inputs) -> Any:
    table = intervals(inputs, "smf100_ifcid2_qbsp", FIELDS, "qbsppid", witnesses=_WITNESSES, long_since_11=True)
    return table.select(**common(table), **columns_of(table, FIELDS), pool=pool_name(table.qbsppid))
