"""Impossible values: bounds as data, against a plain Python check; the cases that real files brought."""

from __future__ import annotations

import csv
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.errors import UnreadableInputError
from plexlens.ingest import inventory, plausible
from plexlens.ingest.plausible import Bound, Plausibility
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import evaluate
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, resolve
from plexlens.pdb import Pdb, ingest
from plexlens.report.blocks.readings import readings_of
from tests.cli.command import run
from tests.example_file import write_example

LAYOUTS = Path(__file__).parents[2] / "layouts"
SCENARIOS = Path(__file__).parents[2] / "scenarios"
START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
HEADING = "table,field,at_most,when,slack,reason,source\n"


def rows_of(values: list[dict[str, Any]]) -> pa.Table:
    """A raw table of these rows, one in a record, of intervals of a minute."""
    table = pa.Table.from_pylist(values)
    count = len(values)
    identity = {
        "source_id": pa.array(["s"] * count),
        "system": pa.array(["SYS1"] * count),
        "record_no": pa.array(range(1, count + 1), pa.uint64()),
        "section_no": pa.array([1] * count, pa.uint32()),
        "interval_start": pa.array([START] * count, pa.timestamp("us", "UTC")),
        "interval_end": pa.array([START + timedelta(seconds=60)] * count, pa.timestamp("us", "UTC")),
    }
    for name, array in identity.items():
        table = table.append_column(name, array)
    return table


def test_random_values_in_and_out_of_the_bounds() -> None:
    chance = random.Random(12)
    bounds = {
        "t": (
            # A wait per number, bounded by the number of waits and the longest; the length of the interval otherwise.
            Bound("t", "WAIT_#", "COUNT_# * LONGEST_#", "LONGEST_# > 0", 0.01, 0.5, "r", "s"),
            Bound("t", "WAIT_#", "interval_seconds", "LONGEST_# IS NULL OR LONGEST_# = 0", 0.0, 0.0, "r", "s"),
            Bound("t", "TOP", "greatest(LONGEST_*)", "", 0.0, 0.0, "r", "s"),
            Bound("t", "TOP", "interval_seconds", "", 0.0, 0.0, "r", "s"),
        )
    }

    def maybe(value: float) -> float | None:
        return None if chance.random() < 0.15 else value

    values = [
        {
            "top": maybe(chance.choice([0.0, 1.0, 5.0, 59.9, 60.0, 60.1, 1e9])),
            **{
                name.format(number): maybe(choice)
                for number in (1, 2)
                for name, choice in (
                    ("wait_{}", chance.choice([0.0, 1.0, 20.0, 20.6, 20.8, 60.0, 60.5, 4e9])),
                    ("count_{}", float(chance.randrange(5))),
                    ("longest_{}", chance.choice([0.0, 1.0, 5.0, 60.0])),
                )
            },
        }
        for _ in range(3000)
    ]

    expected = {}
    for record, row in enumerate(values, 1):
        for number in (1, 2):
            wait, count, longest = (row[f"{name}_{number}"] for name in ("wait", "count", "longest"))
            if longest is None or longest == 0:
                bound, limit = 60.0, 60.0
            elif count is None:
                continue
            else:
                bound = count * longest
                limit = bound + 0.01 * bound + 0.5
            if wait is not None and wait > limit:
                expected[record, f"WAIT_{number}"] = (wait, bound)
        known = [row[f"longest_{number}"] for number in (1, 2) if row[f"longest_{number}"] is not None]
        above = [bound for bound in (*([max(known)] if known else []), 60.0) if row["top"] is not None]
        above = [bound for bound in above if row["top"] > bound]
        if above:
            expected[record, "TOP"] = (row["top"], min(above))

    marked = Plausibility("a.smf", bounds).marked("t", rows_of(values)).to_pylist()
    assert len(expected) > 500
    assert {(m["record_no"], m["field"]): (m["value"], m["at_most"]) for m in marked} == expected
    assert len(marked) == len(expected)


def test_a_bound_that_is_missing_or_null_marks_nothing() -> None:
    bounds = {"t": (Bound("t", "A", "B", "", 0.0, 0.0, "r", "s"), Bound("t", "A", "GONE", "", 0.0, 0.0, "r", "s"))}
    rows = rows_of([{"a": 5.0, "b": None}, {"a": 5.0, "b": 6.0}, {"a": None, "b": 1.0}])
    assert Plausibility("f", bounds).marked("t", rows).num_rows == 0


def columns_of_every_table() -> dict[str, set[str]]:
    from plexlens.ingest.printed.catalogue import catalogue as printed

    columns = {}
    catalogue = _core.Catalogue([LAYOUTS])
    for table in catalogue.tables():
        columns[table] = set(catalogue.schema(table).names)
    columns |= {name: set(spec.names()) for name, spec in printed().tables.items()}
    return columns


def test_every_bound_is_about_fields_that_there_are() -> None:
    columns = columns_of_every_table()
    for path in sorted((LAYOUTS / "plausible").glob("*.csv")):
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
        assert rows, path
        for row in rows:
            assert row["table"] in columns, (path.name, row["table"])
            for field in row["field"].split():
                bound = Bound(row["table"], field, row["at_most"], row["when"], 0.0, 0.0, "r", "s")
                assert bound.of_columns(columns[row["table"]], columns), (path.name, row["table"], field)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("t,A,B,,a lot,r,s", "line 2: slack 'a lot' is not like"),
        ("t,A,B +,,,r,s", "line 2: 'B [+]' is not an SQL expression"),
        ("t,A,B; DROP TABLE x,,,r,s", "line 2: .* is "),
        ("t,A,B,,,r", "line 2: the row has 6 cells instead of 7"),
        ("t,,B,,,r,s", "line 2: one of table, field, at_most, reason and source is empty"),
    ],
)
def test_files_of_bounds_that_break_the_format_are_refused(tmp_path: Path, row: str, message: str) -> None:
    (tmp_path / "plausible").mkdir()
    (tmp_path / "plausible" / "mine.csv").write_text(HEADING + row + "\n")
    with pytest.raises(UnreadableInputError, match=f"mine.csv: {message}"):
        plausible.read_bounds([tmp_path])


def test_a_site_replaces_a_file_of_bounds(tmp_path: Path) -> None:
    (tmp_path / "plausible").mkdir()
    (tmp_path / "plausible" / "smf116.csv").write_text(HEADING + "smf116_1_wtas,WTASMLW,5,,1% + 0.5,r,s\n")
    bounds = plausible.read_bounds([tmp_path])
    found = bounds["smf116_1_wtas"]
    assert [(b.field, b.at_most, b.fraction, b.amount) for b in found] == [("WTASMLW", "5", 0.01, 0.5)]
    assert "smf116_1_wq" not in bounds
    assert "smf115_1_qjst" in bounds


def tasks(path: Path, *rows: dict[str, Any]) -> Path:
    """A dump of MQ task records: the task began an hour before its accounting interval of a minute."""
    catalogue = _core.Catalogue([LAYOUTS])
    identity = {"system": "SYS1", "subsystem": "MQ01", "interval_end": START + timedelta(seconds=60)}
    with _core.DumpWriter(path) as dump:
        for row in rows:
            task = {
                "wtasstrt": START - timedelta(hours=1),
                "wtasints": START,
                "wtasinte": START + timedelta(seconds=60),
                "wtasver": 8,
                "wtasotn": 1,
                "wtasotet": 0.001,
                **row,
            }
            block = pa.record_batch({name: [value] for name, value in task.items()})
            who = pa.record_batch({"wtidccn": ["BATCH1"]})
            sections = {"smf116_1_wtas": block, "smf116_1_wtid": who}
            dump.write(_core.encode_record(catalogue, "smf116_1", identity, sections))
    return path


#: Five waits of at most 22.1 microseconds took 49 in all; MQ 10.0 has that number in the high word of the field.
HIGH_WORD = 49e-6 * 2**32


def test_latch_waits_in_the_high_word_are_left_out_of_the_metrics(tmp_path: Path) -> None:
    dump = tasks(
        tmp_path / "mq.smf",
        {"wtaslwet_11": HIGH_WORD, "wtaslwn_11": 5, "wtaslmax_11": 22.1e-6, "wtasmlw": HIGH_WORD},
        {"wtaslwet_11": 49e-6, "wtaslwn_11": 5, "wtaslmax_11": 22.1e-6, "wtasmlw": 22.1e-6},
    )
    pdb = Pdb.create(tmp_path / "p")
    ingest(dump, pdb)
    connection = pdb.connect()
    marked = connection.table("implausible").to_arrow_table().to_pylist()
    assert [(m["record_no"], m["table_name"], m["field"], m["unit"]) for m in marked] == [
        (1, "smf116_1_wtas", "WTASLWET_11", "seconds"),
        (1, "smf116_1_wtas", "WTASMLW", "seconds"),
    ]
    # 5 waits x 22.1 microseconds.
    assert marked[0]["at_most"] == pytest.approx(110.5e-6, rel=1e-4)
    assert marked[0]["value"] == pytest.approx(210_453.0, rel=1e-3)
    # The raw table keeps the value.
    raw = connection.table("smf116_1_wtas").to_arrow_table()
    assert max(raw.column("wtaslwet_11").to_pylist()) == pytest.approx(210_453.0, rel=1e-3)

    inputs = Inputs(connection)
    rows = evaluate(inputs, GRAINS["mq_task"], by=("system",), time="all").rows()
    # The sound record alone: unknown is not nothing, so it is not 49 microseconds over two tasks' elapsed time.
    assert rows[0]["latch_seconds"] == pytest.approx(49e-6, rel=1e-3)
    # WTASMLW of the first record cannot be; the longest wait of its latches can.
    assert rows[0]["longest_latch_seconds"] == pytest.approx(22.1e-6, rel=1e-3)

    readings = readings_of(connection)
    assert readings.implausible_count == 2
    assert "record 1: smf116_1_wtas WTASLWET_11 is 210," in str(readings.implausible[0])
    assert not readings.damage_counts


def test_a_task_that_waits_longer_than_its_interval_without_a_longest_wait(tmp_path: Path) -> None:
    days = 77 * 86_400.0
    listed = inventory.of_file(tasks(tmp_path / "mq.smf", {"wtaslwet_16": days, "wtaslwn_16": 13, "wtasmlw": days}))
    assert [(v.record_no, v.field, v.at_most) for v in listed.implausible] == [
        (1, "WTASLWET_16", 60.0),
        (1, "WTASMLW", 60.0),
    ]
    assert any("values are impossible" in line for line in inventory.to_lines([listed]))
    assert inventory.to_json([listed])["implausible"][0]["value"] == pytest.approx(days)


def test_calls_are_judged_by_the_life_of_the_task(tmp_path: Path) -> None:
    # The task began 3,660 s before the interval's end: a call may be that long, though longer than its interval.
    listed = inventory.of_file(tasks(tmp_path / "a.smf", {"wtasotet": 3600.0}, {"wtasotet": 4000.0}))
    assert [(v.record_no, v.field, round(v.at_most)) for v in listed.implausible] == [(2, "WTASOTET", 3660)]


def test_a_share_of_no_processor_time_says_nothing() -> None:
    bounds = plausible.read_bounds()
    rows = rows_of(
        [
            {"busy_percent": 65.4, "processors_effective": 0.0},
            {"busy_percent": 65.4, "processors_effective": 0.9},
            {"busy_percent": 100.4, "processors_effective": 0.9},
            {"busy_percent": 101.0, "processors_effective": None},
        ]
    )
    marked = Plausibility("cf.xml", bounds).marked("rmf_xml_coupling_facility", rows).to_pylist()
    assert [(m["record_no"], m["value"], m["at_most"]) for m in marked] == [(1, 65.4, 0.0), (4, 101.0, 100.0)]


@pytest.mark.parametrize("name", ["mq/TEST115.dat", "mq/TEST116.dat", "mq/TESTCHL.dat", "rmf/cpu.xml", "rmf/wlmgl.xml"])
def test_sound_real_files_have_no_such_value(name: str, shared_data: Path) -> None:
    assert inventory.of_file(shared_data / name).implausible == []


def test_the_real_report_of_facilities_without_processor_time(shared_data: Path) -> None:
    # The report prints 65.2 and 65.4 % busy, and 0.000 effective processors for both facilities.
    assert [v.value for v in inventory.of_file(shared_data / "rmf/cf.xml").implausible] == [65.2, 65.4]


def test_the_example_has_no_such_value(tmp_path: Path) -> None:
    write_example(tmp_path / "example.smf")
    assert inventory.of_file(tmp_path / "example.smf").implausible == []


@pytest.mark.parametrize("scenario", sorted(path.stem for path in SCENARIOS.glob("*.toml")))
def test_simulated_scenarios_have_no_such_value(scenario: str, tmp_path: Path) -> None:
    dump = tmp_path / "run.smf"
    words = ["simulate", str(SCENARIOS / f"{scenario}.toml"), "-o", str(dump), "--seconds", "60"]
    done = run(*words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert inventory.of_file(dump).implausible == []


@pytest.mark.parametrize("systems", [(), ("SYS1",)])
def test_what_reads_raw_rows_gets_null_for_a_value_that_cannot_be(tmp_path: Path, systems: tuple[str, ...]) -> None:
    dump = tasks(tmp_path / "mq.smf", {"wtasmlw": HIGH_WORD}, {"wtasmlw": 22.1e-6})
    pdb = Pdb.create(tmp_path / "p")
    ingest(dump, pdb)
    connection = pdb.connect()

    inputs = Inputs(connection, resolve(Selection(systems=systems), connection, "p"))
    assert bool(inputs.selection) == bool(systems)
    rows = sorted(inputs.selected("smf116_1_wtas", "wtasmlw").rows(), key=lambda row: row["record_no"])
    assert [row["wtasmlw"] for row in rows] == [None, pytest.approx(22.1e-6, rel=1e-3)]
