"""Every rule on facts worked out by hand: where it must speak, what it must say, and where it must not.

Cases stand in ``cases/*.toml``. Each has the rule, rows of facts, and what is expected: ``severity`` (none: silence),
``evidence`` by column in base units, ``holding`` intervals, ``cost`` in seconds per hour, ``command``, ``undo``, or
``lack`` where the rule cannot be checked. A file of cases bears the name of the file that holds the rules.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from plexlens.findings import Rule, check, load_rules
from plexlens.findings.reading import SHIPPED
from tests.findings.made import database

RULES = {rule.id: rule for rule in load_rules()}
FILES = {
    one["id"]: file.stem
    for file in SHIPPED.glob("*.toml")
    for one in tomllib.loads(file.read_text(encoding="utf-8"))["rule"]
}
KEYS = {"rule", "rows", "severity", "evidence", "holding", "cost", "command", "undo", "lack"}


def _cases() -> list[dict[str, Any]]:
    cases = []
    for file in sorted((Path(__file__).parent / "cases").glob("*.toml")):
        found = tomllib.loads(file.read_text(encoding="utf-8"))["case"]
        for number, case in enumerate(found, 1):
            assert set(case) <= KEYS, f"{file.name}, case {number}: {set(case) - KEYS}"
            assert FILES[case["rule"]] == file.stem, f"{case['rule']} stands in {file.name}"
            cases.append(case | {"name": f"{case['rule']}-{number}"})
    return cases


CASES = _cases()


def _rule(case: dict[str, Any]) -> Rule:
    return RULES[case["rule"]]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_case(case: dict[str, Any]) -> None:
    rule = _rule(case)
    inputs, grains = database({rule.grain: case["rows"]})
    found = check(inputs, rules=[rule], grains=grains)
    if "lack" in case:
        (lacking,) = found.not_checked
        assert str(lacking.lack) == case["lack"], lacking.reason
        assert (found.fired, found.passed) == ((), ())
        return
    assert found.not_checked == (), found.not_checked[0].reason
    if "severity" not in case:
        assert found.fired == ()
        assert [one.rule for one in found.passed] == [rule]
        return
    (one,) = found.fired
    assert found.passed == ()
    assert str(one.severity) == case["severity"]
    values = {part.column: part.value for part in one.evidence}
    for column, value in case.get("evidence", {}).items():
        assert values[column] == pytest.approx(value, rel=1e-12), column
    assert one.holding == case.get("holding", one.holding)
    if "cost" in case:
        assert one.cost == pytest.approx(case["cost"], rel=1e-12)
    assert one.command == case.get("command", one.command)
    assert one.undo == case.get("undo", one.undo)
    # A sentence without one of its numbers would be a finding without evidence.
    assert "\u2013" not in one.command + one.undo
    assert all(part.value for part in one.entity)


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_every_rule_has_cases_both_ways(rule: Rule) -> None:
    mine = [case for case in CASES if case["rule"] == rule.id]
    assert any("severity" in case and "evidence" in case for case in mine), "no case in which it fires, with evidence"
    assert any("severity" not in case and "lack" not in case for case in mine), "no case in which it must not"
    graded = {str(severity) for severity, _ in rule.grades} | {str(rule.severity)}
    assert graded == {case["severity"] for case in mine if "severity" in case}, "a severity without a case"


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.id)
def test_what_a_rule_works_out_is_worked_out_by_hand(rule: Rule) -> None:
    """Commands with numbers in them, the way back, and costs: each in one case at least."""
    told = {key for case in CASES if case["rule"] == rule.id and "severity" in case for key in case}
    texts = {"command": rule.command, "undo": rule.undo}
    wanted = {key for key, made in texts.items() if any(place.expression is not None for place in made.places)}
    if rule.cost is not None:
        wanted.add("cost")
    assert wanted <= told, f"no case tells {', '.join(sorted(wanted - told))}"
