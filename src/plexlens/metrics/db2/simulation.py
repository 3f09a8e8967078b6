"""Simulated buffer pools (SPSIZE) of one Db2 12 or later, SMF 100 IFCID 2: QBSP."""

from __future__ import annotations

from typing import Any

from plexlens.metrics.db2.records import ATTRIBUTES, INTERVAL, SUBSYSTEM, common, document, intervals, pool_name
from plexlens.metrics.definition import Grain, Key, Metric, Rollup, Source
from plexlens.metrics.expressions import ratio, total
from plexlens.metrics.fields import Field, columns_of, facts_of
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MILLISECONDS, PAGES, PER_SECOND, RATIO, SECONDS

_RESULTS = document("Buffer pool simulation results (DSNB431I, DSNB432I)")

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


def _sync(f: Any) -> Any:
    return total(f.avoided_reads_random, f.avoided_reads_sequential)


SIMULATION = Grain(
    name="db2_pool_simulation",
    title="Db2 simulated buffer pools",
    row="the simulation of one buffer pool's larger size in one Db2 in one interval",
    keys=(SUBSYSTEM, Key("pool", "Buffer pool")),
    attributes=ATTRIBUTES,
    facts=(INTERVAL, *facts_of("SMF 100 IFCID 2", FIELDS)),
    sources=(Source("SMF 100", ("smf100_ifcid2_qbsp",), _pools),),
    metrics=(
        Metric(
            "avoided_sync_reads_per_second",
            "Synchronous reads avoidable",
            PER_SECOND,
            "(QBSPDRR + QBSPDRS) / interval",
            _RESULTS,
            lambda f: ratio(_sync(f), f.interval_seconds),
            "What the pool would save were it larger by the simulated pages; right as long as the load stays as it is.",
        ),
        Metric(
            "avoided_async_pages_per_second",
            "Pages of prefetch avoidable",
            PER_SECOND,
            "QBSPDRA / interval",
            _RESULTS,
            lambda f: ratio(f.avoided_pages_async, f.interval_seconds),
        ),
        Metric(
            "avoided_group_reads_per_second",
            "Reads of the group buffer pool avoidable",
            PER_SECOND,
            "(QBSPGRR + QBSPGRS) / interval",
            _RESULTS,
            lambda f: ratio(total(f.avoided_group_reads_random, f.avoided_group_reads_sequential), f.interval_seconds),
        ),
        Metric(
            "avoided_delay",
            "Delay of an avoidable synchronous read",
            MILLISECONDS,
            "QBSPDTM / (QBSPDRR + QBSPDRS)",
            _RESULTS,
            lambda f: ratio(f.avoided_seconds, _sync(f)),
        ),
        Metric(
            "avoided_sync_reads_per_page",
            "Synchronous reads avoidable per second and page",
            RATIO,
            "(QBSPDRR + QBSPDRS) / interval / QBSPIUS",
            _RESULTS,
            lambda f: ratio(_sync(f), f.simulated_pages * f.interval_seconds),
            "Ranks pools by what a page more is worth to each.",
        ),
        Metric(
            "random_share",
            "Random share of avoidable reads",
            FRACTION,
            "QBSPDRR / (QBSPDRR + QBSPDRS)",
            _RESULTS,
            lambda f: ratio(f.avoided_reads_random, _sync(f)),
        ),
    ),
)
