"""What the studies' authors say of their own numbers, and what the rules say of the same.

The numbers are those that the studies print; what must be found, and what must not, is what their authors conclude. A
count that is printed as 7270.9K is taken as 7,270,900.
"""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.findings import Finding, Findings, Severity, check, load_rules
from tests.findings.made import database

RULES = load_rules()

#: Buffer pool BP1 of the study of 2014, 2,424.49 of 7,270.9K getpages a second.
BP1: dict[str, Any] = {
    "seconds": 7270.9e3 / 2424.49,
    "subsystem": "DB2A",
    "pool": "BP1",
    "buffers": 40000,
    "active_buffers": 3014.44,
    "getpages": 7270.9e3,
    "getpages_sequential": 3,
    "sync_reads": 624.5e3,
    "sync_reads_sequential": 1,
    "sequential_prefetch_reads": 2,
    "sequential_prefetch_pages": 61,
    "list_prefetch_reads": 0,
    "list_prefetch_pages": 0,
    "dynamic_prefetch_reads": 233.3e3,
    "dynamic_prefetch_pages": 5696.0e3,
    "prefetch_disabled_no_buffer": 0,
    "prefetch_disabled_no_engine": 0,
    "page_ins_read": 1270,
    "page_ins_write": 0,
    "buffer_updates": 8674.5e3,
    "pages_written": 1662.7e3,
    "sync_writes": 1127,
    "async_writes": 147.1e3,
    "deferred_write_threshold": 0,
    "vertical_write_threshold": 1593,
    "data_manager_threshold": 0,
    "write_engine_unavailable": 0,
    "unavailable_buffer": 0,
    "expansion_failures": 0,
}

#: The pool of the subsystem that "ate the system": a day of it, with a backout.
BACKOUT: dict[str, Any] = BP1 | {
    "seconds": 447.0e6 / 5398.69,
    "buffers": 232.3e3,
    "active_buffers": 1037.85,
    "getpages": 447.0e6,
    "getpages_sequential": 110.8e6,
    "sync_reads": 20658.6e3,
    "sync_reads_sequential": 4244.1e3,
    "sequential_prefetch_reads": 1492.0e3,
    "sequential_prefetch_pages": 46269.7e3,
    "list_prefetch_reads": 290.5e3,
    "list_prefetch_pages": 5613.4e3,
    "dynamic_prefetch_reads": 8848.1e3,
    "dynamic_prefetch_pages": 133.9e6,
    "prefetch_disabled_no_engine": 25475,
    "page_ins_read": 0,
    "buffer_updates": 57165.1e3,
    "pages_written": 7549.6e3,
    "sync_writes": 17486,
    "async_writes": 2356.3e3,
    "deferred_write_threshold": 25819,
    "vertical_write_threshold": 5658,
    "write_engine_unavailable": 47,
}

#: The pool that "is what we like to see".
BP20: dict[str, Any] = BP1 | {
    "seconds": 234.1e6 / 2715.21,
    "pool": "BP20",
    "buffers": 90000,
    "active_buffers": 100.44,
    "getpages": 234.1e6,
    "getpages_sequential": 104.6e6,
    "sync_reads": 10878.4e3,
    "sync_reads_sequential": 29762,
    "sequential_prefetch_reads": 788.9e3,
    "sequential_prefetch_pages": 50206.6e3,
    "list_prefetch_reads": 41866,
    "list_prefetch_pages": 1276.8e3,
    "dynamic_prefetch_reads": 1139.7e3,
    "dynamic_prefetch_pages": 33286.0e3,
    "page_ins_read": 0,
    "buffer_updates": 18540.8e3,
    "pages_written": 1014.4e3,
    "sync_writes": 8935,
    "async_writes": 218.9e3,
    "deferred_write_threshold": 227,
    "vertical_write_threshold": 184.4e3,
}


def found_in(**tables: Any) -> Findings:
    inputs, grains = database(tables)
    return check(inputs, rules=[rule for rule in RULES if rule.grain in tables], grains=grains)


def every(found: Findings) -> list[Finding]:
    """Findings, and what other rules see of their causes."""
    return [one for lead in found.fired for one in (lead, *lead.contributing)]


def names(found: Findings) -> set[str]:
    return {one.rule.id for one in every(found)}


def evidence(found: Findings, rule: str, column: str) -> float | None:
    (one,) = (one for one in every(found) if one.rule.id == rule)
    return next(part.value for part in one.evidence if part.column == column)


def test_paging_is_the_problem_of_bp1_and_synchronous_writes_are_not() -> None:
    """Page-ins tell of too little memory; synchronous writes without the data management threshold are not problem."""
    found = found_in(db2_pool=[BP1])
    assert names(found) == {"db2.pool_page_ins", "db2.pool_read_rate", "db2.pool_page_fix", "db2.pool_residency"}
    # 0.40 a second is printed, of 1,270 in 2,998.94 s: 0.42.
    assert evidence(found, "db2.pool_page_ins", "page_ins_per_second") == pytest.approx(0.42, abs=0.005)
    assert {"db2.pool_data_manager_threshold", "db2.pool_pages_per_write"} <= {one.rule.id for one in found.passed}


def test_the_subsystem_that_ate_its_system() -> None:
    """No read engine for prefetch; no write engine, to be fixed; DWQT above VDWQT, to be turned; 3.18 pages a write."""
    found = found_in(db2_pool=[BACKOUT])
    wrong = {"prefetch_no_engine", "no_write_engine", "horizontal_writes", "pages_per_write"}
    assert {f"db2.pool_{name}" for name in wrong} <= names(found)
    assert evidence(found, "db2.pool_pages_per_write", "pages_per_write") == pytest.approx(3.18, abs=0.005)
    assert "db2.pool_page_ins" not in names(found)
    (turned,) = (one for one in every(found) if one.rule.id == "db2.pool_horizontal_writes")
    assert turned.command.endswith("-ALTER BUFFERPOOL(BP1) VDWQT(0,128)")


def test_its_log_tells_of_a_backout() -> None:
    """A lot of rollbacks, and 1,317 reads a second of the active log; none from archives; 11 waits for a buffer."""
    seconds = 67691.3e3 / 817.53
    log = {
        "seconds": seconds,
        "subsystem": "DB2A",
        "reads_output_buffer": 67691.3e3,
        "reads_active_log": 109.1e6,
        "reads_archive_log": 0,
        "tape_contention_waits": 0,
        "reads_delayed": 0,
        "archive_read_allocations": 0,
        "output_buffer_unavailable": 11,
        "output_buffer_paged_in": 0,
        "records_created": 156.7e6,
        "write_requests": 4285.9e3,
        "control_intervals_written": 20273.8e3,
    }
    services = {
        "seconds": seconds,
        "subsystem": "DB2A",
        "threads_created": 1464.6e3,
        "threads_queued": 0,
        "threads_peak": 130,
        "rollbacks": 23038,
        "commits_phase_2": 322.1e3,
        "commits_single_phase": 367.4e3,
        "commits_read_only": 1232.0e3,
        "system_checkpoints": 381,
    }
    found = found_in(db2_log=[log], db2_subsystem=[services])
    assert names(found) == {"db2.log_backout", "db2.log_buffer_waits", "db2.rollbacks"}
    rate = evidence(found, "db2.log_backout", "active_log_reads_per_second")
    assert rate == pytest.approx(1317.22, rel=1e-3)
    (backout,) = (one for one in found.fired if one.rule.id == "db2.log_backout")
    assert backout.severity is Severity.HIGH
    assert "db2.threads_queued" in {one.rule.id for one in found.passed}


def test_the_writes_that_one_likes_to_see() -> None:
    found = found_in(db2_pool=[BP20])
    writes = {"horizontal_writes", "no_write_engine", "pages_per_write", "prefetch_no_engine", "prefetch_no_buffer"}
    assert not {f"db2.pool_{name}" for name in writes} & names(found)


def test_prefetch_that_nobody_asks_for() -> None:
    """405,898 getpages in 15 minutes, 572,517 pages read, 62.4 % of them by dynamic prefetch: -41.0 %."""
    row = BP1 | {
        "seconds": 900,
        "getpages": 405898,
        "getpages_sequential": 4,
        "sync_reads": 215208,
        "sequential_prefetch_reads": 4,
        "sequential_prefetch_pages": 90,
        "dynamic_prefetch_reads": 14186,
        "dynamic_prefetch_pages": 357219,
    }
    found = found_in(db2_pool=[row])
    share = evidence(found, "db2.pool_prefetch_in_vain", "system_hit_fraction")
    assert share == pytest.approx(-0.41, abs=0.0006)


#: Read I/Os a second of each pool before tuning, as the study of 2014 prints them.
BEFORE = {
    "BP0": 0.01,
    "BP1": 239.56,
    "BP2": 859.45,
    "BP3": 0.07,
    "BP4": 0.0,
    "BP6": 49.19,
    "BP7": 0.0,
    "BP8": 389.91,
    "BP9": 965.14,
    "BP10": 313.05,
    "BP11": 1226.28,
    "BP8K0": 0.0,
}


def test_pools_stand_in_the_order_of_their_reads() -> None:
    """A high rate, spread over several pools; BP2, BP9 and BP11 were the ones to enlarge."""
    rows = [
        {"seconds": 2656, "interval": 0, "subsystem": "DE34", "pool": pool, "sync_reads": rate * 2656, "buffers": 20000}
        for pool, rate in BEFORE.items()
    ]
    found = found_in(db2_pool=rows)
    order = [one.entity[-1].value for one in found.fired if one.rule.id == "db2.pool_read_rate"]
    assert order == ["BP11", "BP9", "BP2", "BP8", "BP10", "BP1"]
    # 33 us of each: 1,226.28 x 3,600 x 33 us.
    costs = [one.cost for one in found.fired if one.rule.id == "db2.pool_read_rate"]
    assert costs[0] == pytest.approx(1226.28 * 3600 * 33e-6)
    assert found.fired[0].rule.id == "db2.pool_read_rate"


def test_the_group_buffer_pool_of_1996_is_in_order() -> None:
    """Figure 2: GBP6 of DB2I1 in ten minutes; a read hit of 13 %, nothing failed. Its author finds no fault in it."""
    row = {
        "seconds": 600,
        "subsystem": "DB2I1",
        "group_pool": "GBP6",
        "reads_invalid_data": 53,
        "reads_invalid_no_data": 0,
        "reads_absent_data": 4,
        "reads_absent_no_data": 372,
        "changed_pages_sync": 430,
        "changed_pages_async": 0,
        "clean_pages_sync": 0,
        "clean_pages_async": 0,
        "pages_castout": 1,
        "castout_engine_unavailable": 0,
        "write_engine_unavailable": 0,
        "write_failed_no_storage": 0,
    }
    found = found_in(db2_group_pool=[row])
    assert names(found) == set()
    fine = {one.rule.id for one in found.passed}
    assert {"db2.group_pool_write_failed", "db2.group_pool_no_engine", "db2.group_pool_invalid_miss"} <= fine
    # What the figure does not tell is not taken for good.
    assert {one.rule.id for one in found.not_checked} == {
        "db2.group_pool_castout_by_pool",
        "db2.group_pool_group_write_failed",
        "db2.group_pool_page_locks",
        "db2.group_pool_secondary_failed",
    }


def test_false_contention_of_1996_is_below_the_guideline() -> None:
    """Table 2: 29K requests, 517 delayed, 515 by contention, 199 of them false: so small that there is no concern."""
    row = {
        "seconds": 120,
        "facility": "T1CF2LP",
        "structure": "DSNDB2B_LOCK1",
        "structure_type": "lock",
        "external_requests": 29e3,
        "contention_requests": 515,
        "false_contention_requests": 199,
    }
    found = found_in(coupling_structure=[row])
    assert "coupling.db2_false_contention" in {one.rule.id for one in found.passed}


def test_the_ziips_of_2008_were_full() -> None:
    """Case 1-2: 62.5 % eligible and 56.6 % redirected; the rest, SECP CPU, overflowed to general processors.

    Averages of a transaction in seconds, 869,793 of them in the time that RMF reports; suspended 16.399 ms.
    """
    count = 869793
    each = {
        "class1_elapsed_seconds": 0.019216,
        "class2_elapsed_seconds": 0.017801,
        "class1_cp_cpu_seconds": 0.000575,
        "class2_cp_cpu_seconds": 0.000536,
        "class1_secp_cpu_seconds": 0.000078,
        "class1_se_cpu_seconds": 0.000750,
        "class2_se_cpu_seconds": 0.000701,
        "class3_total_seconds": 0.016399,
    }
    row = {
        "interval": 0,
        "subsystem": "DB2A",
        "connection_type": "DRDA",
        "connection": "SERVER",
        "plan": "DISTSERV",
        "occurrences": count,
        "commits": count,
        "rollbacks": 0,
    }
    found = found_in(db2_accounting=[row | {name: value * count for name, value in each.items()}])
    assert names(found) == {"db2.ziip_overflow"}
    (overflow,) = found.fired
    assert overflow.severity is Severity.HIGH
    assert evidence(found, "db2.ziip_overflow", "ziip_eligible_fraction") == pytest.approx(0.625, abs=0.0005)
    assert evidence(found, "db2.ziip_overflow", "ziip_share") == pytest.approx(0.566, abs=0.0005)
    # 78 us of 828 us that were eligible.
    assert evidence(found, "db2.ziip_overflow", "ziip_overflow_fraction") == pytest.approx(0.0942, abs=0.0001)
    # 0.165 of 17.801 ms are neither CPU nor a wait.
    assert "db2.not_accounted" in {one.rule.id for one in found.passed}
