"""Residency from a trace against the statistics of the same run, which the simulated Db2 recorded."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.replay import SEEN, UNSEEN, Workload, scenario
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import rolled_up
from plexlens.metrics.inputs import Inputs
from plexlens.pools.observation import observe
from plexlens.pools.residency import Residency, residencies
from plexlens.pools.site import connection_of, of_trace, site_of
from plexlens.pools.trace import open_trace
from plexlens.pools.work import look_at
from plexlens.simulate import parse_scenario, simulate_to_smf

SECONDS = 20.0


def recorded(dump: Path) -> dict[str, float]:
    """The metric ``db2_pool.residency`` of each pool over the run, from its SMF 100."""
    inputs = Inputs(connection_of([dump]))
    rows = rolled_up(inputs, GRAINS["db2_pool"], by=("pool",), time="all")
    return {row["pool"]: row["residency"] for row in rows}


def traced(dump: Path) -> dict[str, Residency]:
    """Residency of each pool from the run's page references."""
    trace = open_trace([dump])
    work = look_at(trace)
    pools = of_trace(site_of([dump], None, member="DB1").configuration, work)
    return {one.pool: one for one in residencies(observe(trace, pools, work=work)) if not one.name}


@pytest.mark.parametrize(("workload", "threads"), [(SEEN, 1), (SEEN, 40), (UNSEEN, 4)], ids=["1", "40", "unseen 4"])
def test_the_trace_agrees_with_what_was_recorded(tmp_path: Path, workload: Workload, threads: int) -> None:
    dump = tmp_path / "t.smf"
    simulate_to_smf(parse_scenario(scenario(threads, SECONDS, workload)), dump, page_trace=True)
    statistics, stays = recorded(dump), traced(dump)
    assert statistics.keys() == stays.keys() == {"BP2", "BP3"}
    for name, seconds in statistics.items():
        found = stays[name]
        # Both divide buffers by pages read; the replay of reads is within 2 % (tests/pools/test_replay.py), but for the
        # scanned pages that were in BP3 before: a share of buffers / pages of what first fills the buffers.
        there = workload.scan_buffers / workload.scanned * seconds / SECONDS if name == "BP3" else 0.0
        assert 0.98 - there < found.by_reads / seconds < 1.02, name
        # Stolen pages alone leave out stays that began before the trace or outlast it, and so the longer ones: their
        # mean is too short, by at most the share of the trace that a page stays. Beyond this the rate of the scans
        # differs by a third between both halves of 20 seconds, and pages are weighted by when they are stolen.
        assert found.seconds is not None
        assert 1 - seconds / SECONDS < found.seconds / seconds < 1.1, name
    # BP2 is read at random, BP3 by scans.
    assert stays["BP2"].sequential_seconds is None
    assert stays["BP3"].random_seconds is None
