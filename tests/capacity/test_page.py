"""The page and the command: what they say, and what they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plexlens.capacity import Change, Plan, calibrate, make_plan, measure, to_object
from plexlens.capacity.page.report import goals_report, plan_report
from plexlens.cli.every import app
from plexlens.errors import PlexlensError, UsageError
from plexlens.report import render_html, render_text
from plexlens.report.model import Column, Table
from plexlens.report.model.xy import XYChart
from tests.capacity.made import database, online


def plan(change: Change, *loads: float, careful: bool = False) -> Plan:
    measured = measure(database(*loads))
    return make_plan("made", measured, calibrate(measured), change, careful=careful)


def test_page_has_everything_and_every_number_a_definition() -> None:
    made = plan(Change(scale=1.3, ziips="+1"), 0.8, 1.0, 1.2, careful=True)
    report = plan_report(made)
    assert [one.id for one in report.sections] == [
        "answer", "check", "curves-SYS1", "goals", "buys", "changes", "demands", "queues", "assumptions",
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
    assert {"model, requested configuration", "model, measured configuration", "measured", "event by event"} <= set(
        names
    )
    # The network was run at several loads, each mean with its interval.
    runs = next(one for one in response.series if one.name == "event by event")
    assert len(runs.points) == len(runs.band) >= 5
    assert all(low < y < high for (_, y), (_, low, high) in zip(runs.points, runs.band, strict=True) if y)
    busy = next(one for one in charts if one.name == "plan-busy-SYS1")
    assert {"general engines, event by event", "zIIPs, event by event"} <= {one.name for one in busy.series}
    # Three intervals are three measured points.
    assert len(next(one for one in response.series if one.name == "measured").points) == 3
    for text in (render_html(report), render_text(report)):
        assert "ONLINE.1" in text
        assert "Bondi and Buzen" in text
        assert "What each change buys" in text or "W H A T   E A C H   C H A N G E   B U Y S" in text


def test_until_goals_is_short() -> None:
    report = goals_report(plan(Change()))
    assert [one.id for one in report.sections] == ["answer", "goals", "buys"]


def test_what_buys_what_by_hand() -> None:
    """M/M/1 of 0.5 s at 1 a second, goal 3 s: 0.5 / (1 - 0.5 x) = 3 at x = 1.67.

    Two engines: 0.5 / (1 - (x / 4)^2) = 3 at x = 3.65; a fifth faster: 0.4167 / (1 - 0.4167 x) = 3 at x = 2.07; two
    members: twice 1.67.
    """
    fields = {**online(response=1.0), "cpu": 500.0, "r723cict": 0.0, "r723circ": 0.0}
    measured = measure(database(classes={"ONLINE": fields}, engines=1, ziips=0, busy=500.0))
    for change in (Change(), Change(scale=1.5)):
        report = goals_report(make_plan("made", measured, calibrate(measured), change))
        (table,) = (block for block in report.section("buys").blocks if isinstance(block, Table))
        titles = [one.title for one in table.columns]
        assert titles == [
            "System", "Until", "As measured", "One more general engine", "Engines 20 % faster", "One more member",
        ]  # fmt: skip
        assert table.rows == (
            ("SYS1", "ONLINE.1: average 3 s", "1.67", "3.65", "2.07", "3.33"),
            ("SYS1", "saturation", "2.00", "4.00", "2.40", "4.00"),
        )


def test_a_goal_that_breaks_near_saturation_is_marked() -> None:
    # 0.5 / (1 - 0.5 x) = 30 at x = 59 / 30: 98 % busy.
    fields = {**online(response=1.0), "cpu": 500.0, "r723cict": 0.0, "r723circ": 0.0, "r723cval": 30}
    measured = measure(database(classes={"ONLINE": fields}, engines=1, ziips=0, busy=500.0))
    report = goals_report(make_plan("made", measured, calibrate(measured), Change()))
    (table,) = (block for block in report.section("goals").blocks if isinstance(block, Table))
    assert table.rows[0][-2] == pytest.approx(59 / 30, rel=1e-4)
    assert table.rows[0][-1] == "near saturation (98% busy), where response grows steeply"


def test_load_beyond_capacity_is_said() -> None:
    text = render_text(plan_report(plan(Change(scale=3.0))))
    assert "cannot carry the requested load" in text
    found = to_object(plan(Change(scale=3.0)))["outlooks"][1]["saturates"]
    assert f"saturates at {found['load']:.2f} x" in " ".join(text.split())


def test_object_is_plain_json() -> None:
    json.dumps(to_object(plan(Change(scale=1.1))), allow_nan=False)


@pytest.mark.parametrize(
    ("arguments", "text", "code"),
    [
        (["--scale", "-1"], "--scale -1 is not a factor", 2),
        (["--scale", "DDF=much"], "--scale DDF=much is not a factor", 2),
        (["--users", "DDF"], "--users 'DDF' is not of the form NAME=VALUE", 2),
        (["--tolerance", "0"], "--tolerance 0 is out of range", 2),
    ],
)
def test_wrong_use(arguments: list[str], text: str, code: int, tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["plan", str(tmp_path), *arguments])
    assert isinstance(result.exception, UsageError)
    assert text in str(result.exception)
    assert result.exception.exit_code == code


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--scale", "NOBODY=2"], "there is no class 'NOBODY'"),
        (["--engines", "0"], "--engines 0 leaves 0; leave 1 or more"),
        (["--ziips", "-9"], "--ziips -9 leaves -"),
        (["--speed", "0"], "--speed is 0"),
        (["--serves", "NOBODY=DB2DDF"], "there is no class 'NOBODY'"),
        (["--users", "DDF=0"], "--users DDF=0 is not a number of users"),
        (["--report-classes"], "no interval has both report class periods"),
    ],
)
def test_wrong_use_of_the_example(arguments: list[str], text: str, example: Path) -> None:
    result = CliRunner().invoke(app, ["plan", str(example), *arguments])
    assert isinstance(result.exception, PlexlensError), result.output
    assert text in str(result.exception)


@pytest.mark.parametrize("scale", ["0", "0.000001", "1e9"])
def test_extreme_loads(scale: str, example: Path) -> None:
    result = CliRunner().invoke(app, ["plan", str(example), "--scale", scale, "--json"])
    assert result.exit_code == 0, result.output
    chosen = json.loads(result.stdout)["outlooks"][1]["systems"]["XML1"]
    assert bool(chosen["saturated"]) == (scale == "1e9")


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    dump = tmp_path_factory.mktemp("example") / "example.smf"
    assert CliRunner().invoke(app, ["example", "-o", str(dump)]).exit_code == 0
    return dump


def test_real_reports(shared_data: Path, tmp_path: Path) -> None:
    """Reports of different days have no interval in common; with the same date, a plan that concludes nothing."""
    real = shared_data / "rmf"
    apart = CliRunner().invoke(app, ["plan", str(real / "cpu.xml"), str(real / "wlmgl.xml")])
    assert "no interval has both service class periods (2022-08-09 00:00) and processors" in str(apart.exception)
    for name, lacking in (("cpu.xml", "no class periods"), ("wlmgl.xml", "no processors")):
        assert lacking in str(CliRunner().invoke(app, ["plan", str(real / name)]).exception)
    text = (real / "wlmgl.xml").read_text(encoding="utf-8")
    moved = text.replace("08/09/2022-00.00.00", "04/06/2022-12.30.00").replace(
        "08/09/2022-00.29.59", "04/06/2022-13.00.00"
    )
    (tmp_path / "wlmgl.xml").write_text(moved, encoding="utf-8")
    result = CliRunner().invoke(app, ["plan", str(real / "cpu.xml"), str(tmp_path / "wlmgl.xml"), "--json"])
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    (system,) = found["systems"]
    assert system["busy_modelled"] == pytest.approx(system["busy"])
    # Velocity goals without state samples: nothing is concluded, and the page says why.
    goals = [one for one in system["classes"] if one["goal"] != "none"]
    assert goals
    assert not any(one["reproduced"] for one in goals)
    assert all("state samples" in one["reason"] for one in goals)


def test_empty_database(tmp_path: Path) -> None:
    from plexlens.pdb import Pdb

    Pdb.create(tmp_path / "pdb")
    result = CliRunner().invoke(app, ["plan", str(tmp_path / "pdb")])
    assert isinstance(result.exception, PlexlensError)
    assert "no class periods and no processors" in str(result.exception)
    assert result.exception.exit_code == 4


def test_example_dump(example: Path) -> None:
    """The 2008 study's system: utilisation comes back, and its one class is planned."""
    result = CliRunner().invoke(app, ["plan", str(example), "--scale", "1.1", "--json"])
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    (system,) = found["systems"]
    assert system["system"] == "XML1"
    assert system["busy_modelled"] == pytest.approx(system["busy"], rel=1e-9)
    # The other study has report classes only.
    assert any("without processors" in note for note in found["notes"])
