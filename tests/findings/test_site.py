"""What a site has decided: suppressed findings are listed, acknowledged ones do not fail, dead entries are reported."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from plexlens.findings import Findings, RuleError, Severity, check, load_decisions
from plexlens.report import Options, render_html, render_text
from plexlens.report.blocks.readings import Readings
from plexlens.report.build import build
from plexlens.report.model import Advice, Note, Table
from plexlens.report.pages.findings import PAGE
from tests.findings.made import database
from tests.findings.test_check import rule, waits

RULES = [rule(severity="high")]
ROWS = waits(200, manager="MQPA") + waits(300, manager="MQPB")
TODAY = date(2026, 3, 2)


def judged(folder: Path, text: str) -> Findings:
    (folder / "site.toml").write_text(text, encoding="utf-8")
    inputs, grains = database({"mq_log": ROWS})
    decisions = load_decisions(folder / "site.toml", RULES)
    return check(inputs, rules=RULES, grains=grains, decisions=decisions, today=TODAY)


def test_a_suppressed_finding_is_kept_with_its_reason(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        '[[suppress]]\nrule = "test.*"\nobjects = { queue_manager = "*PA" }\nuntil = 2026-03-02\n'
        'reason = "a test"\ndecided_by = "all of us"\n',
    )
    assert [one.name for one in found.fired] == ["SYS1 / MQPB"]
    ((suppressed),) = found.suppressed
    assert (suppressed.finding.name, suppressed.reason) == ("SYS1 / MQPA", "a test (all of us), until 2026-03-02")
    assert found.decisions == ()
    assert [one["reason"] for one in found.to_json()["suppressed"]] == ["a test (all of us), until 2026-03-02"]


def test_an_acknowledged_finding_stays_and_does_not_fail(tmp_path: Path) -> None:
    found = judged(
        tmp_path, '[[acknowledge]]\nrule = "test.rule"\nobjects = { queue_manager = "MQPB" }\nreason = "ordered"\n'
    )
    assert {one.name: one.acknowledged for one in found.fired} == {"SYS1 / MQPB": "ordered", "SYS1 / MQPA": ""}
    assert [one.name for one in found.at_or_above(Severity.LOW)] == ["SYS1 / MQPA"]


def test_what_has_expired_or_meets_nothing_is_reported(tmp_path: Path) -> None:
    found = judged(
        tmp_path,
        '[[suppress]]\nrule = "test.rule"\nuntil = 2026-03-01\nreason = "x"\n\n'
        '[[suppress]]\nrule = "test.rule"\nobjects = { queue_manager = "NONE" }\nreason = "y"\n',
    )
    assert len(found.fired) == 2
    assert found.suppressed == ()
    first, second = found.decisions
    assert "site.toml, line 1 (test.rule)" in first
    assert "expired on 2026-03-01" in first
    assert "line 6" in second
    assert "met no finding" in second


def test_the_page_shows_them_folded(tmp_path: Path) -> None:
    text = (
        '[[suppress]]\nrule = "test.rule"\nobjects = { queue_manager = "MQPA" }\nreason = "only a test"\n'
        '[[acknowledge]]\nrule = "test.rule"\nreason = "storage is ordered"\n'
        '[[suppress]]\nrule = "test.rule"\nobjects = { system = "X" }\nreason = "y"\n'
    )
    (tmp_path / "site.toml").write_text(text, encoding="utf-8")
    inputs, grains = database({"mq_log": ROWS})
    options = Options(rules=tuple(RULES), decisions=load_decisions(tmp_path / "site.toml", RULES))
    made = build(inputs, Readings(), pages=(PAGE,), grains=grains, options=options)
    (section,) = (one for one in made.sections if one.id == "findings")
    (table,) = (b for b in section.blocks if isinstance(b, Table) and b.name == "findings_suppressed")
    assert table.folded
    assert (table.rows[0][2], table.rows[0][-1]) == ("SYS1 / MQPA", "only a test")
    (advice,) = (b for b in section.blocks if isinstance(b, Advice))
    assert "Acknowledged: storage is ordered." in advice.remarks
    (note,) = (b for b in section.blocks if isinstance(b, Note) and b.details)
    assert "met no finding" in note.details[0]
    for page in (render_html(made), render_text(made)):
        assert "only a test" in page
        assert "storage is ordered" in page


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('[[suppress]]\nrule = "test.rul"\nreason = "x"\n', "line 1: suppress, rule: no rule has the id test.rul"),
        ('[[suppress]]\nrule = "test.rule"\n', "line 1: suppress, reason: it is missing"),
        ('\n[[suppress]]\nrule = "test.rule"\nreason = 3\n', "line 2: suppress, reason: it is 3"),
        ('[[suppress]]\nrule = "test.rule"\nreason = "x"\nuntil = "soon"\n', "suppress, until: it is 'soon'"),
        ('[[suppress]]\nrule = "test.rule"\nreason = "x"\nuntill = 3\n', "suppress, untill: there is no such key"),
        (
            '[[suppress]]\nrule = "test.rule"\nreason = "x"\nobjects = { pool = "A" }\n',
            "findings of test.rule have no pool",
        ),
        ('[[hide]]\nrule = "test.rule"\n', "'hide' is not allowed here"),
        ("rule =\n", "line 1: the file is not TOML"),
    ],
)
def test_a_wrong_entry_is_refused_with_its_place(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RuleError, match=r"site\.toml") as refused:
        judged(tmp_path, text)
    assert says in str(refused.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="cannot be read"):
        load_decisions(tmp_path / "none.toml", RULES)
