"""CPU time per request and the split of the response, against the truth of a simulated group driven at known rates."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from plexlens.errors import NothingUsableError
from plexlens.ingest.load_test import read
from plexlens.load import Costs, Run, costs_of, run_of, study_files
from plexlens.load.page.report import run_report
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.report.model import Table
from tests.cli.command import run

SCENARIO = Path(__file__).parent.parent / "simulate" / "two-members.toml"
#: What the driver sees beside the time in CICS.
NETWORK = 0.003


class Driven:
    """A simulated group, its SMF, its truth, and the record of a driver that saw each task and the network."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        done = run(
            "simulate",
            SCENARIO,
            "--seconds",
            "120",
            "--transactions",
            "--truth",
            "truth.json",
            "-o",
            "group.smf",
            cwd=folder,
        )
        assert done.returncode == 0, done.stderr
        self.truth = json.loads((folder / "truth.json").read_text())
        pdb = Pdb.create(folder / "pdb")
        ingest([folder / "group.smf"], pdb)
        self.inputs = Inputs(pdb.connect())
        tasks = self.inputs.connection.execute(
            "select tran, epoch_us(start), epoch_us(stop) from smf110_1_performance where start is not null order by 2"
        ).fetchall()
        self.tasks: list[tuple[str, int, int]] = tasks
        half = round(NETWORK * 5e5)
        lines = [f"{(begin - half) / 1e3},{(end - begin + 2 * half) / 1e3},{name},true" for name, begin, end in tasks]
        self.results = folder / "driver.jtl"
        self.results.write_text("timeStamp,elapsed,label,success\n" + "\n".join(lines) + "\n")

    def run(self, **how: Any) -> Run:
        return run_of(read(self.results), **{"warm_up_seconds": 0.0, **how})

    def sum(self, part: str) -> float:
        """Of all address spaces and intervals: the truth."""
        return sum(
            space[part] for one in self.truth["intervals"] for system in one["systems"] for space in system["spaces"]
        )


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    yield Driven(tmp_path_factory.mktemp("driven"))


@pytest.fixture(scope="module")
def costs(driven: Driven) -> Costs:
    return costs_of(driven.run(), driven.inputs, "group.smf")


def test_cpu_per_request_is_the_truth_within_one_percent(driven: Driven, costs: Costs) -> None:
    ended = len(driven.tasks)
    assert costs.requests == pytest.approx(ended, rel=0.01)
    assert sum(one.cp_seconds for one in costs.spaces) / costs.requests == pytest.approx(
        driven.sum("cpu") / ended, rel=0.01
    )
    report = [one for one in costs.classes if one.part.startswith("report")]
    assert sum(one.cp_seconds for one in report) / costs.requests == pytest.approx(driven.sum("cpu") / ended, rel=0.01)


def test_the_response_is_split_as_it_was_made(driven: Driven, costs: Costs) -> None:
    inside = [(end - begin) / 1e6 for _, begin, end in driven.tasks]
    assert costs.split is not None
    assert costs.split.outside == pytest.approx(NETWORK, rel=0.01)
    assert costs.split.cics == pytest.approx(sum(inside) / len(inside), rel=0.01)
    assert costs.split.client == pytest.approx(costs.split.outside + costs.split.program + (costs.split.db2 or 0.0))
    elapsed = sum(
        system["used"]["db2_elapsed"]
        for one in driven.truth["intervals"]
        for work in one["classes"]
        for system in work["systems"]
    )
    assert costs.split.db2 == pytest.approx(elapsed / costs.requests, rel=0.01)


def test_what_the_client_delays_is_a_part_of_its_own(driven: Driven, costs: Costs) -> None:
    """Each second request is sent 8 ms after it was due, the others at once: 4 ms of a mean request."""
    test = read(driven.results)
    assert test.requests is not None and costs.split is not None
    started = test.requests["started"].cast(pa.int64()).to_numpy()
    due = pa.array(started - 8_000 * (np.arange(len(started)) % 2), pa.timestamp("us", "UTC"))
    place = test.requests.column_names.index("scheduled")
    planned = replace(test, requests=test.requests.set_column(place, "scheduled", due), scheduled=True)
    late = costs_of(run_of(planned, warm_up_seconds=0.0), driven.inputs, "group.smf")
    assert late.split is not None and late.split.late == pytest.approx(0.004, rel=0.01)
    assert replace(late.split, late=None) == costs.split
    assert late.split.whole == pytest.approx(
        late.split.late + NETWORK + costs.split.program + (costs.split.db2 or 0.0), rel=0.01
    )
    table = run_report(run_of(planned, warm_up_seconds=0.0), late).section("run-response").blocks[0]
    assert isinstance(table, Table)
    assert [row[0] for row in table.rows] == [
        "Client, before it sends the request", "Network and driver", "CICS, without Db2", "Db2",
    ]  # fmt: skip
    assert sum(row[2] for row in table.rows) == pytest.approx(1.0)


def test_each_transaction_has_its_tasks(driven: Driven, costs: Costs) -> None:
    """Tasks that began in the intervals, and requests that did, each by its own clock."""
    start, end = costs.start.timestamp(), costs.end.timestamp()
    for name in {name for name, _, _ in driven.tasks}:
        begins = [begin / 1e6 for other, begin, _ in driven.tasks if other == name]
        tasks = sum(one.number for one in costs.transactions if one.name == name)
        # SMF 110-1 is selected by the time of writing, some moments after the task ended.
        assert tasks == pytest.approx(sum(start <= begin < end for begin in begins), abs=5)
        assert costs.by_request[name][0] == sum(start <= begin - NETWORK / 2 < end for begin in begins)


def test_only_whole_intervals_of_the_steady_part_count(driven: Driven, costs: Costs) -> None:
    """Intervals of 20 seconds: after a warm-up of 30, the first whole one begins at 40."""
    later = costs_of(driven.run(warm_up_seconds=30.0), driven.inputs, "group.smf")
    assert (later.start, later.end) == (costs.start + timedelta(seconds=40), costs.end)
    begins = [begin / 1e6 - NETWORK / 2 for _, begin, _ in driven.tasks]
    assert later.requests == sum(later.start.timestamp() <= begin < later.end.timestamp() for begin in begins)


def test_a_driver_ahead_of_the_clock_of_the_systems(driven: Driven, costs: Costs) -> None:
    """An hour ahead: without --clock no interval fits, with it all is as before."""
    lines = driven.results.read_text().splitlines()
    moved = [lines[0], *(f"{float(line.split(',', 1)[0]) + 3_600_000},{line.split(',', 1)[1]}" for line in lines[1:])]
    path = driven.folder / "ahead.jtl"
    path.write_text("\n".join(moved) + "\n")
    with pytest.raises(NothingUsableError, match="no SMF interval lies in the steady part"):
        costs_of(run_of(read(path), warm_up_seconds=0.0), driven.inputs, "group.smf")
    again = costs_of(run_of(read(path), warm_up_seconds=0.0, clock_seconds=3600.0), driven.inputs, "group.smf")
    assert (again.requests, again.spaces, again.split) == (costs.requests, costs.spaces, costs.split)


def test_work_of_others_refuses_the_split(driven: Driven) -> None:
    """The record of half of the requests: each seems to cost two tasks."""
    lines = driven.results.read_text().splitlines()
    path = driven.folder / "half.jtl"
    path.write_text("\n".join([lines[0], *lines[1::2]]) + "\n")
    half = costs_of(run_of(read(path), warm_up_seconds=0.0), driven.inputs, "group.smf")
    assert half.split is None
    assert "2.00 per request" in half.notes[0]


def test_an_unknown_region_is_named(driven: Driven) -> None:
    other = costs_of(driven.run(), driven.inputs, "group.smf", front=("NOWHERE",))
    assert other.split is None
    assert "no region of NOWHERE" in other.notes[0]


def test_requests_of_another_day_are_refused(driven: Driven) -> None:
    day = datetime(2026, 6, 1, tzinfo=UTC)
    with pytest.raises(NothingUsableError, match="no request began between"):
        driven.run(since=day, until=day + timedelta(hours=1))


def test_the_command_makes_a_page_a_row_of_a_study_and_says_what_is_wrong(driven: Driven) -> None:
    folder = driven.folder
    words = ("run", "driver.jtl", "--smf", "pdb", "--warm-up", "0")
    done = run(*words, "--study", "ways", "--label", "a", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["cost"]["requests"] == pytest.approx(made["requests"][-1]["requests"], rel=1e-3)
    assert run(*words, "--study", "ways", "--label", "b", "-o", "page.html", cwd=folder).returncode == 0
    page = (folder / "page.html").read_text()
    for word in ("Where the response time goes", "CPU time per request by address space", "coordinated omission"):
        assert word in page
    study = run("study", "ways", "--json", cwd=folder)
    assert study.returncode == 0, study.stderr
    rows = (folder / "ways" / "runs.csv").read_text().splitlines()
    assert [row.split(",")[0] for row in rows] == ["run", "a", "b"]
    # Milliseconds of a request: all busy processors over the rate.
    heads, cells = rows[0].split(","), rows[1].split(",")
    busy = sum(float(cell) for head, cell in zip(heads, cells, strict=True) if head.endswith("CPU%"))
    assert float(cells[-1]) == pytest.approx(busy * 10 / float(cells[1]), abs=1e-3)
    assert run("compare", "ways:runs:a", "ways:runs:b", cwd=folder).returncode == 0
    for wrong, code, what in (
        (("run", "driver.jtl", "--study", "other"), 2, "give SMF of the same minutes"),
        (("run", "driver.jtl", "--from", "noon"), 2, "is not a time"),
        (("run", "driver.jtl", "--name-of", "PAY"), 2, "REQUEST=TRAN"),
        (("run", "missing.jtl"), 3, "missing.jtl"),
        (("run", "group.smf"), 3, "no load-test tool is known that writes such a file"),
        (("run", "driver.jtl", "--smf", "driver.jtl"), 3, "driver.jtl"),
        (("run", "driver.jtl", "--smf", "pdb", "--study", "pdb"), 2, "not a study that plexlens run began"),
    ):
        done = run(*wrong, cwd=folder)
        assert (done.returncode, what in done.stderr) == (code, True), (wrong, done.stderr)
        assert "Traceback" not in done.stderr


def test_ways_in_reads_the_study_and_finds_the_truth(driven: Driven) -> None:
    """Two ways of the same test: each has the CPU time of the truth, on general processors and on zIIPs."""
    folder = driven.folder
    words = ("run", "driver.jtl", "--smf", "pdb", "--warm-up", "0", "--study", "chosen")
    for way in ("https:32KB:per-request:ssl", "http:32KB:persistent:none"):
        done = run(*words, "--way", way, "--label", "a", "-o", "way.txt", cwd=folder)
        assert done.returncode == 0, done.stderr
    assert run(*words, "--label", "a", "-o", "way.txt", cwd=folder).returncode == 0
    with (folder / "chosen" / "https.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    asked = ("ways-in", "--study", "chosen", "--rate", row["ETR"], "--engines", "2", "--json")
    done = run(*asked, cwd=folder)
    assert done.returncode == 0, done.stderr
    ways = {way["id"]: way for way in json.loads(done.stdout)["ways"]}
    assert ways.keys() == {"https", "http"}
    ended = len(driven.tasks)
    for way in ways.values():
        assert way["general_ms"] == pytest.approx(driven.sum("cpu") / ended * 1e3, rel=0.01)
        assert way["specialty_ms"] == pytest.approx(driven.sum("ziip") / ended * 1e3, rel=0.01)
    done = run(*asked, "--security", "ssl", cwd=folder)
    assert [way["id"] for way in json.loads(done.stdout)["ways"]] == ["https"]
    alone = run("ways-in", "--study", "chosen", "--rate", "9999", "--extrapolate", cwd=folder)
    assert (alone.returncode, "no way into CICS was measured" in alone.stderr) == (2, True), alone.stderr
    for table in ("https", "http", "runs"):
        assert run("compare", f"chosen:{table}:a", f"chosen:{table}:a", cwd=folder).returncode == 0
    studied = run("study", "chosen", "--json", cwd=folder)
    assert [(table["computed"], table["disagree"]) for table in json.loads(studied.stdout)["tables"]] == [(1, [])] * 3
    before = sorted((path.name, path.read_text()) for path in (folder / "chosen").iterdir())
    for way, what in (
        ("https:16KB:per-request:ssl", "has 32,768 bytes, per-request connections and security ssl"),
        ("https:32KB", "NAME:PAYLOAD:CONNECTION:SECURITY"),
        ("https:32KB:new:ssl", "persistent or per-request"),
        ("https:much:persistent:ssl", "is not a payload"),
        ("../https:32KB:persistent:ssl", "cannot name a way"),
        ("runs:32KB:persistent:ssl", "cannot name a way"),
    ):
        done = run(*words, "--way", way, cwd=folder)
        assert (done.returncode, what in done.stderr) == (2, True), (way, done.stderr)
    assert sorted((path.name, path.read_text()) for path in (folder / "chosen").iterdir()) == before


def test_a_study_without_ways_and_the_study_of_another(driven: Driven) -> None:
    folder = driven.folder
    words = ("run", "driver.jtl", "--smf", "pdb", "--warm-up", "0", "-o", "other.txt", "--study")
    assert run(*words, "wayless", cwd=folder).returncode == 0
    done = run("ways-in", "--study", "wayless", "--rate", "200", cwd=folder)
    assert (done.returncode, "plexlens run --study FOLDER --way" in done.stderr) == (3, True), done.stderr
    other = folder / "by-hand"
    other.mkdir()
    table, definition = other / "runs.csv", other / "study.toml"
    table.write_text("run,ETR\na,10\n")
    definition.write_text('name = "by-hand"\n')
    done = run(*words, "by-hand", cwd=folder)
    assert (done.returncode, "not a study that plexlens run began" in done.stderr) == (2, True), done.stderr
    assert (table.read_text(), definition.read_text()) == ("run,ETR\na,10\n", 'name = "by-hand"\n')


def test_minutes_without_address_spaces_make_no_row(driven: Driven, costs: Costs, tmp_path: Path) -> None:
    """SMF 72-3 alone gives CPU time by class, which a row of address spaces cannot hold."""
    with pytest.raises(NothingUsableError, match="requests cost nothing"):
        study_files(tmp_path / "ways", driven.run(), replace(costs, spaces=()), "a")
