"""How rules are judged: intervals, shares, percentiles, hours, releases, evidence, cost, what is missing, the order."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens.findings import Finding, Findings, Kept, Lack, Rule, Severity, check, load_rules
from plexlens.findings.cause import MOST_OBJECTS
from plexlens.findings.check import needs
from plexlens.findings.making import Draft, make
from plexlens.findings.ranking import NOTICEABLE, ranked
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.reduction import reduced
from plexlens.pdb.engine import add_table, tables_of
from tests.findings.made import START, database
from tests.metrics.raw import inputs as raw_inputs
from tests.metrics.raw import row as raw_row

RULE: dict[str, Any] = {
    "id": "test.rule",
    "title": "A rule for tests",
    "grain": "mq_log",
    "by": ["system", "queue_manager"],
    "condition": "buffer_waits_per_second > 1",
    "severity": "low",
    "evidence": ["buffer_waits_per_second", "buffer_waits"],
    "sentence": "{queue_manager}: {buffer_waits_per_second}, {buffer_waits}.",
    "action": "Look.",
    "source": {"document": "None", "where": "Nowhere", "threshold": "chosen"},
}


def rule(**changes: Any) -> Rule:
    """The rule above with some keys changed; None takes one out."""
    values = {key: value for key, value in (RULE | changes).items() if value is not None}
    return make(Draft(values["id"], values, {}), GRAINS)


def waits(*counts: float | None, manager: str = "MQPA", **more: Any) -> list[dict[str, Any]]:
    """Rows of one queue manager: counts of waits in one interval of 100 s after the other."""
    return [
        {"seconds": 100, "interval": n, "queue_manager": manager, "buffer_waits": count} | more
        for n, count in enumerate(counts)
    ]


def judge(one: Rule, rows: list[dict[str, Any]]) -> Findings:
    inputs, grains = database({one.grain: rows})
    return check(inputs, rules=[one], grains=grains)


# --- intervals --------------------------------------------------------------------------------------------------------


def test_numbers_are_of_the_intervals_in_which_it_holds() -> None:
    # 200, 300 and 400 in 100 s each are above 1/s; 50 is not. Together 900 in 300 s: 3/s, not the mean of anything.
    (one,) = judge(rule(), waits(200, 50, 300, 400)).fired
    assert {part.column: part.value for part in one.evidence} == {"buffer_waits_per_second": 3.0, "buffer_waits": 900.0}
    assert one.sentence == "MQPA: 3.00 per second, 900."
    assert (one.holding, one.intervals) == (3, 4)
    assert (one.worst, one.worst_time) == (4.0, START + timedelta(seconds=300))
    assert (one.start, one.end) == (START, START + timedelta(seconds=400))
    assert [(part.column, part.title, part.value) for part in one.entity] == [
        ("system", "System", "SYS1"),
        ("queue_manager", "Queue manager", "MQPA"),
    ]
    assert one.name == "SYS1 / MQPA"


def test_the_span_ends_with_the_last_interval_in_which_it_holds() -> None:
    # The fourth interval of 100 s begins at 08:05.
    (one,) = judge(rule(), waits(0, 0, 0, 200, 0)).fired
    assert (one.start, one.end) == (START + timedelta(seconds=300), START + timedelta(seconds=400))


def test_an_interval_without_a_value_is_not_counted() -> None:
    (one,) = judge(rule(min_share=0.5), waits(200, None, None, 0)).fired
    assert (one.holding, one.intervals) == (1, 2)


@pytest.mark.parametrize(("holding", "fires"), [(1, False), (2, True), (3, True)])
def test_the_share_of_intervals_that_is_asked_for(holding: int, fires: bool) -> None:
    # Of four: a half is two of them, and two are enough.
    found = judge(rule(min_share=0.5), waits(*[200] * holding, *[0] * (4 - holding)))
    assert bool(found.fired) is fires
    assert bool(found.passed) is not fires


def test_the_worst_can_be_the_lowest() -> None:
    (one,) = judge(
        rule(condition="buffer_waits_per_second < 5", worst="lowest", min_share=0.1), waits(200, 300, 900, 100)
    ).fired
    assert (one.worst, one.worst_time) == (1.0, START + timedelta(seconds=300))


def test_intervals_of_two_systems_that_do_not_end_together_are_judged_by_the_moment() -> None:
    """Two systems send 60 requests per second each; the second one's intervals lie 420 s after the first one's."""
    rows = [
        {"system": system, "sysplex": "PLEX", "facility": "CF01", "structure": "DB_LOCK1", "structure_type": "lock"}
        | {"interval": n + late, "seconds": 900, "sync_requests": 54_000}
        for system, late in (("SYS1", 0.0), ("SYS2", 420 / 900))
        for n in range(3)
    ]
    keys: dict[str, Any] = {"grain": "coupling_structure", "by": ["sysplex", "facility", "structure"]}
    both = rule(
        **keys,
        condition="requests_per_second > 100",
        evidence=["requests_per_second", "sync_requests"],
        sentence="{structure}: {requests_per_second}.",
    )
    (one,) = judge(both, rows).fired
    # 60 per second from 0 to 420 s, 120 to 2,700 s, 60 to 3,120 s: five of the seven pieces, 273,600 requests.
    assert (one.holding, one.intervals) == (5, 7)
    assert (one.start, one.end) == (START + timedelta(seconds=420), START + timedelta(seconds=2700))
    assert {part.column: part.value for part in one.evidence} == pytest.approx(
        {"requests_per_second": 120.0, "sync_requests": 273_600.0}
    )
    assert judge(both, [line for line in rows if line["system"] == "SYS1"]).fired == ()


def test_hours_are_added_up_before_they_are_judged() -> None:
    # 30 intervals of 100 s within the hour that begins at 08:00 (3,000 s): 1,500 waits, half a wait a second. The next
    # hour: 8 intervals with 200 each, 2/s.
    rows = waits(*[50] * 30) + [
        {"seconds": 100, "interval": 36 + n, "queue_manager": "MQPA", "buffer_waits": 200} for n in range(8)
    ]
    (one,) = judge(rule(time="hour"), rows).fired
    assert (one.holding, one.intervals) == (1, 2)
    assert one.evidence[0].value == 2.0
    assert one.evidence[1].value == 1600.0


def test_all_the_time_together_has_one_value_and_no_worst() -> None:
    # 600 in 400 s.
    (one,) = judge(rule(time="all"), waits(0, 0, 600, 0)).fired
    assert one.evidence[0].value == 1.5
    assert (one.worst_time, one.holding, one.intervals) == (None, 1, 1)
    assert judge(rule(time="all"), waits(0, 0, 400, 0)).fired == ()


def test_percentiles_over_the_intervals() -> None:
    # 0, 1, 2, 3, 4 per second: the median is 2, and all of the object's intervals are its evidence: 1,000 in 500 s.
    rows = waits(0, 100, 200, 300, 400)
    (one,) = judge(rule(percentile=50, condition="buffer_waits_per_second >= 2"), rows).fired
    assert (one.holding, one.evidence[0].value) == (5, 2.0)
    assert judge(rule(percentile=50, condition="buffer_waits_per_second > 2"), rows).fired == ()
    # Nine tenths of the way: 3.6.
    assert judge(rule(percentile=90, condition="buffer_waits_per_second > 3.5"), rows).fired
    assert judge(rule(percentile=90, condition="buffer_waits_per_second > 3.7"), rows).fired == ()


def test_each_object_has_its_own_percentile() -> None:
    rows = waits(300, 300, manager="A") + waits(0, 0, manager="B")
    (one,) = judge(rule(percentile=50, condition="buffer_waits_per_second > 2"), rows).fired
    assert one.name == "SYS1 / A"


# --- objects ----------------------------------------------------------------------------------------------------------


def test_objects_are_judged_apart_and_rolled_up_as_asked() -> None:
    rows = waits(80, manager="A") + waits(80, manager="B")
    assert judge(rule(), rows).fired == ()
    # The system as a whole: 160 in 100 s.
    by_system = rule(by=["system"], sentence="{system}: {buffer_waits_per_second}.")
    (one,) = judge(by_system, rows).fired
    assert (one.name, one.evidence[0].value) == ("SYS1", 1.6)


def test_an_object_without_a_name_is_an_object() -> None:
    rows = [one | {"system": None} for one in waits(200)]
    (one,) = judge(rule(), rows).fired
    assert one.name == "MQPA"
    assert [part.column for part in one.entity] == ["queue_manager"]
    assert one.evidence[1].value == 200.0


def test_rows_that_the_rule_is_not_about_are_left_out_before_the_roll_up() -> None:
    one = rule(
        grain="mq_log_write",
        where="kind = 'one'",
        condition="writes_per_second > 1",
        evidence=["writes_per_second"],
        sentence="{queue_manager}: {writes_per_second}.",
    )
    rows = [
        {"interval": 0, "seconds": 100, "queue_manager": "MQPA", "log_copy": "1", "kind": "one", "writes": 150},
        {"interval": 0, "seconds": 100, "queue_manager": "MQPA", "log_copy": "1", "kind": "more", "writes": 900},
    ]
    (found,) = judge(one, rows).fired
    assert found.evidence[0].value == 1.5


def test_beyond_the_worst_objects_the_others_are_counted() -> None:
    rows = [row for n in range(MOST_OBJECTS + 5) for row in waits(200 + n, manager=f"Q{n:03}")]
    found = judge(rule(), rows)
    assert len(found.fired) == MOST_OBJECTS
    assert found.left_out == {"test.rule": 5}
    # The five with the fewest waits.
    assert {one.entity[1].value for one in found.fired} == {f"Q{n:03}" for n in range(5, MOST_OBJECTS + 5)}
    assert judge(rule(), rows[:3]).left_out == {}


def test_an_attribute_that_differs_within_an_object_is_not_told() -> None:
    one = rule(
        grain="mq_page_set",
        by=["system", "queue_manager"],
        condition="full > 0",
        evidence=["full"],
        sentence="pool {pool}: {full}.",
    )
    row = {"interval": 0, "queue_manager": "MQPA", "full": 1}
    (same,) = judge(one, [row | {"page_set": "1", "pool": "3"}, row | {"page_set": "2", "pool": "3"}]).fired
    (other,) = judge(one, [row | {"page_set": "1", "pool": "3"}, row | {"page_set": "2", "pool": "4"}]).fired
    # Without its name the sentence is none: the title stands in its place.
    assert (same.sentence, other.sentence) == ("pool 3: 2.", "SYS1 / MQPA: A rule for tests.")


# --- severity and cost ------------------------------------------------------------------------------------------------

GRADED = {"grades": {"medium": "buffer_waits_per_second > 2", "high": "buffer_waits_per_second > 3"}}


@pytest.mark.parametrize(
    ("counts", "severity"),
    [((150,), "low"), ((250,), "medium"), ((350,), "high"), ((150, 350), "high"), ((300,), "medium")],
)
def test_the_highest_grade_that_holds(counts: tuple[int, ...], severity: str) -> None:
    (one,) = judge(rule(**GRADED), waits(*counts)).fired
    assert str(one.severity) == severity


def test_a_grade_must_hold_in_the_same_share() -> None:
    # High in one interval of four, low in all: a half is asked for.
    (one,) = judge(rule(min_share=0.5, **GRADED), waits(350, 150, 150, 150)).fired
    assert str(one.severity) == "low"


def test_a_grade_counts_only_where_the_rule_holds() -> None:
    """300 waits would be high, and are beyond what the condition is about."""
    bounded = rule(
        condition="buffer_waits_per_second > 1 and buffer_waits < 250", grades={"high": "buffer_waits > 250"}
    )
    (one,) = judge(bounded, waits(200, 300)).fired
    assert (str(one.severity), one.holding) == ("low", 1)


def test_a_grade_alone_does_not_fire() -> None:
    graded = rule(condition="buffer_waits_per_second > 9", grades={"high": "buffer_waits > 0"})
    assert judge(graded, waits(100)).fired == ()


def test_a_cost_is_of_the_hours_that_the_data_covers() -> None:
    costly = rule(cost={"seconds": "interval_seconds - idle_seconds", "kind": "delay", "meaning": "busy time"})
    # 60 s busy in the interval that holds; four intervals of 100 s: 540 s/h. The other intervals' 40 s do not count.
    rows = [one | {"idle_seconds": idle} for one, idle in zip(waits(200, 0, 0, 0), (40, 60, 100, 100), strict=True)]
    (one,) = judge(costly, rows).fired
    assert one.cost == pytest.approx(540)
    assert str(one.cost_kind) == "delay"


@pytest.mark.parametrize("idle", [100, 150, None])
def test_a_cost_that_is_none_or_unknown_is_not_told(idle: float | None) -> None:
    costly = rule(cost={"seconds": "interval_seconds - idle_seconds", "kind": "delay", "meaning": "busy time"})
    (one,) = judge(costly, waits(200, idle_seconds=idle)).fired
    assert (one.cost, one.cost_kind) == (None, None)


# --- what is missing --------------------------------------------------------------------------------------------------


def test_no_source_is_told_with_the_records_that_would_do() -> None:
    inputs, _ = database({"mq_log": []})
    found = check(inputs, rules=[rule()])
    (one,) = found.not_checked
    assert one.lack is Lack.SOURCE
    assert one.reason == "no SMF 115 (smf115_1_qjst) in the data"
    assert one.needs == ("SMF 115 (smf115_1_qjst)",)
    assert (found.fired, found.passed) == ((), ())


def test_fields_that_no_record_holds_are_told() -> None:
    (one,) = judge(rule(), waits(None, None)).not_checked
    assert one.lack is Lack.FIELDS
    assert one.reason == "not recorded: SMF 115-1 QJSTWTB"


def test_many_missing_fields_are_counted() -> None:
    names = [f"reads_from_{place}" for place in ("buffer", "active", "archive")]
    many = rule(condition=f"{' + '.join([*names, 'buffer_waits', 'checkpoints'])} > 1", evidence=["buffer_waits"])
    many = replace(many, sentence=many.action)
    (one,) = judge(many, waits(None)).not_checked
    assert one.reason.endswith(" and 1 more")
    assert len(one.needs) == 5


def test_records_without_anything_to_judge_are_told() -> None:
    (none,) = judge(rule(where="queue_manager = 'MQPZ'"), waits(200)).not_checked
    assert (none.lack, none.reason) == (Lack.NOTHING, "MQ log: none with queue_manager = 'MQPZ'")
    # Without any read there is no share of reads.
    idle = rule(condition="archive_read_fraction > 1 %", evidence=["archive_read_fraction"])
    idle = replace(idle, sentence=idle.action)
    reads = dict.fromkeys(("reads_from_buffer", "reads_from_active", "reads_from_archive"), 0)
    (none,) = judge(idle, waits(0, **reads)).not_checked
    assert (none.lack, none.reason) == (
        Lack.NOTHING,
        "no activity: no interval has values for all of Log reads from archive logs",
    )


def test_a_grain_that_the_caller_leaves_out_is_told() -> None:
    inputs, _ = database({"mq_log": waits(200)})
    (one,) = check(inputs, rules=[rule()], grains={}).not_checked
    assert one.reason == "this report does not cover mq_log"


def test_what_passed_says_how_much_was_judged() -> None:
    (one,) = judge(rule(), waits(0, 0, 0) + waits(0, None, manager="B")).passed
    assert (one.objects, one.intervals) == (2, 4)


def test_every_rule_comes_out_once() -> None:
    inputs, grains = database({"mq_log": waits(0), "mq_buffer_pool": [], "dasd_device": []})
    rules = load_rules()
    found = check(inputs, rules=rules, grains=grains)
    fired = {one.rule.id for one in found.fired}
    outcomes = [*fired, *(one.rule.id for one in found.passed), *(one.rule.id for one in found.not_checked)]
    assert sorted(outcomes) == [one.id for one in rules]


def test_nothing_of_it_stays_in_the_database() -> None:
    inputs, grains = database({"mq_log": waits(200)})
    before = set(tables_of(inputs.connection))
    check(inputs, rules=[rule()], grains=grains)
    assert set(tables_of(inputs.connection)) == before


# --- releases ---------------------------------------------------------------------------------------------------------


def with_releases(rows: list[dict[str, Any]], **levels: str) -> tuple[Inputs, dict[str, Any]]:
    inputs, grains = database({"mq_log": rows})
    product = pa.table({"system": list(levels), "smf7xmvs": list(levels.values())})
    add_table(inputs.connection, "rmf_product_section", product)
    return Inputs(inputs.connection), grains


@pytest.mark.parametrize(
    ("level", "fires"),
    [("ZV020300", True), ("ZV020400", False), ("ZV010900", True), ("ZV030100", False), ("SP5.2.2", True), ("", True)],
)
def test_a_release_decides(level: str, fires: bool) -> None:
    inputs, grains = with_releases(waits(200), SYS1=level)
    old = rule(releases={"product": "z/OS", "until": "2.3"})
    found = check(inputs, rules=[old], grains=grains)
    assert bool(found.fired) is fires
    if not fires:
        (one,) = found.not_checked
        version = f"{int(level[2:4])}.{int(level[4:6])}"
        told = f"the rule is for z/OS up to 2.3; the data is from SYS1 {version}"
        assert (one.lack, one.reason) == (Lack.RELEASE, told)


def test_systems_of_other_releases_are_left_out() -> None:
    rows = waits(200) + [one | {"system": "SYS2"} for one in waits(300)]
    inputs, grains = with_releases(rows, SYS1="ZV020300", SYS2="ZV020500")
    (old,) = check(inputs, rules=[rule(releases={"product": "z/OS", "until": "2.3"})], grains=grains).fired
    (new,) = check(inputs, rules=[rule(releases={"product": "z/OS", "since": "2.4"})], grains=grains).fired
    assert (old.name, new.name) == ("SYS1 / MQPA", "SYS2 / MQPA")


# --- order ------------------------------------------------------------------------------------------------------------


def made(severity: str, cost: float | None = None, holding: int = 1, name: str = "x") -> Finding:
    """A finding of a rule of its own."""
    (one,) = judge(rule(id=f"test.rule_{name}"), waits(200)).fired
    entity = (replace(one.entity[0], value=name),)
    return replace(one, severity=Severity(severity), cost=cost, holding=holding, entity=entity)


def test_what_stops_comes_first_then_what_costs_then_what_is_grave() -> None:
    wanted = [
        made("critical", name="1"),
        made("low", cost=400, name="2"),
        made("high", cost=300, name="3"),
        made("low", cost=NOTICEABLE, name="4"),
        made("high", cost=NOTICEABLE - 1, holding=1, name="5"),
        made("high", holding=9, name="6"),
        made("high", holding=2, name="7"),
        made("medium", name="8"),
        made("low", cost=NOTICEABLE - 1, name="9"),
        made("low", name="a"),
        made("low", name="b"),
    ]
    order = ranked(reversed(wanted))
    assert "".join(one.name for one in order) == "123456789ab"
    assert [one.rank for one in order] == list(range(1, 12))


def test_objects_of_a_rule_stand_by_their_worst_interval() -> None:
    rows = waits(200, manager="A") + waits(400, manager="B") + waits(300, manager="C")
    assert [one.entity[1].value for one in judge(rule(), rows).fired] == ["B", "C", "A"]
    lowest = rule(condition="buffer_waits_per_second < 5", worst="lowest")
    assert [one.entity[1].value for one in judge(lowest, rows).fired] == ["A", "C", "B"]


def test_the_worst_and_those_at_or_above() -> None:
    found = Findings(fired=ranked([made("low"), made("high"), made("medium")]))
    assert found.worst is Severity.HIGH
    assert [str(one.severity) for one in found.at_or_above(Severity.MEDIUM)] == ["high", "medium"]
    assert found.at_or_above(Severity.CRITICAL) == ()
    assert Findings().worst is None


# --- as JSON ----------------------------------------------------------------------------------------------------------


def test_as_json() -> None:
    inputs, grains = database({"mq_log": waits(200, 0), "mq_storage": []})
    rules = [
        rule(),
        rule(id="test.passes", condition="buffer_waits_per_second > 9"),
        rule(
            id="test.lacks",
            grain="dasd_device",
            by=["volume"],
            condition="ios > 1",
            evidence=["ios"],
            sentence="{volume} {ios}.",
        ),
    ]
    found = json.loads(json.dumps(check(inputs, rules=rules, grains=grains).to_json()))
    (one,) = found["fired"]
    assert one["entity"] == {"system": "SYS1", "queue_manager": "MQPA"}
    assert one["evidence"][0] == {
        "column": "mq_log.buffer_waits_per_second",
        "title": "Waits for a log buffer",
        "value": 2.0,
        "unit": "1/s",
    }
    assert one["span"] == ["2026-03-02T08:00:00Z", "2026-03-02T08:01:40Z"]
    assert one["worst"] == {"value": 2.0, "time": "2026-03-02T08:00:00Z"}
    assert (one["cost"], one["command"], one["undo"]) == (None, None, None)
    assert [(other["rule"], other["intervals"]) for other in found["passed"]] == [("test.passes", 2)]
    (lacking,) = found["not_checked"]
    assert (lacking["rule"], lacking["lack"]) == ("test.lacks", "records missing")
    assert lacking["needs"] == [
        "SMF 74-1 (smf74_1_device)",
        "RMF XML DEVICE (rmf_xml_device)",
        "RMF XML DEVR of Monitor III (rmf_xml_m3_device)",
    ]


# --- from records to findings -----------------------------------------------------------------------------------------


def test_from_raw_tables() -> None:
    """A buffer pool record, its fields as recorded, to the command that enlarges the pool."""
    inputs = raw_inputs(
        smf115_2_qpst=[
            raw_row(1, subsystem="MQPA", qpstpool=3, qpstnbuf=20000, qpstsos=4, qpstdmc=9, qpstcbs=0, qpstcbsl=0)
        ]
    )
    found = check(inputs, rules=[one for one in load_rules() if one.grain == "mq_buffer_pool"])
    first = found.fired[0]
    assert (first.rule.id, str(first.severity)) == ("mq.pool_no_buffer", "critical")
    assert first.command == "* MQPA\nALTER BUFFPOOL(3) BUFFERS(30000)"
    # Too few buffers for both: one finding, with the other rule's numbers behind it.
    assert [[one.rule.id for one in finding.all] for finding in found.fired] == [
        ["mq.pool_no_buffer", "mq.pool_synchronous_writes"]
    ]


def test_facts_that_the_caller_keeps_give_the_same() -> None:
    rules = [rule(), rule(id="test.all", time="all", condition="buffer_waits > 1")]
    inputs, grains = database({"mq_log": waits(200, 50, 300)})
    needed = [needs(one, GRAINS["mq_log"]) for one in rules]
    grain = reduced(grains["mq_log"], {name for columns, _ in needed for name in columns}, [w for _, w in needed])
    made = facts(inputs, grain)
    assert made is not None
    kept = {"mq_log": Kept(grain, made.kept("mine"))}
    assert check(inputs, rules=rules, grains=grains, kept=kept) == check(inputs, rules=rules, grains=grains)


# --- rows that tell no time -------------------------------------------------------------------------------------------


def undated(*counts: float, manager: str = "MQPA") -> list[dict[str, Any]]:
    return [row | {"undated": True} for row in waits(*counts, manager=manager)]


def test_an_object_that_tells_no_time_is_judged_as_one_interval() -> None:
    """An excerpt of a printed report: 200 waits in 100 s, at a time that nobody knows."""
    found = judge(rule(), undated(200) + waits(300, 0, manager="MQPB"))
    unknown, known = sorted(found.fired, key=lambda one: one.name)
    assert (unknown.name, unknown.holding, unknown.intervals) == ("SYS1 / MQPA", 1, 1)
    assert (unknown.start, unknown.end, unknown.worst_time) == (None, None, None)
    assert [part.value for part in unknown.evidence] == [2.0, 200.0]
    assert (known.holding, known.intervals, known.start) == (1, 2, START)


def test_a_cost_of_one_that_tells_no_time_is_of_its_length() -> None:
    costly = rule(cost={"seconds": "interval_seconds - idle_seconds", "kind": "delay", "meaning": "busy time"})
    (one,) = judge(costly, [row | {"idle_seconds": 40} for row in undated(200)]).fired
    # 60 s busy of 100 s.
    assert one.cost == pytest.approx(2160)


def test_several_rows_of_one_object_without_a_time_are_not_added_up() -> None:
    """60 waits in each of two reports of 100 s: of one time they would be above 1/s, and nothing tells."""
    found = judge(rule(), undated(60, 60))
    (one,) = found.not_checked
    assert (one.lack, found.fired, found.passed) == (Lack.TIME, (), ())
    assert one.reason == "MQ log: rows have no time, so rows of the same interval cannot be matched"
    # Beside an object that can be judged they are left out of it.
    (passed,) = judge(rule(), undated(60, 60) + waits(0, 0, manager="MQPB")).passed
    assert (passed.objects, passed.intervals) == (1, 2)


def test_a_rule_that_applies_to_none_says_that_and_not_the_time() -> None:
    (one,) = judge(rule(where="queue_manager = 'MQPZ'"), undated(60, 60)).not_checked
    assert (one.lack, one.reason) == (Lack.NOTHING, "MQ log: none with queue_manager = 'MQPZ'")


def test_an_hour_that_nobody_knows_is_not_judged() -> None:
    (one,) = judge(rule(time="hour"), undated(200)).not_checked
    assert one.lack is Lack.TIME
    (fired,) = judge(rule(time="all"), undated(200)).fired
    assert fired.evidence[1].value == 200.0


# --- commands ---------------------------------------------------------------------------------------------------------


def test_a_command_and_what_takes_it_back() -> None:
    both = rule(command="SET X({2 * buffer_waits:n})", undo="SET X({buffer_waits:n})")
    (one,) = judge(both, waits(200)).fired
    assert (one.command, one.undo) == ("SET X(400)", "SET X(200)")
    (alone,) = judge(rule(command="SET X(1)"), waits(200)).fired
    assert (alone.command, alone.undo) == ("SET X(1)", "")


# --- accounting: rows without intervals in common ---------------------------------------------------------------------


def test_a_cost_of_accounting_is_of_the_time_from_first_to_last() -> None:
    """Records of MQ accounting from 08:00 to 09:00, the last one ending at 09:00: an hour; 30 + 60 s of it lost."""
    costly = rule(
        grain="mq_queue",
        by=["queue"],
        time="all",
        condition="get_cpu_seconds > 0 s",
        evidence=["get_cpu_seconds"],
        sentence="{queue}: {get_cpu_seconds}.",
        cost={"seconds": "get_cpu_seconds", "kind": "CPU", "meaning": "all of it"},
    )
    rows = [
        {"interval": 0, "seconds": 900, "queue_manager": "MQPA", "queue": "Q1", "get_cpu_seconds": 30},
        {"interval": 3, "seconds": 900, "queue_manager": "MQPA", "queue": "Q1", "get_cpu_seconds": 60},
        {"interval": 1, "seconds": 900, "queue_manager": "MQPA", "queue": "Q2", "get_cpu_seconds": 5},
    ]
    fired = judge(costly, rows).fired
    assert {one.name: one.cost for one in fired} == {"Q1": pytest.approx(90), "Q2": pytest.approx(5)}
    spans = {one.name: (f"{one.start:%H:%M}", f"{one.end:%H:%M}") for one in fired}
    assert spans == {"Q1": ("08:00", "09:00"), "Q2": ("08:15", "08:30")}
    # Nothing is known of how long it took: no cost rather than a wrong one.
    (one,) = judge(costly, [rows[0] | {"undated": True}]).fired
    assert one.cost is None


# --- the examples -----------------------------------------------------------------------------------------------------


def test_the_example_dump_has_the_findings_that_its_studies_tell(tmp_path: Path) -> None:
    """What the authors conclude from the tables that the dump is made of."""
    from plexlens.example import write_example
    from plexlens.pdb import Pdb, ingest

    write_example(tmp_path / "example.smf")
    with Pdb.temporary() as pdb:
        ingest([tmp_path / "example.smf"], pdb)
        found = check(Inputs(pdb.connect()))
    fired = {one.rule.id: one for finding in found.fired for one in finding.all}
    # The XML study: zIIPs took what they could, and general processors did zIIP work.
    overflow = fired["workload.ziip_overflow"]
    assert overflow.entity[-1].value == "DB2DDF"
    assert overflow.start == datetime(2008, 5, 15, 17, 0, 0, tzinfo=UTC)
    assert fired["db2.ziip_overflow"].severity is Severity.HIGH
    # RMF and Db2 accounting see the same overflow: one finding, at the cost that RMF sees.
    (joined,) = (finding for finding in found.fired if fired["db2.ziip_overflow"] in finding.all)
    assert joined.rule.id == "workload.ziip_overflow"
    assert joined.cost == overflow.cost
    # The pool study: paging; no engines, thresholds the wrong way round, a backout; pools by their reads a second.
    wrong = {"page_ins", "prefetch_no_engine", "no_write_engine", "horizontal_writes", "prefetch_in_vain"}
    assert {"db2.log_backout", *(f"db2.pool_{name}" for name in wrong)} <= fired.keys()
    tuned = [one.name for one in found.fired if one.rule.id == "db2.pool_read_rate" and "DE34" in one.name]
    assert [name.rpartition(" ")[2] for name in tuned] == ["BP11", "BP9", "BP2", "BP8", "BP10", "BP1"]
    # The CICS study: the QR TCB is the point of contention, not the processor.
    assert fired["cics.qr_always_dispatched"].entity[-1].value == "IYWAYS1"
    assert "db2.pool_data_manager_threshold" in {one.rule.id for one in found.passed}
    # Table 2 of the 1996 study prints 0.7 % false contention, below the guideline.
    assert "coupling.db2_false_contention" in {one.rule.id for one in found.passed}
