"""The page of findings: what is wrong, in order, with evidence that leads to definitions; what could not be checked."""

from __future__ import annotations

import re
from typing import Any

import pytest

from plexlens.findings import Rule, load_rules
from plexlens.report import Options, Report, render_html, render_text, to_json
from plexlens.report.blocks.readings import Readings
from plexlens.report.build import build
from plexlens.report.model import Advice, KeyFigures, Note, Table
from plexlens.report.pages import PAGES
from plexlens.report.pages.findings import FULL, PAGE, TOP, _commands
from tests.findings.made import database
from tests.findings.test_check import rule, waits
from tests.report import shop

RULES = {one.id: one for one in load_rules()}


def report(rules: list[Rule], **tables: Any) -> Report:
    inputs, grains = database(tables)
    return build(inputs, Readings(), pages=(PAGE,), grains=grains, options=Options(rules=tuple(rules)))


def blocks(made: Report, kind: type) -> list[Any]:
    (section,) = (one for one in made.sections if one.id == "findings")
    return [one for one in section.blocks if isinstance(one, kind)]


def graded(name: str, severity: str, cost: str = "") -> Rule:
    """A rule on waits for log buffers that fires for the rows below, at this cost."""
    more = {"cost": {"seconds": cost, "kind": "CPU", "meaning": "so much"}} if cost else {}
    return rule(id=f"test.{name}", title=f"Rule {name}", severity=severity, **more)


def test_the_cost_of_an_object_stands_beside_its_name() -> None:
    """It was the last column, and out of sight at 1,400 pixels wherever the evidence is wide."""
    (advice,) = blocks(report([graded("dear", "low", "interval_seconds")], mq_log=waits(200)), Advice)
    columns = advice.evidence.columns
    named = sum(column.key for column in columns)
    assert [column.title for column in columns[named : named + 1]] == ["CPU cost"]


def test_findings_are_the_first_page() -> None:
    assert min(PAGES, key=lambda page: page.order) is PAGE


def test_rules_stand_by_rank() -> None:
    rules = [
        graded("low", "low"),
        graded("cheap", "high", "interval_seconds * 0.1"),
        graded("dear", "low", "interval_seconds"),
        graded("fails", "critical"),
        graded("high", "high"),
    ]
    made = report(rules, mq_log=waits(200))
    advice = blocks(made, Advice)
    assert [one.title for one in advice] == ["Rule fails", "Rule dear", "Rule cheap", "Rule high", "Rule low"]
    assert [one.rank for one in advice] == [1, 2, 3, 4, 5]
    # 100 of 100 s in the hour that a hundred seconds stand for.
    assert advice[1].cost == "3,600 s of CPU per hour"
    page = render_html(made)
    places = [page.index(f'id="advice-test.{name}"') for name in ("fails", "dear", "cheap", "high", "low")]
    assert places == sorted(places)


def test_a_finding_has_evidence_command_and_source() -> None:
    one = rule(command="SET X({2 * buffer_waits:n})", undo="SET X({buffer_waits:n})", min_share=0.5)
    # Commands start from the latest value: 200 and 300.
    made = report([one], mq_log=waits(0, 200) + waits(300, 300, manager="MQPB"))
    (advice,) = blocks(made, Advice)
    titles = {column.name: column for column in advice.evidence.columns}
    assert titles["buffer_waits_per_second"].definition in made.definitions
    held = [column.name for column in advice.evidence.columns].index("held")
    assert {row[held] for row in advice.evidence.rows} == {"1 of 2", "2 of 2"}
    assert advice.condition == "buffer_waits_per_second > 1, in 50% of the intervals or more (test.rule)"
    assert advice.command.splitlines() == ["SET X(600)", "SET X(400)"]
    page = render_html(made)
    assert "<code>SET X(600)\nSET X(400)</code>" in page
    assert "<code>SET X(300)\nSET X(200)</code>" in page
    assert "To undo it" in page
    text = render_text(made)
    assert re.search(r"SET X\(600\)\n +SET X\(400\)\n +To undo it:\n +SET X\(300\)", text)
    (told,) = to_json(made)["findings"]["fired"][:1]
    assert told["undo"] == "SET X(300)"


def test_a_hostile_name_is_text() -> None:
    made = report([rule()], mq_log=waits(200, manager=shop.HOSTILE))
    page = render_html(made)
    assert shop.HOSTILE not in page
    assert "&lt;b&gt;Q2" in page


@pytest.mark.parametrize("count", [FULL, FULL + 3])
def test_a_reader_gets_so_many_rules_in_full(count: int) -> None:
    rules = [graded(f"r{n:02}", "low") for n in range(count)]
    made = report(rules, mq_log=waits(200))
    advice = blocks(made, Advice)
    assert [one.folded for one in advice] == [False] * FULL + [True] * (count - FULL)
    notes = [one.text for one in blocks(made, Note)]
    assert ("3 more rules found something of lower severity." in notes) == (count > FULL)
    page = render_html(made)
    assert page.count('<details class="card advice') == count - FULL
    assert page.count('<article class="card advice') == FULL
    # Folded is not left out: sentence, evidence, and what to do are there.
    assert page.count("MQPA: 2.00 per second, 200.") == count


def test_what_fails_is_never_folded() -> None:
    rules = [graded(f"r{n:02}", "critical") for n in range(FULL + 2)]
    assert not any(one.folded for one in blocks(report(rules, mq_log=waits(200)), Advice))


def test_many_objects_are_counted() -> None:
    rows = [row for n in range(30) for row in waits(200 + n, manager=f"Q{n:03}")]
    (advice,) = blocks(report([rule()], mq_log=rows), Advice)
    assert advice.objects == "30 objects"
    assert len(advice.evidence.rows) == 25
    assert advice.evidence.top == TOP
    assert advice.evidence.note == "The 25 worst of 30 objects; the cost covers only these."
    # The worst is the one that the sentence is about.
    assert advice.text.startswith("Q029: ")


def test_a_rule_without_its_input_says_so() -> None:
    lacking = RULES["db2.data_set_slow"]
    made = report([rule(), lacking], mq_log=waits(0))
    assert blocks(made, Advice) == []
    (table,) = (one for one in blocks(made, Table) if one.name == "findings_not_checked")
    ((title, name, why, reason),) = table.rows
    assert (title, name, why) == (lacking.title, "db2.data_set_slow", "records missing")
    assert reason == "no SMF 102 IFCID 199 (smf102_ifcid199) or Db2 display command (text_db2_data_set) in the data"
    # One folded line, not the first screen.
    assert (table.title, table.folded) == ("1 rule could not be checked", True)
    assert (
        table.note == "Missing: SMF 102 IFCID 199 (smf102_ifcid199) or Db2 display command (text_db2_data_set): 1 rule."
    )
    assert not [one for one in blocks(made, Note) if "could not be checked" in one.text]
    (figures,) = blocks(made, KeyFigures)
    shown = {figure.name: figure.value for figure in figures.figures}
    assert (shown["rules_checked"], shown["rules_not_checked"]) == (1, 1)
    text = render_text(made)
    assert "No finding from 1 rule" in text
    assert "db2.data_set_slow" in text


def test_rules_that_found_nothing_are_listed() -> None:
    made = report([rule()], mq_log=waits(0, 0))
    (table,) = (one for one in blocks(made, Table) if one.name == "findings_passed")
    assert table.rows == (("A rule for tests", "test.rule", 1, 2, "buffer_waits_per_second > 1"),)


def test_nothing_to_judge_is_a_warning() -> None:
    notes = [one.text for one in blocks(report([RULES["db2.data_set_slow"]], mq_log=waits(0)), Note)]
    assert notes[0].startswith("No rule could be checked")


def test_commands_for_several_subsystems_say_whose_they_are() -> None:
    told = [("DB1", "-ALTER A"), ("DB2", "-ALTER A"), ("DB1", "-ALTER B"), ("DB1", "-ALTER A"), ("DB2", "")]
    assert _commands(told) == "* DB1\n-ALTER A\n-ALTER B\n* DB2\n-ALTER A"
    # Of one subsystem there is no doubt, and some commands name theirs.
    assert _commands([("DB1", "-ALTER A"), ("DB1", "-ALTER A")]) == "-ALTER A"
    assert _commands([("QM1", "* QM1\nALTER A"), ("QM2", "* QM2\nALTER A")]) == "* QM1\nALTER A\n* QM2\nALTER A"
