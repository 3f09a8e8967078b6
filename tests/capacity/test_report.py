"""The page and the command: what they say, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plexlens.capacity import Change, Plan, calibrate, make_plan, measure, to_object
from plexlens.cli import app
from plexlens.errors import PlexlensError, UsageError
from plexlens.report import render_html, render_text
from plexlens.report.model import Column, Table
from plexlens.report.plan import goals_report, plan_report
from plexlens.report.xy import XYChart
from tests.capacity.made import database


def plan(change: Change, *loads: float, careful: bool = False) -> Plan:
    measured = measure(database(*loads))
    return make_plan("made", measured, calibrate(measured), change, careful=careful)


def test_page_has_everything_and_every_number_a_definition() -> None:
    made = plan(Change(scale=1.3, ziips="+1"), 0.8, 1.0, 1.2, careful=True)
    report = plan_report(made)
    assert [one.id for one in report.sections] == [
        "answer", "check", "curves-SYS1", "goals", "changes", "demands", "assumptions",
    ]  # fmt: skip
    columns: list[Column] = []
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table):
                columns += block.columns
    assert {one.definition for one in columns if one.definition} <= report.definitions.keys()
    charts = [block for block in report.section("curves-SYS1").blocks if isinstance(block, XYChart)]
    response = next(one for one in charts if one.name == "plan-response-SYS1-ONLINE.1")
    names = [one.name for one in response.series]
    assert {"model, as asked", "model, as measured", "measured", "run"} <= set(names)
    # Three intervals are three measured points.
    assert len(next(one for one in response.series if one.name == "measured").points) == 3
    for text in (render_html(report), render_text(report)):
        assert "ONLINE.1" in text
        assert "shadow server" in text


def test_until_goals_is_short() -> None:
    report = goals_report(plan(Change()))
    assert [one.id for one in report.sections] == ["answer", "goals"]


def test_load_beyond_capacity_is_said() -> None:
    text = render_text(plan_report(plan(Change(scale=3.0))))
    assert "cannot carry the load asked for" in text
    found = to_object(plan(Change(scale=3.0)))["outlooks"][1]["saturates"]
    assert f"saturates at {found['load']:.2f} x" in " ".join(text.split())


def test_object_is_plain_json() -> None:
    json.dumps(to_object(plan(Change(scale=1.1))), allow_nan=False)


@pytest.mark.parametrize(
    ("arguments", "text", "code"),
    [
        (["--scale", "-1"], "--scale -1 is no factor", 2),
        (["--scale", "DDF=much"], "--scale DDF=much is no factor", 2),
        (["--users", "DDF"], "--users 'DDF' is no pair", 2),
        (["--tolerance", "0"], "--tolerance 0 is no percentage", 2),
    ],
)
def test_wrong_use(arguments: list[str], text: str, code: int, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["plan", str(tmp_path), *arguments])
    assert isinstance(result.exception, UsageError)
    assert text in str(result.exception)
    assert result.exception.exit_code == code


def test_empty_database(tmp_path: Path) -> None:
    from plexlens.pdb import Pdb

    Pdb.create(tmp_path / "pdb")
    result = CliRunner().invoke(app, ["plan", str(tmp_path / "pdb")])
    assert isinstance(result.exception, PlexlensError)
    assert "no class periods and no processors" in str(result.exception)
    assert result.exception.exit_code == 4


def test_example_dump(tmp_path: Path) -> None:
    """The 2008 study's system: utilisation comes back, and its one class is planned."""
    dump = tmp_path / "example.smf"
    assert CliRunner().invoke(app, ["example", "-o", str(dump)]).exit_code == 0
    result = CliRunner().invoke(app, ["plan", str(dump), "--scale", "1.1", "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    (system,) = found["systems"]
    assert system["system"] == "XML1"
    assert system["busy_modelled"] == pytest.approx(system["busy"], rel=1e-9)
    # The other study has report classes only.
    assert any("processors alone" in note for note in found["notes"])
