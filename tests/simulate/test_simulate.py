"""`plexlens simulate`: what it writes, says and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plexlens import _core
from plexlens.cli.every import app
from plexlens.errors import UsageError
from plexlens.layouts_path import layout_folders
from plexlens.simulate import parse_scenario, read_scenario, run_scenario, write_smf
from plexlens.simulate.scenario import ScenarioFileError
from tests.simulate.conftest import TWO_MEMBERS, Measured

RUNNER = CliRunner()


def invoke(*arguments: object) -> str:
    result = RUNNER.invoke(app, ["simulate", *map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


def dump(path: Path, seed: int | None = None) -> bytes:
    write_smf(run_scenario(read_scenario(TWO_MEMBERS).with_run(seed=seed, seconds=20.0)), path)
    return path.read_bytes()


def test_the_same_seed_is_the_same_bytes_and_another_is_not(tmp_path: Path) -> None:
    first = dump(tmp_path / "a.smf", 7)
    assert dump(tmp_path / "b.smf", 7) == first
    assert dump(tmp_path / "c.smf", 8) != first


def test_records_are_in_order_and_of_every_kind(measured: Measured) -> None:
    summary = _core.scan(measured.dump)
    assert summary["damage"] == []
    # Three intervals of two systems: address spaces (3 service and 7 report classes) and 3 or 2 transaction classes.
    expected = {
        "70.1": 6,
        "72.3": 3 * (3 + 5 + 3) + 3 * (3 + 5 + 2),
        "74.1": 6,
        "74.4": 12,
        "101.0": 3 * 5,
        # Two members, at the beginning and at the end of each interval.
        "100.0": 2 * 4,
        "100.1": 2 * 4,
    }
    counted = {kind: summary["records"].get(kind) for kind in expected}
    assert counted == expected
    reader = _core.SmfReader(str(measured.dump), _core.Catalogue(layout_folders()), source_id="test")
    written = [
        row["written_at"]
        for batch in reader
        for row in batch.tables["smf_record"].to_pylist()
        if row["record_type"] not in {2, 3}
    ]
    assert written == sorted(written)


def test_truth_and_answer(tmp_path: Path) -> None:
    answer = json.loads(
        invoke(TWO_MEMBERS, "--seconds", 20, "--truth", tmp_path / "t.json", "-o", tmp_path / "d.smf", "--json")
    )
    truth = json.loads((tmp_path / "t.json").read_text())
    again = run_scenario(read_scenario(TWO_MEMBERS).with_run(seconds=20.0)).results
    assert truth == again
    assert answer["events"] == truth["events"] > 10_000
    assert answer["laws"] == truth["laws"] and len(answer["laws"]) == 5
    assert answer["saturated"] == []
    assert answer["intervals"] == 1
    assert answer["records"] > 20


def test_a_saturated_system_is_said(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(TWO_MEMBERS.read_text().replace("db2_cpu = 0.001\n", "db2_cpu = 0.08\n"))
    result = RUNNER.invoke(app, ["simulate", str(scenario), "--seconds", "5", "--truth", str(tmp_path / "t.json")])
    assert result.exit_code == 0
    assert "warning: general engines of system SYS1: utilisation 99." in result.stderr
    saturated = json.loads((tmp_path / "t.json").read_text())["saturated"]
    assert {one["name"] for one in saturated if one["resource"] == "system"} == {"SYS1", "SYS2"}


def test_nothing_to_come_of_it() -> None:
    with pytest.raises(UsageError, match="asks for no output"):
        invoke(TWO_MEMBERS)


def test_names_are_checked_before_a_dump_is_written(tmp_path: Path) -> None:
    scenario = tmp_path / "s.toml"
    scenario.write_text(TWO_MEMBERS.read_text().replace('"SYS1"', '"SYSTEM1"'))
    with pytest.raises(ScenarioFileError, match=r"line \d+: system\[0\].name: 'SYSTEM1' does not fit"):
        invoke(scenario, "--seconds", 1, "-o", tmp_path / "d.smf")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s.toml"]


def test_a_group_alone_without_coupling_facility(tmp_path: Path) -> None:
    """One member that shares with nobody: no SMF 74-4, no QBGL, no QTGS."""
    text = """
run = {warm_up = 1.0, seconds = 10.0, interval = 10.0}
cec = [{name = "C1", engines = 1}]
system = [{name = "SYS1", cec = "C1"}]
region = [{name = "AOR1", system = "SYS1", db2 = "DB1"}]

[[db2]]
group = "DB1"
member = [{name = "DB1", system = "SYS1"}]
pool = [{number = 1, size = 500}]
page_set = [{name = "TS", pool = 1, pages = 1000}]

[[class]]
name = "TRAN"
rate = 20.0
regions = ["AOR1"]
cpu = 0.001
references = [{page_set = "TS", getpages = 3.0}]
"""
    run = run_scenario(parse_scenario(text))
    write_smf(run, tmp_path / "d.smf")
    summary = _core.scan(tmp_path / "d.smf")
    assert set(summary["records"]) - {"2", "3"} == {"30.2", "70.1", "72.3", "74.1", "100.0", "100.1", "101.0", "110.2"}


def test_transactions_and_page_trace_on_request(tmp_path: Path) -> None:
    said = invoke(TWO_MEMBERS, "--seconds", 5, "-o", tmp_path / "t.smf", "--transactions", "--page-trace", "--json")
    answer = json.loads(said)
    records = _core.scan(tmp_path / "t.smf")["records"]
    # A record for each transaction, all of them use Db2, instead of one for each class.
    assert records["101.0"] == sum(one["count"] for one in answer["responses"]) > 500
    assert records["110.1"] > 4
    assert records["102.0"] > 50
    # Dump header and trailer are not counted.
    assert answer["records"] == sum(records.values()) - 2


def test_one_of_the_two(tmp_path: Path) -> None:
    invoke(TWO_MEMBERS, "--seconds", 5, "-o", tmp_path / "p.smf", "--page-trace")
    records = _core.scan(tmp_path / "p.smf")["records"]
    assert "110.1" not in records
    assert records["101.0"] == 5
    assert records["102.0"] > 50


def test_records_asked_for_without_a_dump(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no dump is named; give -o FILE\.smf"):
        invoke(TWO_MEMBERS, "--transactions", "--truth", tmp_path / "truth.json")
