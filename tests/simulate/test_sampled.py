"""Runs of which a part of each interval is simulated, and the bundled day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

from plexlens.errors import PlexlensError
from plexlens.findings import Finding, check
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.simulate import Scenario, parse_scenario, run_scenario, simulate_to_smf, write_smf
from plexlens.simulate.bundled import day_scenario
from plexlens.simulate.sampled import sampling_text
from tests.cli.command import run as command
from tests.simulate.conftest import TWO_MEMBERS
from tests.simulate.test_data_sets import SCENARIO as DATA_SETS

TEXT = TWO_MEMBERS.read_text(encoding="utf-8")

#: Numbers of things, means and maxima: the same however long an interval is.
LEVELS = {
    *("number", "volume", "engines", "dispatchable", "changed_in_group"),
    *("most_inside", "most_queued", "most_threads", "most_open_tcbs", "most_open_tcb_queue"),
}


def _scenario(text: str = TEXT, **run: float) -> Scenario:
    values = parse_scenario(text).values
    return Scenario("two.toml", values | {"run": {"seed": 1, "warm_up": 5.0, **run}})


def _numbers(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _numbers(inner, (*path, str(at)))
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield path, value


def test_intervals_are_those_of_the_sample_each_count_and_time_multiplied() -> None:
    # The oracle is the same run with nothing left out: 4 s in intervals of 2 s, where the other says 20 s each.
    plain = run_scenario(_scenario(seconds=4.0, interval=2.0)).results["intervals"]
    sampled = run_scenario(_scenario(seconds=40.0, interval=20.0, sample=2.0)).results["intervals"]
    there, here = dict(_numbers(plain)), dict(_numbers(sampled))
    assert there.keys() == here.keys()
    for path, value in there.items():
        times = 1 if path[-1] in LEVELS else 10
        assert here[path] == pytest.approx(value * times, rel=1e-12), path
    assert sum(value > 0 for value in there.values()) > 500


def test_volumes_and_open_tcbs_at_a_time_are_not_multiplied() -> None:
    # The region of the scenario has one open TCB, and its data sets are on the volumes 0, 2 and 3.
    run = run_scenario(_scenario(DATA_SETS, seconds=40.0, interval=20.0, sample=2.0))
    plain = run_scenario(_scenario(DATA_SETS, seconds=4.0, interval=2.0)).results["intervals"]
    for interval, short in zip(run.results["intervals"], plain, strict=True):
        (region,), (region_of_sample,) = interval["regions"], short["regions"]
        assert region["most_open_tcbs"] == 1
        assert region["open_tcbs"] == 10 * region_of_sample["open_tcbs"] > 0
        assert sorted(one["volume"] for one in interval["data_sets"]) == [0, 2, 3]
        assert [one["used"]["requests"] for one in interval["data_sets"]] == [
            10 * one["used"]["requests"] for one in short["data_sets"]
        ]


def test_rates_of_the_records_are_those_of_the_simulated_seconds(tmp_path: Path) -> None:
    rows = []
    for name, times in (("plain", {"seconds": 4.0, "interval": 2.0}), ("sampled", {"seconds": 40.0, "interval": 20.0})):
        more = {"sample": 2.0} if name == "sampled" else {}
        write_smf(run_scenario(_scenario(begin=3600.0, **times, **more)), tmp_path / f"{name}.smf")
        pdb = Pdb.create(tmp_path / name)
        ingest([tmp_path / f"{name}.smf"], pdb)
        connection: duckdb.DuckDBPyConnection = pdb.connect()
        rows.append(
            connection.execute(
                "select start, length, r744ssrc / length from (select epoch(interval_start) as start, "
                "r744ssrc, epoch(interval_end - interval_start) as length from smf74_4_request) "
                "where r744ssrc > 0 order by all"
            ).fetchall()
        )
    plain, sampled = rows
    assert len(plain) == len(sampled) > 4
    assert {row[0] for row in sampled} == {datetime(2026, 1, 5, 1, 0, at, tzinfo=UTC).timestamp() for at in (0, 20)}
    assert {row[1] for row in sampled} == {20.0}
    assert sorted(row[2] for row in sampled) == pytest.approx(sorted(row[2] for row in plain), rel=1e-12)


@pytest.mark.parametrize("logged", ["transactions", "page_trace"])
def test_single_transactions_and_pages_cannot_stand_for_others(logged: str, tmp_path: Path) -> None:
    with pytest.raises(PlexlensError, match=r"run\.sample") as refused:
        simulate_to_smf(_scenario(seconds=20.0, interval=20.0, sample=2.0), tmp_path / "d.smf", **{logged: True})
    assert "leave out --transactions" in str(refused.value)
    assert not (tmp_path / "d.smf").exists()


def test_how_much_was_simulated_is_said() -> None:
    said = "2 s of each interval of 20 s were simulated; counts and times of the records are multiplied by 10"
    assert sampling_text({"run": {"interval": 20.0, "sample": 2.0}}) == said
    assert sampling_text({"run": {"interval": 20.0}}) == ""


def _afternoon() -> Scenario:
    """The bundled day from 13:30 to 15:30, warmed up for longer: what goes on at a time of day is moved with it."""
    day = day_scenario().values
    noon = 13.5 * 3600.0
    classes = []
    for one in day["class"]:
        parts = one["profile"]
        now = [part for part in parts if part["from"] <= noon][-1]
        later = [part | {"from": part["from"] - noon} for part in parts if part["from"] > noon]
        factors = [now | {"from": 0.0}, *later]
        classes.append(one | {"profile": factors} if any(part["factor"] for part in factors) else one | {"rate": 0.0})
    return Scenario(
        "day.toml",
        day | {"run": day["run"] | {"warm_up": 240.0, "begin": noon, "seconds": 2 * 3600.0}, "class": classes},
    )


def _of(finding: Finding) -> dict[str, str | None]:
    return {one.column: one.value for one in finding.entity}


def test_the_findings_of_the_day_name_what_begins_at_ten_past_two(tmp_path: Path) -> None:
    run = run_scenario(_afternoon())
    write_smf(run, tmp_path / "day.smf")
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([tmp_path / "day.smf"], pdb)
    found = check(Inputs(pdb.connect())).fired
    missed = [one for one in found if one.rule.id == "workload.goal_missed"]
    reclaims = [one for one in found if one.rule.id == "coupling.directory_reclaim"]
    # Near the top: of two hours, most of which have the problem, waits for reads are another rule.
    assert {"workload.goal_missed", "coupling.directory_reclaim"} <= set(
        [*dict.fromkeys(one.rule.id for one in found)][:3]
    )
    (reclaim,) = reclaims
    assert _of(reclaim)["structure"] == "DSNB_GBP1"
    assert reclaim.start == datetime(2026, 1, 5, 14, 10, tzinfo=UTC)
    assert "-ALTER GROUPBUFFERPOOL(GBP1) RATIO(6)" in reclaim.command
    # Half again as many as the 3.5 that the scenario gives, and 33 µs for each page, as the simulator counted them.
    invalid = [one["members"][0]["pools"][0]["group"]["invalidated_by_reclaim"] for one in run.results["intervals"]]
    assert reclaim.cost == pytest.approx(sum(invalid) * 33e-6 / 2, rel=1e-6)
    # Four intervals before ten past two, and eight after it.
    assert not any(invalid[:4])
    assert all(invalid[4:])
    assert {_of(one)["class_name"] for one in missed} >= {"PAY"}
    assert {_of(one)["system"] for one in missed} == {"SYSA", "SYSB", "SYSC"}
    assert {one.start for one in missed} <= {datetime(2026, 1, 5, 14, at, tzinfo=UTC) for at in (10, 20, 30)}
    assert all("what begins at the same time is the first suspect" in one.action for one in missed)


def test_the_command_writes_the_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = day_scenario().values["run"]
    assert (run["begin"], run["seconds"], run["interval"]) == (0.0, 86_400.0, 600.0)
    monkeypatch.setattr(
        "plexlens.simulate.bundled.day_scenario", lambda: _scenario(seconds=20.0, interval=20.0, sample=2)
    )
    done = command("example", "--day", "-o", "day.smf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "2 s of each interval of 20 s were simulated" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("written: day.smf, ")
    refused = command("example", "--day", "-o", "day.csv.d/x", cwd=tmp_path)
    assert refused.returncode == 2
    assert "Traceback" not in refused.stderr
