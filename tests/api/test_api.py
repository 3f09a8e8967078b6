"""Python gets what the commands print, in types that other libraries take as they are."""

from __future__ import annotations

import csv
import json
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime
from pathlib import Path
from typing import Any

import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import plexlens as px
from plexlens.api import Database, DataLossWarning
from plexlens.errors import NothingUsableError, PlexlensError, UnreadableInputError, UsageError
from tests.cli.command import run
from tests.example_file import write_example, write_part_of_example
from tests.records import dump, record

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the example as a dump and as a database, a part of it as both, and a simulated trace of pages."""
    folder = tmp_path_factory.mktemp("api")
    write_example(folder / "example.smf")
    assert run("ingest", "example.smf", "--pdb", "pdb", cwd=folder).returncode == 0
    write_part_of_example(folder / "part.smf")
    assert run("ingest", "part.smf", "--pdb", "part", cwd=folder).returncode == 0
    done = run(
        "simulate", ROOT / "scenarios/capacity.toml", "--seconds", "3", "--page-trace", "-o", "trace.smf", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def pdb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    monkeypatch.chdir(folder)
    with px.open("pdb") as opened:
        yield opened


@pytest.fixture
def part(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Database]:
    """A database of which a report takes a second; that of the whole example is compared once."""
    monkeypatch.chdir(folder)
    with px.open("part") as opened:
        yield opened


def report_of_part(**selection: Any) -> Any:
    """The report of the small database, of which a part is selected."""
    with px.open("part") as opened:
        return opened.report(**selection)


def printed(folder: Path, *words: str | Path) -> Any:
    """What a command prints with --json."""
    done = run(*words, "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


_SCENARIO = str(ROOT / "scenarios/capacity.toml")
_QUERY = "select system, structure, sync_service_time from coupling_structure order by all"

#: An answer in Python, and the words of the command that prints the same.
SAME: dict[str, tuple[Callable[[Database], Any], tuple[str, ...]]] = {
    "report of a part": (
        lambda pdb: report_of_part(start=date(1996, 5, 29), end="1996-05-29", systems="SYS*"),
        ("report", "part", "--from", "1996-05-29", "--to", "1996-05-29", "--system", "SYS*"),
    ),
    "sql": (lambda pdb: pdb.sql(_QUERY), ("sql", "pdb", _QUERY)),
    "sql of a part": (lambda pdb: pdb.sql(_QUERY, systems="SYS1"), ("sql", "pdb", _QUERY, "--system", "SYS1")),
    "compare": (
        lambda pdb: px.compare_runs(pdb, "pdb@1996-05-29", mix_bound=0.5),
        ("compare", "pdb", "pdb@1996-05-29", "--mix-bound", "50"),
    ),
    "compare dumps": (lambda pdb: px.compare_runs("part.smf", "part"), ("compare", "part.smf", "part")),
    "compare runs of a study": (
        lambda pdb: px.compare_runs("VM/XA 2.1", "VM/ESA 1.1", chain="vmesa-1992:table-03"),
        ("compare", "VM/XA 2.1", "VM/ESA 1.1", "--chain", "vmesa-1992:table-03"),
    ),
    "plan": (
        lambda pdb: px.plan(pdb, scale={"": 1.3}, engines="+1", tolerance=0.4),
        ("plan", "pdb", "--scale", "1.3", "--engines", "+1", "--tolerance", "40"),
    ),
    "pools": (
        lambda pdb: px.analyse_pools("trace.smf", sizes=[100, 500]),
        ("pools", "trace.smf", "--sizes", "100,500"),
    ),
    "pools with a change": (
        lambda pdb: px.analyse_pools("trace.smf", pool="BP1=2000,vpseqt=40", settings="trace.smf"),
        ("pools", "trace.smf", "--pool", "BP1=2000,vpseqt=40", "--settings", "trace.smf"),
    ),
    "simulate": (
        lambda pdb: px.simulate_scenario(_SCENARIO, seconds=2, seed=7),
        ("simulate", _SCENARIO, "--seconds", "2", "--seed", "7"),
    ),
    "study": (lambda pdb: px.study("cics-2012"), ("study", "cics-2012")),
    "study with a goal": (
        lambda pdb: px.study("vmesa-1992", goals={"storage-response": 0.7}, predictions={"capacity-9021": [8, 10]}),
        ("study", "vmesa-1992", "--goal", "storage-response=0.7", "--predict", "capacity-9021=8,10"),
    ),
    "cost": (
        lambda pdb: px.software_cost(pdb, saves={"DB2DDF": 0.25}, ziip={"DB2DDF": None}, move="DB2DDF=08-12:20"),
        ("cost", "pdb", "--saves", "DB2DDF=25", "--ziip", "DB2DDF", "--move", "DB2DDF=08-12:20"),
    ),
    "simulate twice": (
        lambda pdb: px.simulate_scenario(_SCENARIO, seconds=2, replications=2),
        ("simulate", _SCENARIO, "--seconds", "2", "--replications", "2"),
    ),
}


@pytest.mark.parametrize("what", SAME)
def test_an_answer_is_what_the_command_prints(folder: Path, pdb: Database, what: str) -> None:
    answer, words = SAME[what]
    assert json.loads(json.dumps(answer(pdb).to_json())) == printed(folder, *words)


@pytest.fixture(scope="module")
def printed_report(folder: Path) -> Any:
    """The report of the whole example as the command prints it, under a title of its own."""
    return printed(folder, "report", "pdb", "--title", "T")


def test_a_report_is_what_the_command_prints(pdb: Database, printed_report: Any) -> None:
    assert json.loads(json.dumps(pdb.report(title="T").to_json())) == printed_report


def test_findings_are_those_of_the_report(pdb: Database, printed_report: Any) -> None:
    found = pdb.findings().to_json()
    assert found["fired"]
    assert found == printed_report["findings"]


def test_dumps_read_give_the_report_of_the_command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with px.read("part.smf") as made:
        assert made.report().to_json() == printed(folder, "report", "part.smf")


def test_metrics_are_the_sums_of_raw_fields(pdb: Database) -> None:
    """Oracle: the fields of SMF 74-4 added up by a query that knows no metric."""
    made = pdb.metric("coupling_structure", by="structure", every="all", metrics="sync_service_time")
    expected = pdb.sql(
        "select r744snam, sum(r744sstm) / nullif(sum(r744ssrc), 0) from smf74_4_request group by 1"
    ).arrow()
    by_hand = dict(zip(*(column.to_pylist() for column in expected.columns), strict=True))
    for row in made.arrow().to_pylist():
        assert row["sync_service_time"] == pytest.approx(by_hand.pop(row["structure"]), rel=1e-9)
    assert by_hand == {}


def test_rows_of_every_key_and_interval_are_those_of_the_metric_view(pdb: Database) -> None:
    """The view is of facts and metrics of each row; the roll-up to every key must not change any."""
    names = "system, sysplex, facility, structure"
    made = pdb.metric("coupling_structure", metrics=["requests_per_second", "sync_requests"]).arrow()
    view = pdb.sql(
        f'select {names}, "interval" as "time", requests_per_second, sync_requests from coupling_structure'
        f' order by {names}, "interval"'
    ).arrow()
    assert made.num_rows == 56
    assert made.to_pylist() == view.to_pylist()


def test_a_part_is_selected_by_texts_and_by_dates_alike(pdb: Database) -> None:
    by_text = pdb.metric("cpu_system", start="1996-05-29T13:56", end="1996-05-29T14:00").arrow()
    by_time = pdb.metric("cpu_system", start=datetime(1996, 5, 29, 13, 56), end=datetime(1996, 5, 29, 14)).arrow()
    # SYS1 and SYS2 have one interval in these four minutes: 13:56 to 13:58.
    assert [row["system"] for row in by_text.to_pylist()] == ["SYS1", "SYS2"]
    assert by_time.equals(by_text)
    assert pdb.metric("cpu_system", start=date(1996, 5, 29), end=date(1996, 5, 29)).arrow().num_rows == 4


def test_conditions_and_classes(pdb: Database) -> None:
    locks = pdb.metric("coupling_structure", by="structure", every="all", where="structure like '%LOCK1'", metrics=[])
    assert locks.arrow().column_names == ["structure"]
    assert all(name.endswith("LOCK1") for name in locks.arrow().column("structure").to_pylist())
    assert len(pdb.metric("coupling_structure", where="structure = 'NONE'")) == 0
    of_class = pdb.metric("workload_period", by="class_name", every="all", classes="INQ1*", metrics="velocity")
    assert of_class.arrow().column("class_name").to_pylist() == ["INQ1", "INQ1C", "INQ1S"]


def test_a_time_without_offset_has_no_zone(tmp_path: Path) -> None:
    """The lock structures of a printed RMF report, 14:04 by the clock of a system whose offset no line names."""
    with px.read(ROOT / "tests/golden/reports/lock_structures.txt") as made:
        times = made.metric("coupling_facility", metrics=[]).arrow().column("time")
    assert times.type == pa.timestamp("us")
    assert times.to_pylist()[0] == datetime(1996, 5, 29, 14, 4)


def test_rows_without_a_time_are_kept(tmp_path: Path) -> None:
    with px.read(ROOT / "tests/golden/reports/log.txt") as made:
        rows = made.metric("db2_log", metrics=[])
    assert rows.arrow().column("time").to_pylist() == [None]
    assert "db2" in rows._repr_html_().lower()


def test_types_are_kept_on_the_way(pdb: Database) -> None:
    import pandas
    import polars

    rows = pdb.sql(
        "select 1::utinyint as small, null::bigint as missing, 'a' as name, 0.5::double as share,"
        " timestamptz '1996-05-29 13:54:00Z' as moment, date '1996-05-29' as day"
    )
    types = [pa.uint8(), pa.int64(), pa.string(), pa.float64(), pa.timestamp("us", "UTC"), pa.date32()]
    assert rows.arrow().schema.types == types
    frame = rows.to_pandas()
    assert [kind.pyarrow_dtype for kind in frame.dtypes] == types
    assert frame["missing"].isna().all()
    assert pa.Table.from_pandas(frame, preserve_index=False).schema.types == types
    assert rows.to_polars().schema == {
        "small": polars.UInt8, "missing": polars.Int64, "name": polars.String, "share": polars.Float64,
        "moment": polars.Datetime("us", "UTC"), "day": polars.Date,
    }  # fmt: skip
    # The Arrow PyCapsule interface, which these libraries ask for by themselves.
    assert pa.table(rows).schema.types == types
    assert polars.DataFrame(rows).shape == (1, 6)
    assert isinstance(pandas.DataFrame.from_arrow(rows), pandas.DataFrame)


def test_a_field_says_what_it_is(pdb: Database) -> None:
    table = pdb.metric("coupling_structure", by=["system", "structure"], metrics="sync_service_time").arrow()
    told = {key.decode(): value.decode() for key, value in table.schema.field("sync_service_time").metadata.items()}
    assert (told["title"], told["unit"], told["shown_in"]) == ("Synchronous service time", "s", "µs")
    assert told["formula"] == "R744SSTM / R744SSRC"
    assert table.schema.field("structure").metadata == {b"title": b"Structure"}
    assert table.schema.metadata[b"grain"] == b"coupling_structure"


def test_a_notebook_shows_units_and_a_chart(pdb: Database) -> None:
    shown = pdb.metric("cpu_system", by="system", metrics=["mvs_busy"])._repr_html_()
    assert '<span class="unit">%</span>' in shown
    assert shown.count('class="line c1"') == 2  # in the chart and in its legend
    assert "XML1, mean 74.9" in shown
    whole = pdb.metric("cpu_system", by="system", every="all", metrics=["mvs_busy"])._repr_html_()
    assert "<svg" not in whole


def test_names_are_never_code_in_a_notebook(pdb: Database) -> None:
    shown = pdb.sql("""select '<script>alert(1)</script>' as "<b>head" """)._repr_html_()
    assert "<script" not in shown
    assert "<b>head" not in shown


def test_a_page_is_shown_in_a_frame_of_its_own_and_saved_by_its_ending(part: Database, tmp_path: Path) -> None:
    page = part.report()
    framed = page._repr_html_()
    assert framed.count("<") == 2
    assert 'sandbox="allow-scripts"' in framed
    page.save(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text() == page.html()
    page.save(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == page.to_json()
    assert page.save(str(tmp_path / "report.xlsx")).read_bytes()[:2] == b"PK"


@pytest.mark.parametrize("ending", ["parquet", "csv", "json", "xlsx"])
def test_a_table_is_saved_by_its_ending(pdb: Database, tmp_path: Path, ending: str) -> None:
    rows = pdb.metric("cpu_system", by="system", metrics="mvs_busy")
    file = rows.save(tmp_path / f"rows.{ending}")
    expected = rows.arrow().column("mvs_busy").to_pylist()
    if ending == "parquet":
        table = pq.read_table(file)
        assert table.schema.field("mvs_busy").metadata[b"unit"] == b"fraction"
        found = table.column("mvs_busy").to_pylist()
    elif ending == "csv":
        found = [float(row["mvs_busy"]) for row in csv.DictReader(file.read_text().splitlines())]
    elif ending == "json":
        found = [row["mvs_busy"] for row in json.loads(file.read_text())]
    else:
        heads, *cells = openpyxl.load_workbook(file)["Rows"].iter_rows(values_only=True)
        found = [row[heads.index("mvs_busy")] for row in cells]
    assert found == pytest.approx(expected, rel=1e-14)


def test_an_export_writes_the_files_of_the_command(folder: Path, pdb: Database, tmp_path: Path) -> None:
    made = pdb.export(tmp_path / "views", grains="cpu_system,db2_pool", every="hour", form="csv")
    words = ("--grain", "cpu_system,db2_pool", "--every", "hour", "--format", "csv")
    assert run("export", "pdb", *words, "-o", tmp_path / "same", cwd=folder).returncode == 0
    assert [one.name for one in made] == ["cpu_system.csv", "db2_pool.csv", "columns.csv"]
    assert all(one.read_text() == (tmp_path / "same" / one.name).read_text() for one in made)


def test_openmetrics_is_the_text_of_the_command(folder: Path, pdb: Database) -> None:
    done = run("export", "pdb", "--grain", "cpu_system", "--format", "openmetrics", cwd=folder)
    assert pdb.openmetrics("cpu_system") == done.stdout
    assert "plexlens_cpu_system_mvs_busy_ratio{" in done.stdout


#: Wrong calls: the class of the error, and a word of its message.
WRONG: dict[str, tuple[Callable[[Database], Any], type[PlexlensError], str]] = {
    "no such grain": (lambda pdb: pdb.metric("coupling_structur"), UsageError, "did you mean coupling_structure"),
    "no such key": (lambda pdb: pdb.metric("cpu_system", by="structure"), UsageError, "it has system"),
    "no such metric": (lambda pdb: pdb.metric("cpu_system", metrics="busy"), UsageError, "mvs_busy"),
    "no such length": (lambda pdb: pdb.metric("cpu_system", every="fortnight"), UsageError, "week, month, all"),
    "no such column": (lambda pdb: pdb.metric("cpu_system", where="foo = 1"), UsageError, "foo"),
    "no condition": (lambda pdb: pdb.metric("cpu_system", where="true) or (select"), UsageError, "condition"),
    "two statements": (lambda pdb: pdb.metric("cpu_system", where="1=1); select (1"), UsageError, "more than"),
    "no data": (lambda pdb: pdb.metric("job"), NothingUsableError, "SMF 30"),
    "empty selection": (lambda pdb: pdb.metric("cpu_system", start="2030-01-01"), NothingUsableError, "matches"),
    "no time": (lambda pdb: pdb.report(start="noon"), UsageError, "is not a time"),
    "no system": (lambda pdb: pdb.sql("select 1", systems="ZZZ"), NothingUsableError, "SYS1"),
    "no query that reads": (lambda pdb: pdb.sql("drop table smf_record"), UsageError, "only reads"),
    "wrong ending": (lambda pdb: report_of_part().save("report.docx"), UsageError, "end the name in"),
    "unwritable": (lambda pdb: report_of_part().save("/no/folder/report.html"), UsageError, "no folder"),
    "input replaced": (
        lambda pdb: px.analyse_pools("trace.smf", sizes=[5]).save("pdb/x.html"),
        UsageError,
        "holds only",
    ),
    "no database": (lambda pdb: px.open("nothing"), UsageError, "no such folder"),
    "a file": (lambda pdb: px.open("example.smf"), UsageError, "is a folder"),
    "no file": (lambda pdb: px.read("nothing.smf"), UnreadableInputError, "check the path"),
    "nothing named": (lambda pdb: px.read(), UsageError, "no file is named"),
    "no trace": (lambda pdb: px.analyse_pools("example.smf"), NothingUsableError, "IFCID"),
    "no run": (lambda pdb: px.compare_runs("pdb", "nothing"), PlexlensError, "nothing"),
    "no scenario": (lambda pdb: px.simulate_scenario("nothing.toml"), UnreadableInputError, "name a scenario file"),
    "records without a dump": (
        lambda pdb: px.simulate_scenario(_SCENARIO, page_trace=True),
        UsageError,
        "no dump is named",
    ),
    "no share": (lambda pdb: px.software_cost(pdb, saves={"DB2DDF": 5}), UsageError, "0.05 is 5 percent"),
    "no partition": (lambda pdb: px.software_cost(pdb, defined={"ZZZ": 5}), UsageError, "no such partition"),
    "no kind of series": (lambda pdb: px.forecast_peaks(pdb, what="tape"), UsageError, "cpu, msu, dasd"),
    "no days": (lambda pdb: px.forecast_peaks(pdb, days=0), UsageError, "1 to 366"),
    "too few days": (px.forecast_peaks, NothingUsableError, "needs a week"),
    "no form of a table": (lambda pdb: pdb.sql("select 1").save("rows.html"), UsageError, "end the name in"),
    "no form of an export": (lambda pdb: pdb.export("v", form="html"), UsageError, "parquet, csv"),
    "into the database": (lambda pdb: pdb.export("pdb/v"), UsageError, "holds only its own files"),
    "no chart": (lambda pdb: pdb.metric("cpu_system", every="all").chart(), UsageError, "fewer than two times"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_call_says_what_to_do(pdb: Database, what: str) -> None:
    call, kind, said = WRONG[what]
    with pytest.raises(kind) as raised:
        call(pdb)
    assert said in str(raised.value)


def test_a_closed_database_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    made = px.read("example.smf")
    made.close()
    with pytest.raises(UsageError, match="closed"):
        made.metric("cpu_system")


def test_lost_data_is_warned_about_and_the_rest_is_there(tmp_path: Path) -> None:
    whole = dump(record(200, "SYS1", b"one"), record(200, "SYS2", b"two"))
    (tmp_path / "cut.smf").write_bytes(whole[:-2])
    (tmp_path / "text.smf").write_text("no dump")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with px.read(tmp_path / "cut.smf", tmp_path / "text.smf") as made:
            assert made.sql("select count(*) n from smf_record").to_json() == [{"n": 1}]
    told = [str(one.message) for one in caught if one.category is DataLossWarning]
    assert len(told) == 2
    assert "record 2" in told[0]
    assert "text.smf" in told[1]


def test_a_database_takes_in_what_was_ingested_since(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"{number}.smf").write_bytes(dump(record(200 + number, "SYS1", b"one")))
    assert run("ingest", "1.smf", "--pdb", "pdb", cwd=tmp_path).returncode == 0
    with px.open(tmp_path / "pdb") as opened:
        assert run("ingest", "2.smf", "--pdb", "pdb", cwd=tmp_path).returncode == 0
        query = "select count(*) n from smf_record"
        assert opened.sql(query).to_json() == [{"n": 1}]
        opened.refresh()
        assert opened.sql(query).to_json() == [{"n": 2}]


def test_no_function_has_the_name_of_a_package() -> None:
    """The import of a package sets it as an attribute, over a function of the same name."""
    packages = {path.name for path in (ROOT / "src/plexlens").iterdir()} | {
        path.stem for path in (ROOT / "src/plexlens").glob("*.py")
    }
    assert not set(px.__all__) & packages
    assert all(callable(getattr(px, name)) for name in px.__all__ if name != "__version__")


def test_a_chart_shows_itself(pdb: Database) -> None:
    made = pdb.metric("coupling_structure", by="structure", metrics=["requests_per_second"]).chart()
    assert repr(made).startswith("<chart of Requests: ")
    html = made._repr_html_()
    assert "<svg" in html
    assert "<table" not in html
