"""The reference of rules: up to date, complete, and every source one that was looked up."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from plexlens.findings import Rule, Threshold, load_rules
from plexlens.findings.reference import document, left_out, main, rule_json, rule_text
from plexlens.metrics import GRAINS
from tests.conftest import REPOSITORY

RULES = load_rules()

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def test_the_file_is_up_to_date() -> None:
    assert main(["--check", str(REPOSITORY / "docs" / "findings.md")]) == 0


def test_a_stale_or_missing_file_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "findings.md"
    assert main(["--check", str(path)]) == 1
    assert "missing" in capsys.readouterr().err
    assert main([str(path)]) == 0
    assert main(["--check", str(path)]) == 0
    path.write_text(path.read_text(encoding="utf-8") + "x", encoding="utf-8")
    assert main(["--check", str(path)]) == 1
    assert "stale" in capsys.readouterr().err


@every_rule
def test_a_rule_is_told_whole(rule: Rule) -> None:
    text = rule_text(rule)
    for part in (rule.title, rule.id, rule.condition.text, rule.source.url, str(rule.severity)):
        assert part in text
    for _, formula in rule.grades:
        assert formula.text in text
    assert ("chosen here" in text) == (rule.source.threshold is Threshold.CHOSEN)


@every_rule
def test_numbers_that_a_source_states_have_an_address(rule: Rule) -> None:
    """A threshold that is not ours must be one that a reader can look up."""
    if rule.source.threshold is Threshold.STATED:
        assert rule.source.url


def test_links_lead_somewhere() -> None:
    text = document()
    own = set(re.findall(r'<a id="([^"]+)">', text))
    metrics = (REPOSITORY / "docs" / "metrics.md").read_text(encoding="utf-8")
    anchors = set(re.findall(r'<a id="([^"]+)">', metrics))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("#"):
            assert target[1:] in own
        elif target.startswith("metrics.md#"):
            assert target.partition("#")[2] in anchors


def test_what_is_no_rule_is_told_with_the_reason() -> None:
    text = document()
    entries = left_out()
    assert len(entries) >= 20
    assert len({what for what, _ in entries}) == len(entries)
    ids = {rule.id for rule in RULES}
    for what, why in entries:
        assert f"| {what} | {why} |" in text
        assert why.endswith(".")
        # A rule that it refers to is one that there is.
        for name in re.findall(r"\b(?:coupling|cpu|db2|cics|jobs|dasd|mq|paging|workload)\.\w+", why):
            assert name in ids


def test_the_list_as_json_names_what_is_needed() -> None:
    by_id = {rule["id"]: rule for rule in map(rule_json, RULES)}
    assert len(by_id) == len(RULES)
    pool = by_id["mq.pool_no_buffer"]
    assert pool["needs"] == [{"kind": "SMF 115", "tables": ["smf115_2_qpst"]}]
    assert pool["command"] == "* {queue_manager}\nALTER BUFFPOOL({pool}) BUFFERS({1.5 * buffers:up})"
    assert {one["grain"] for one in by_id.values()} <= set(GRAINS)
