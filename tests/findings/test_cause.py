"""One cause, one finding: what is joined, at what cost, in which order, and whose command is withheld."""

from __future__ import annotations

from typing import Any

from plexlens.findings import Findings, check, load_rules
from plexlens.findings.cause import MOST_OBJECTS
from plexlens.findings.ranking import groups
from tests.findings.made import database
from tests.findings.test_check import rule, waits

RULES = {one.id: one for one in load_rules()}
CPU = {"kind": "CPU", "meaning": "all of it"}


def judged(*ids: str, **tables: list[dict[str, Any]]) -> Findings:
    inputs, grains = database(tables)
    return check(inputs, rules=[RULES[name] for name in ids], grains=grains)


def of(name: str, cost: str = "", thing: str = "{queue_manager}", order: int = 1, **more: Any) -> Any:
    """A rule on waits for log buffers, of one cause."""
    costs = {"cost": CPU | {"seconds": cost}} if cost else {}
    return rule(id=f"test.{name}", cause={"name": "c", "thing": thing, "order": order}, **costs, **more)


def test_overflow_by_rmf_and_by_accounting_is_one() -> None:
    # RMF: 80 s of 800 + 80 in a quarter of an hour. Db2 sees 50 s of it, in two plans.
    rmf = [
        {
            "system": "SYS1",
            "sysplex": "PLEX",
            "class_kind": "service class",
            "period": "1",
            "workload": "DB2",
            "class_name": "DDF",
            "ziip_seconds": 800,
            "ziip_on_cp_seconds": 80,
        }
    ]
    plan = {"system": "SYS1", "subsystem": "DB2A", "connection_type": "DRDA", "connection": "SERVER"}
    db2 = [
        plan | {"plan": "A", "class1_secp_cpu_seconds": 30, "class1_se_cpu_seconds": 300, "interval": 0},
        plan | {"plan": "B", "class1_secp_cpu_seconds": 20, "class1_se_cpu_seconds": 200, "interval": 0},
    ]
    found = judged("workload.ziip_overflow", "db2.ziip_overflow", workload_period=rmf, db2_accounting=db2)
    (finding,) = found.fired
    assert [one.rule.id for one in finding.all] == [
        "workload.ziip_overflow",
        "db2.ziip_overflow",
        "db2.ziip_overflow",
    ]
    # 80 s in a quarter of an hour, and not 80 + 30 + 20.
    assert finding.cost == 320.0
    # Every part of it is in the JSON object.
    (fired,) = found.to_json()["fired"]
    assert fired["cause"] == {"name": "ziip_short", "thing": "SYS1"}
    assert [one["entity"]["plan"] for one in fired["contributing"]] == ["A", "B"]


def test_false_contention_of_two_members_is_the_structures() -> None:
    members = [
        {
            "system": system,
            "subsystem": db2,
            "group_name": "DSNDB0A",
            "xes_lock_requests": 100000,
            "suspends_false": count,
        }
        for system, db2, count in (("SYS1", "DB2A", 2000), ("SYS2", "DB2B", 3000))
    ]
    structure = {
        "sysplex": "PLEX",
        "facility": "CF1",
        "structure": "DSNDB0A_LOCK1",
        "structure_type": "lock",
        "external_requests": 200000,
        "false_contention_requests": 5000,
        "lock_entries": 4194304,
    }
    two = judged("db2.false_contention", db2_locking=members)
    assert [len(one.all) for one in two.fired] == [2]
    both = judged(
        "db2.false_contention",
        "coupling.db2_false_contention",
        db2_locking=members,
        coupling_structure=[structure],
    )
    (finding,) = both.fired
    assert finding.rule.id == "coupling.db2_false_contention"
    assert [one.entity[0].value for one in finding.contributing] == ["SYS2", "SYS1"]
    # Two sysplexes have a structure of that name: whose the members are, nothing tells.
    twice = judged(
        "db2.false_contention",
        "coupling.db2_false_contention",
        db2_locking=members,
        coupling_structure=[structure, structure | {"sysplex": "OTHER", "interval": 0}],
    )
    assert sorted(len(one.all) for one in twice.fired) == [1, 1, 2]


def test_the_cost_of_a_cause_is_that_of_the_rule_that_sees_most() -> None:
    # 100 s of each interval of 100 s: 3,600 s per hour for each of two objects.
    rows = waits(200, manager="A") + waits(200, manager="B")
    rules = [
        of("first", "0.1 * interval_seconds", thing="all {system}"),
        of("second", "interval_seconds", thing="all {system}", order=2),
        of("third", thing="all {system}", order=3),
    ]
    inputs, grains = database({"mq_log": rows})
    (finding,) = check(inputs, rules=rules, grains=grains).fired
    assert finding.rule.id == "test.first"
    assert len(finding.all) == 6
    assert finding.cost == 7200.0
    assert finding.own_cost == 360.0
    assert finding.costing is rules[1].cost


def test_a_thing_that_nobody_knows_is_not_joined() -> None:
    rows = waits(200, manager="A") + waits(300, manager="B")
    inputs, grains = database({"mq_log": [row | {"sysplex": None} for row in rows]})
    rules = [of("first", thing="{sysplex}", by=["sysplex", "queue_manager"])]
    found = check(inputs, rules=rules, grains=grains)
    assert [len(one.all) for one in found.fired] == [1, 1]


def test_what_is_shown_is_what_the_order_rests_on() -> None:
    """Many small objects together cost more than one larger one, and stand before it."""
    rows = [row for n in range(4) for row in waits(200, manager=f"Q{n}")]
    many = rule(id="test.many", cost=CPU | {"seconds": "0.02 * interval_seconds"})
    single = rule(id="test.single", where="queue_manager = 'Q0'", cost=CPU | {"seconds": "0.05 * interval_seconds"})
    inputs, grains = database({"mq_log": rows})
    found = check(inputs, rules=[many, single], grains=grains)
    # 4 x 72 s per hour against 180.
    assert [one.rule.id for one in found.fired] == ["test.many"] * 4 + ["test.single"]
    assert [(group.rule.id, round(group.cost or 0, 6)) for group in groups(found.fired)] == [
        ("test.many", 288.0),
        ("test.single", 180.0),
    ]
    assert [one.rank for one in found.fired] == [1, 2, 3, 4, 5]


def test_beyond_the_worst_the_others_are_counted() -> None:
    rows = [row for n in range(MOST_OBJECTS + 5) for row in waits(200 + n, manager=f"Q{n:02}")]
    rules = [of("first", thing="{system}"), of("second", thing="{system}", order=2)]
    inputs, grains = database({"mq_log": rows})
    found = check(inputs, rules=rules, grains=grains)
    (finding,) = found.fired
    # The lead and the 25 worst of the others of its rule; 25 of the other rule.
    assert len(finding.all) == 1 + 2 * MOST_OBJECTS
    assert found.left_out == {"test.first": 4, "test.second": 5}


def test_a_command_that_another_finding_speaks_against_is_withheld() -> None:
    pool = {"subsystem": "DB2A", "pool": "BP1", "sync_reads": 180000, "buffers": 40000}
    paged = pool | {"page_ins_read": 900, "pool_bytes": 163840000}
    (one,) = (f for f in judged("db2.pool_read_rate", "db2.pool_page_ins", db2_pool=[pool]).fired)
    assert one.command == "-ALTER BUFFERPOOL(BP1) VPSIZE(48000)"
    found = judged("db2.pool_read_rate", "db2.pool_page_ins", db2_pool=[paged])
    fired = {one.rule.id: one for one in found.fired}
    assert fired["db2.pool_page_ins"].command == "-ALTER BUFFERPOOL(BP1) VPSIZE(36000)"
    assert (fired["db2.pool_read_rate"].command, fired["db2.pool_read_rate"].undo) == ("", "")
    assert "db2.pool_page_ins" in fired["db2.pool_read_rate"].remarks[0]
    # Another pool's page-ins say nothing of this one.
    other = judged("db2.pool_read_rate", "db2.pool_page_ins", db2_pool=[pool, paged | {"pool": "BP2", "interval": 0}])
    commands = {one.name: one.command for one in other.fired if one.rule.id == "db2.pool_read_rate"}
    assert commands == {"SYS1 / DB2A / BP1": "-ALTER BUFFERPOOL(BP1) VPSIZE(48000)", "SYS1 / DB2A / BP2": ""}


def test_rules_of_one_cause_name_one_speaker() -> None:
    """Two rules of one cause that may meet in one thing have an order between them."""
    seen: dict[tuple[str, int], str] = {}
    for one in RULES.values():
        if one.cause is not None:
            other = seen.setdefault((one.cause.name, one.cause.order), one.id)
            apart = {other, one.id} == {"coupling.db2_false_contention", "coupling.false_contention"}
            assert other == one.id or apart, f"{other} and {one.id}"
