"""Rates in sentences, and what a finding shows of the other rules that see its cause."""

from __future__ import annotations

from typing import Any

import pytest

from plexlens.findings import check, load_rules
from plexlens.findings.error import RuleError
from plexlens.findings.template import Filling, Template, template
from plexlens.metrics import GRAINS
from plexlens.report.model import Advice
from plexlens.report.pages.findings import _remaining, _sets
from tests.findings.made import database
from tests.findings.test_page import blocks, report

RULES = {rule.id: rule for rule in load_rules()}
POOL = GRAINS["db2_pool"]
PLACES = [(rule.id, place) for rule in RULES.values() for text in (rule.sentence, rule.action) for place in text.places]


def test_every_rate_of_the_bundled_rules_says_what_it_counts() -> None:
    rates = [(rule, place) for rule, place in PLACES if place.unit is not None and place.unit.symbol == "/s"]
    assert len(rates) > 20
    assert [rule for rule, place in rates if not place.noun] == []


def text_of(source: str) -> Template:
    return template(source, POOL, frozenset({"pool"}))


@pytest.mark.parametrize(
    ("rate", "written"),
    [
        (1350.47, "1,350 read I/Os per second"),
        (100.0, "100 read I/Os per second"),
        (99.96, "100 read I/Os per second"),
        (99.9, "99.9 read I/Os per second"),
        (13.54, "13.5 read I/Os per second"),
        (1.35, "1.35 read I/Os per second"),
        (0.001, "<0.01 read I/Os per second"),
    ],
)
def test_a_rate_is_written_as_people_say_it(rate: float, written: str) -> None:
    text = text_of("{pool} does {read_ios_per_second|read I/Os}.")
    (expression,) = text.expressions
    assert text.sentences(Filling({"pool": "BP1"}, {expression: rate}, {}), "") == f"BP1 does {written}."


def test_a_rate_of_a_site_s_rule_may_lack_its_noun() -> None:
    text = text_of("{pool} reads {read_ios_per_second}.")
    (expression,) = text.expressions
    assert text.sentences(Filling({"pool": "BP1"}, {expression: 2.0}, {}), "") == "BP1 reads 2.00 per second."


def test_thousands_are_apart_in_a_sentence_and_not_where_a_reader_is_to_type_them() -> None:
    text = text_of("{pool} has {buffers:n} buffers.")
    (expression,) = text.expressions
    values = Filling({"pool": "BP1"}, {expression: 20031.0}, {})
    assert text.sentences(values, "", is_grouped=True) == "BP1 has 20,031 buffers."
    assert text.sentences(values, "") == "BP1 has 20031 buffers."
    assert text.commands(values)[0] == "BP1 has 20031 buffers."
    row = {"subsystem": "DB2A", "pool": "BP1", "buffers": 30000, "sync_reads": 3_000_000}
    made = report([RULES["db2.pool_read_rate"]], db2_pool=[row])
    (advice,) = blocks(made, Advice)
    assert "its 30,000 buffers" in advice.text
    # A fifth more, without commas.
    assert "VPSIZE(36000)" in advice.command


def test_only_a_rate_has_a_noun() -> None:
    with pytest.raises(RuleError, match=r"residency\|pages.*not a rate per second"):
        text_of("{residency|pages}")


def device(system: str, **values: Any) -> dict[str, Any]:
    counts = {"ios": 18000, "timed_ios": 18000, "ios_queue_seconds": 0, "pending_seconds": 0, "connect_seconds": 9}
    row = {"system": system, "device": "08000", "volume": "PRD001", "device_seconds": 900, "device_busy_seconds": 0}
    return row | counts | {"disconnect_seconds": 0} | values


def fired(rows: list[dict[str, Any]], rules: list[str]) -> list[tuple[str, list[str]]]:
    inputs, grains = database({"dasd_device": rows})
    found = check(inputs, rules=[RULES[rule] for rule in rules], grains=grains).fired
    return [(one.rule.id, [other.rule.id for other in one.contributing]) for one in found]


def test_one_volume_that_several_systems_wait_for_is_one_finding() -> None:
    rows = [device(system, disconnect_seconds=14.4) for system in ("SYSA", "SYSB", "SYSC")]
    assert fired(rows, ["dasd.disconnect"]) == [("dasd.disconnect", ["dasd.disconnect"] * 2)]


def test_pending_time_that_reserves_explain_is_one_finding_of_reserves() -> None:
    rows = [device("SYSA", pending_seconds=14.4, device_busy_seconds=10.8)]
    assert fired(rows, ["dasd.pending", "dasd.device_busy"]) == [("dasd.device_busy", ["dasd.pending"])]
    # Two volumes are two causes.
    rows.append(
        device("SYSA", pending_seconds=14.4, device_busy_seconds=10.8) | {"volume": "PRD002", "device": "08001"}
    )
    assert len(fired(rows, ["dasd.pending", "dasd.device_busy"])) == 2


def test_commands_of_the_rules_behind_a_finding_are_shown_under_their_titles() -> None:
    rows = [device("SYSA", pending_seconds=14.4, device_busy_seconds=10.8)]
    made = report([RULES["dasd.pending"], RULES["dasd.device_busy"]], dasd_device=rows)
    (advice,) = blocks(made, Advice)
    assert advice.command == "D GRS,DEV=08000\n* I/O waiting for a path\nD M=DEV(08000)"


def test_a_setting_is_not_commanded_twice_with_two_values() -> None:
    """Half as many buffers again, for want of free ones; a fifth more, for its residency, is not a second command."""
    row = {"subsystem": "DB2A", "pool": "BP1", "buffers": 30000, "unavailable_buffer": 10}
    row |= {"sync_reads": 9000, "sequential_prefetch_reads": 9000, "sequential_prefetch_pages": 90000}
    made = report([RULES["db2.pool_no_buffer"], RULES["db2.pool_residency"]], db2_pool=[row])
    (advice,) = blocks(made, Advice)
    assert [table.name for table in advice.more] == ["more_db2_pool_residency"]
    assert advice.command == "-ALTER BUFFERPOOL(BP1) VPSIZE(45000)"
    assert advice.undo == "-ALTER BUFFERPOOL(BP1) VPSIZE(30000)"


def test_a_setting_beside_another_is_commanded_once_and_each_db2_has_its_own() -> None:
    first = ("-ALTER BUFFERPOOL(BP1) VPSIZE(45000) VPSEQT(99)", "-ALTER BUFFERPOOL(BP1) VPSIZE(30000) VDWQT(0,128)")
    assert _remaining("DB2A", first[1], _sets("DB2A", first[0])) == "-ALTER BUFFERPOOL(BP1) VDWQT(0,128)"
    assert _remaining("DB2A", "-ALTER BUFFERPOOL(BP1) VPSEQT(80)", _sets("DB2A", first[0])) == ""
    for line in ("-ALTER BUFFERPOOL(BP2) VPSIZE(30000)", "-ALTER GROUPBUFFERPOOL(GBP1) CLASST(2)"):
        assert _remaining("DB2A", line, _sets("DB2A", first[0])) == line
    assert _remaining("DB2B", first[1], _sets("DB2A", first[0])) == first[1]
    # What shows a system is the same whichever Db2 is told of; a Db2's own display is not.
    assert _remaining("DB2B", "D GRS,C", _sets("DB2A", "D GRS,C")) == ""
    assert _remaining("DB2B", "-DISPLAY DDF DETAIL", _sets("DB2A", "-DISPLAY DDF DETAIL")) == "-DISPLAY DDF DETAIL"


def test_the_same_pool_of_two_db2s_has_a_command_for_each() -> None:
    row = {"pool": "BP1", "buffers": 30000, "unavailable_buffer": 0, "sync_reads": 9000}
    row |= {"sequential_prefetch_reads": 9000, "sequential_prefetch_pages": 90000}
    rows = [row | {"subsystem": "DB2A", "unavailable_buffer": 10}, row | {"subsystem": "DB2B"}]
    made = report([RULES["db2.pool_no_buffer"], RULES["db2.pool_residency"]], db2_pool=rows)
    told = "\n".join(advice.command for advice in blocks(made, Advice)).splitlines()
    assert told.count("-ALTER BUFFERPOOL(BP1) VPSIZE(45000)") == 1
    assert told.count("-ALTER BUFFERPOOL(BP1) VPSIZE(36000)") == 1
