"""Databases and traces under other names: no name of the input in any byte of the copy, and the same numbers."""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from plexlens.errors import UnreadableInputError
from plexlens.example import write_example
from plexlens.hand_over.columns import ColumnPlans
from plexlens.layouts_path import layouts_path
from plexlens.pdb import Column, Pdb, ingest
from plexlens.pdb.carried import adopt, carried_path
from tests.cli.command import run
from tests.hand_over.test_copies import REPORTS, copied, left, names_of, prove, words


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("databases")
    write_example(folder / "example.smf")
    made(folder / "example.pdb", folder / "example.smf")
    return folder


def made(path: Path, *sources: Path) -> Path:
    ingest(list(sources), Pdb.create(path))
    return path


def every_byte(path: Path) -> Iterator[bytes]:
    """Bytes of every file, and of Parquet files what is compressed or encoded in them: values, statistics, metadata."""
    for file in [path] if path.is_file() else sorted(path.rglob("*")):
        if file.is_dir():
            continue
        yield file.read_bytes()
        if file.suffix != ".parquet":
            continue
        with pq.ParquetFile(file) as stored:
            yield repr(stored.schema_arrow.metadata).encode() + repr(stored.metadata.metadata).encode()
            for number in range(stored.metadata.num_row_groups):
                group = stored.metadata.row_group(number)
                for place in range(group.num_columns):
                    statistics = group.column(place).statistics
                    for bound in (
                        (statistics.min_raw, statistics.max_raw) if statistics and statistics.has_min_max else ()
                    ):
                        yield bound if isinstance(bound, bytes) else str(bound).encode()
            for name in stored.schema_arrow.names:
                for value in stored.read([name]).column(0).unique().to_pylist():
                    for part in value if isinstance(value, list) else (value,):
                        yield part if isinstance(part, bytes) else str(part).encode()


def found_in(path: Path, names: set[str]) -> list[tuple[str, str]]:
    return left(b"\xff\n".join(every_byte(path)), names)


def test_a_database_keeps_its_metrics_and_loses_its_names(folder: Path) -> None:
    names = words(names_of(folder / "example.smf"))
    assert len(names) > 20
    assert {name for name, _ in found_in(folder / "example.pdb", names)} > set(list(names)[:1]), "the search is blind"
    copy = copied(folder, folder / "example.pdb", "copy.pdb")
    assert found_in(copy, names) == []
    told = prove(folder, folder / "example.pdb", copy)
    assert told["numbers"] > 10_000
    assert told["findings"] > 5
    assert run("pdb", "verify", copy, cwd=folder).returncode == 0
    account = json.loads((folder / "copy.pdb.json").read_text())
    done = {(line["layout"], line["field"]): line["done"] for line in account["sources"][0]["fields"]}
    assert done["smf74_4_request", "r744snam"] == "replaced"
    assert done["smf74_4_request", "system"] == "replaced"
    assert done["smf74_4_request", "source_id"] == "replaced by a keyed hash"
    assert done["smf74_4_request", "interval_start"] == "moved"
    assert done["smf74_4_request", "r744ssrc"] == "kept"
    # Every column of every table is in the account.
    columns = {(table, column.name) for table, held in Pdb.open(copy).manifest.columns.items() for column in held}
    assert columns == done.keys()


def test_what_identifies_the_source_is_not_in_the_copy(folder: Path) -> None:
    copy = folder / "copy.pdb"
    if not copy.exists():
        copy = copied(folder, folder / "example.pdb", "copy.pdb")
    (source,) = Pdb.open(folder / "example.pdb").ingests
    data = b"\n".join(every_byte(copy))
    for text in (source.id, source.sha256, source.sample, "example.smf", str(folder)):
        assert text.encode() not in data
    (other,) = Pdb.open(copy).ingests
    assert (other.file, other.size, other.records) == ("source-1.smf", source.size, source.records)
    hashes = [
        {value for (value,) in Pdb.open(path).connect().execute("select hash from smf_record").fetchall()}
        for path in (folder / "example.pdb", copy)
    ]
    assert len(hashes[0]) == len(hashes[1])
    assert not hashes[0] & hashes[1]


def test_numbers_stay_bit_for_bit_and_times_move(folder: Path) -> None:
    done = run("anonymise", "example.pdb", "-o", "moved.pdb", "--key", "moved.key", "--shift", "-28", cwd=folder)
    assert done.returncode == 0, done.stderr
    before, after = (Pdb.open(folder / name) for name in ("example.pdb", "moved.pdb"))
    connections = [pdb.connect() for pdb in (before, after)]
    checked = 0
    for table, columns in before.manifest.columns.items():
        kept = [f'"{one.name}"' for one in columns if one.type in ("double", "float") or "int" in one.type]
        kept = [name for name in kept if name not in ('"hash"', '"qwhsluuv"')]
        moved = [f'epoch_us("{one.name}")' for one in columns if one.type.startswith("timestamp")]
        if not {"record_no", "section_no"} <= {one.name for one in columns}:
            continue
        statement = f"select {', '.join([*kept, *moved])} from {table} order by record_no, section_no"
        first, other = (connection.execute(statement).fetchall() for connection in connections)
        for old, new in zip(first, other, strict=True):
            assert repr(old[: len(kept)]) == repr(new[: len(kept)]), table
            for one, two in zip(old[len(kept) :], new[len(kept) :], strict=True):
                # A time of 1900 is the length of something.
                shift = -28 * 86_400_000_000 if one is not None and one > -2_177_452_800_000_000 else 0
                assert two == (one if one is None else one + shift), table
                checked += 1
    assert checked > 1000


def test_a_database_has_the_names_of_a_dump_with_the_same_key(folder: Path) -> None:
    for source, copy in (("example.smf", "one.smf"), ("example.pdb", "one.pdb")):
        done = run("anonymise", source, "-o", copy, "--key", "one.key", cwd=folder)
        assert done.returncode == 0, done.stderr
    done = run("verify", "--same-metrics", "one.smf", "one.pdb", "--json", cwd=folder)
    assert json.loads(done.stdout)["differences"] == []


def test_real_files_in_one_database(shared_data: Path, tmp_path: Path) -> None:
    sources = [*sorted((shared_data / "mq").glob("*.dat")), *sorted((shared_data / "rmf").glob("*.xml"))]
    made(tmp_path / "real.pdb", *sources)
    copy = copied(tmp_path, tmp_path / "real.pdb", "copy.pdb")
    names = {name for source in sources if source.suffix == ".dat" for name in words(names_of(source))}
    names |= {
        "VIPLEX",
        "RPRT",
        "VIRPT",
        "ZVMPROD",
        "KVMOCP1",
        "ICF1LP7",
        "000000000005ED28",
        "SYSRMF",
        "ARCPLEX0",
        "CICS56",
        "GSKSRVGP",
    }
    names |= {"IEAOPT00", "QS390POL", "QS390DEF", "STCHIGH", "STCMED", "QLUSER1"}
    before = b"\n".join(every_byte(tmp_path / "real.pdb"))
    assert all(left(before, {name}) for name in ("VIPLEX", "QLUSER1", "ZVMPROD"))
    assert found_in(copy, names) == []
    assert left(b"\n".join(every_byte(copy)), {"03/20/2020", "08/09/2022", "2022-08-09"}) == []
    assert prove(tmp_path, tmp_path / "real.pdb", copy)["numbers"] > 10_000


@pytest.mark.parametrize("name", REPORTS)
def test_text_reports_in_a_database(name: str, tmp_path: Path) -> None:
    text, gone = REPORTS[name]
    (tmp_path / "report.txt").write_text(text)
    made(tmp_path / "report.pdb", tmp_path / "report.txt")
    copy = copied(tmp_path, tmp_path / "report.pdb", "copy.pdb")
    data = b"\n".join(every_byte(copy))
    for word in gone.split():
        assert not re.search(rb"(?<![A-Z0-9])" + word.encode() + rb"(?![A-Z0-9])", data), word
    assert prove(tmp_path, tmp_path / "report.pdb", copy)["numbers"] > 50


def test_every_table_of_every_layout_has_its_lines() -> None:
    """Each record map's tables, with the columns that its layouts give them: none is refused, characters have rules."""
    plans, tried = ColumnPlans(), 0
    types = {"ebcdic": "string", "bytes": "binary", "stck": "timestamp[us, tz=UTC]", "smf_date": "date32[day]"}
    for path in sorted((layouts_path() / "records").glob("*.csv")):
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        for entry in csv.DictReader(lines):
            section = (layouts_path() / f"{entry['layout']}.csv").read_text().splitlines()
            fields = list(csv.DictReader(line for line in section if not line.startswith("#")))
            columns = [Column(field["field"].lower(), types.get(field["format"], "double")) for field in fields]
            for plan, field in zip(plans.of(entry.get("table") or entry["layout"], columns), fields, strict=True):
                tried += 1
                if field["format"] == "ebcdic":
                    assert plan.treatment in ("keep", "name", "blank", "parts", "dictionary", "printed_date"), plan
                elif field["format"] in ("stck", "smf_date"):
                    assert plan.treatment in ("moved", "keep", "blank"), plan
    assert tried > 3000


def _random_values(draw: random.Random, form: str, length: int, names: set[str]) -> pa.Array:
    """Three values of a field: letters that are in no word that stays, bytes, times of our days, or numbers."""
    if form == "ebcdic":
        texts = ["".join(draw.choices("BCDFGHJKLMNPQRSTVWXZ", k=min(length, 44))) for _ in range(3)]
        names.update(texts)
        return pa.array(texts)
    if form == "bytes":
        return pa.array([draw.randbytes(length) for _ in range(3)], pa.binary())
    if form == "stck":
        return pa.array([draw.randrange(10**15, 2 * 10**15) for _ in range(3)], pa.timestamp("us", "UTC"))
    if form == "smf_date":
        return pa.array([draw.randrange(10_000, 20_000) for _ in range(3)], pa.date32())
    return pa.array([draw.choice((0.0, 1.0, draw.random() * 1e9, None)) for _ in range(3)], pa.float64())


def test_random_rows_of_every_record_map(tmp_path: Path) -> None:
    """A database with random rows for each section of each record map: numbers stay, times move, names go."""
    draw, rows = random.Random(21), {}
    names: dict[tuple[str, str], set[str]] = {}
    for path in sorted((layouts_path() / "records").glob("*.csv")):
        for entry in csv.DictReader(line for line in path.read_text().splitlines() if not line.startswith("#")):
            table = entry.get("table") or entry["layout"]
            if table in rows:
                continue
            section = (layouts_path() / f"{entry['layout']}.csv").read_text().splitlines()
            columns = {"source_id": pa.array(["0123456789abcdef"] * 3), "record_no": pa.array([1, 2, 3], pa.uint64())}
            for field in csv.DictReader(line for line in section if not line.startswith("#")):
                found = names.setdefault((table, field["field"].lower()), set())
                columns[field["field"].lower()] = _random_values(
                    draw, field["format"], int(field["length"] or 8), found
                )
            rows[table] = pa.table(columns)
    source = Pdb.create(tmp_path / "random.pdb")
    for table, content in rows.items():
        (source.path / carried_path(table)).parent.mkdir(parents=True)
        pq.write_table(content, source.path / carried_path(table))
    adopt(source, rows, ())
    copy = copied(tmp_path, tmp_path / "random.pdb", "copy.pdb", "--shift", "-7")
    connection, plans, went = Pdb.open(copy).connect(), ColumnPlans(), 0
    for table, before in rows.items():
        after = connection.execute(f"select * from {table} order by record_no").to_arrow_table()
        for plan in plans.of(table, source.manifest.columns[table]):
            old, new = before.column(plan.name).to_pylist(), after.column(plan.name).to_pylist()
            if plan.treatment == "keep":
                assert old == new, (table, plan)
            elif plan.treatment == "moved":
                assert [value - timedelta(7) for value in old] == new, (table, plan)
            elif plan.treatment in ("name", "blank") and isinstance(old[0], str | bytes):
                assert [len(value) for value in new] == [
                    0 if plan.treatment == "blank" and isinstance(value, str) else len(value) for value in old
                ]
                # Of names of one or two letters others may have to serve; never the name itself.
                assert not any(one == two for one, two in zip(old, new, strict=True) if two), (table, plan)
                went += 1
    assert len(rows) > 150
    assert went > 300
    kept = {
        text
        for (table, name), found in names.items()
        for plan in plans.of(table, source.manifest.columns[table])
        if plan.name == name and plan.treatment in ("keep", "parts")
        for text in found
    }
    gone = {text for found in names.values() for text in found if len(text) >= 6} - kept
    assert len(gone) > 500
    assert found_in(copy, gone) == []


def test_every_column_of_printed_tables_has_a_line() -> None:
    plans = ColumnPlans()
    tables = csv.DictReader((layouts_path() / "printed" / "tables.csv").read_text().splitlines())
    for entry in tables:
        lines = (layouts_path() / "printed" / f"{entry['columns']}.csv").read_text().splitlines()
        columns = [Column(line["column"], "string") for line in csv.DictReader(lines) if line["type"] == "text"]
        plans.of(entry["table"], columns)


def test_a_column_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="nothing says what the column shpname holds; add a line"):
        ColumnPlans().of("smf250_queue", [Column("shpname", "string")])
    (tmp_path / "characters").mkdir()
    (tmp_path / "characters" / "tables.csv").write_text("table,column,holds\nsmf250_*,shpname,queue\n")
    (plan,) = ColumnPlans([tmp_path]).of("smf250_queue", [Column("shpname", "string")])
    assert plan.treatment == "name"
    (tmp_path / "characters" / "tables.csv").write_text("table,column,holds\nsmf250_*,,queue\n")
    with pytest.raises(UnreadableInputError, match="line 2"):
        ColumnPlans([tmp_path])


def test_what_a_killed_command_left_is_written_over(folder: Path, tmp_path: Path) -> None:
    (tmp_path / ".copy.pdb.part").mkdir()
    (tmp_path / ".copy.pdb.part" / "manifest.json").write_text("cut")
    copied(tmp_path, folder / "example.pdb", "copy.pdb")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.pdb", "copy.pdb.json", "copy.pdb.key"]
    assert run("pdb", "verify", "copy.pdb", cwd=tmp_path).returncode == 0


def test_an_output_that_is_there_stays(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("mine")
    done = run("anonymise", folder / "example.pdb", "-o", tmp_path / "there", "--key", "k.key", cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert "the folder is not empty" in done.stderr
    assert (tmp_path / "there" / "file").read_text() == "mine"
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
    assert not (tmp_path / "k.key").exists()


TRACE = (
    "time,member,pool,object,page,function,access,kind\n"
    "1700000000000000,DB1A,BP1,PAYROLL.EMPTS,7,getpage,random,tablespace\n"
    "1700000000000100,DB1B,BP1,PAYROLL.EMPIX,8,getpage,sequential,index\n"
    "1700000000000200,DB1A,BP2,SALESDB.ORDERS,9,set_write,random,tablespace\n"
    "1700000000000300,DB1A,BP2,SALESDB.ORDERS,9,getpage,random,tablespace\n"
)
NAMES = {"PAYROLL", "EMPTS", "EMPIX", "SALESDB", "ORDERS"}


@pytest.mark.parametrize("form", ["csv", "parquet", "arrow"])
def test_traces(form: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    rows = pyarrow.csv.read_csv(tmp_path / "t.csv").replace_schema_metadata({"made of": "PAYROLL"})
    if form == "parquet":
        pq.write_table(rows, tmp_path / "t.parquet")
    elif form == "arrow":
        with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as file, pa.ipc.new_file(file, rows.schema) as out:
            out.write_table(rows)
    source = tmp_path / f"t.{form}"
    copy = copied(tmp_path, source, f"copy.{form}", "--shift", "-7")
    assert found_in(copy, NAMES) == []
    assert b"DB1A" not in b"".join(every_byte(copy))
    done = run("verify", "--same-metrics", source, copy, "--key", f"{copy}.key", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "the same: 4 references, and the names of members and objects\n")
    # By hand: the first time is a week earlier, and the second object has the first word of the first.
    if form == "csv":
        lines = list(csv.DictReader(copy.read_text().splitlines()))
        assert [int(line["time"]) for line in lines] == [
            1_700_000_000_000_000 + 100 * number - 7 * 86_400_000_000 for number in range(4)
        ]
        assert lines[0]["object"].split(".")[0] == lines[1]["object"].split(".")[0]
        assert [len(line["object"]) for line in lines] == [13, 13, 14, 14]
        assert [line["member"] == lines[0]["member"] for line in lines] == [True, False, True, True]
    curves = [
        json.loads(run("pools", trace, "--sizes", "1,2,3", "--json", cwd=tmp_path).stdout)["pools"]
        for trace in (source, copy)
    ]
    # A pool is called after its member.
    shown = [
        sorted((name.split(".")[-1], pool["getpages"], str(pool["curve"])) for name, pool in curve.items())
        for curve in curves
    ]
    assert len(shown[0]) == 3
    assert shown[0] == shown[1]


def test_a_changed_trace_is_found(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    copy = copied(tmp_path, tmp_path / "t.csv", "copy.csv")
    text = copy.read_text()
    for old, new, said in (
        (",9,", ",10,", "reference 3, column page: 9 against 10"),
        ('"getpage","random","tablespace"\n', '"getpage","list","tablespace"\n', "reference 1, column access"),
        ('"index"', '"tablespace"', "object "),
    ):
        assert old in text
        copy.write_text(text.replace(old, new, 1))
        done = run("verify", "--same-metrics", "t.csv", copy, "--key", "copy.csv.key", cwd=tmp_path)
        assert done.returncode == 1
        assert said in done.stdout
    copy.write_text("".join(text.splitlines(keepends=True)[:-1]))
    done = run("verify", "--same-metrics", "t.csv", copy, "--key", "copy.csv.key", cwd=tmp_path)
    assert "4 references against 3" in done.stdout


def test_traces_that_are_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("time,page,colour\n1,2,RED\n")
    (tmp_path / "t.csv").write_text(TRACE)
    for source, to, said in (("bad.csv", "c.csv", "unknown columns: colour"), ("t.csv", "c.txt", "file ending")):
        done = run("anonymise", source, "-o", to, "--key", "k.key", cwd=tmp_path)
        assert done.returncode in (2, 3)
        assert said in done.stderr
        assert not (tmp_path / to).exists()
        assert not (tmp_path / "k.key").exists()
