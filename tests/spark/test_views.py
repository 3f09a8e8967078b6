"""Metric views on Spark against those of DuckDB, value by value."""

from __future__ import annotations

import math
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens.errors import NothingUsableError, UsageError
from plexlens.metrics.catalogue import GRAINS
from plexlens.metrics.explained import explained
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import tables_of
from plexlens.spark import Registered, add_source, register, session
from tests.conftest import SHARED_DATA
from tests.example_file import write_example
from tests.report.test_records_by_hand import GRAINS as GRAINS_BY_HAND
from tests.report.test_records_by_hand import RECORDS

SCENARIOS = Path(__file__).parents[2] / "scenarios"
CAPACITY = SCENARIOS / "capacity.toml"

# PySpark leaves sockets to the collector.
pytestmark = pytest.mark.filterwarnings(
    "ignore:unclosed:ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


@pytest.fixture(scope="module")
def pdb(tmp_path_factory: pytest.TempPathFactory) -> Pdb:
    """The example, a simulated group, a simulated week, records that none has, and the real files where they are."""
    folder = tmp_path_factory.mktemp("spark")
    write_example(folder / "example.smf")
    simulate(CAPACITY, folder / "simulated.smf", "--seconds", "60")
    simulate(week(folder), folder / "week.smf")
    (folder / "hand.smf").write_bytes(b"".join(RECORDS))
    real = [path for path in (SHARED_DATA / "mq", SHARED_DATA / "rmf") if path.is_dir()]
    made = Pdb.open_or_create(folder / "pdb")
    dumps = [folder / f"{name}.smf" for name in ("example", "simulated", "week", "hand")]
    ingest([*dumps, *real], made)
    return made


def week(folder: Path) -> Path:
    """The scenario of a day, made seven days of hours: three members, 168 intervals, a second of each simulated."""
    text = (SCENARIOS / "day.toml").read_text(encoding="utf-8")
    for of_day, of_week in (
        ("seconds = 86400.0", "seconds = 604800.0"),
        ("interval = 600.0", "interval = 3600.0"),
        ("sample = 10.0", "sample = 1.0"),
    ):
        assert text.count(f"\n{of_day}\n") == 1
        text = text.replace(f"\n{of_day}\n", f"\n{of_week}\n")
    path = folder / "week.toml"
    path.write_text(text, encoding="utf-8")
    return path


def simulate(scenario: Path, dump: Path, *options: str) -> None:
    from typer.testing import CliRunner

    from plexlens.cli.every import app

    result = CliRunner().invoke(app, ["simulate", str(scenario), *options, "-o", str(dump)])
    assert result.exit_code == 0, result.output


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat()
    return "" if value is None else str(value)


def differences(one: pa.Table, other: pa.Table) -> list[str]:
    """Cells that differ: numbers by more than 1e-9 of the larger, everything else at all. Rows have no order."""
    if set(one.column_names) != set(other.column_names):
        return [f"columns {sorted(set(one.column_names) ^ set(other.column_names))}"]
    if one.num_rows != other.num_rows:
        return [f"{one.num_rows} rows, {other.num_rows} rows"]
    numbers = [field.name for field in one.schema if pa.types.is_floating(field.type)]
    others = [name for name in one.column_names if name not in numbers]

    def order(row: dict[str, Any]) -> Any:
        values = [row[name] for name in numbers]
        known = [(x is None, 0.0 if x is None or math.isnan(x) else float(f"{x:.7g}")) for x in values]
        return [_plain(row[name]) for name in others], known

    found = []
    for a, b in zip(sorted(one.to_pylist(), key=order), sorted(other.to_pylist(), key=order), strict=True):
        found += [f"{name}: {a[name]!r}, {b[name]!r}" for name in others if _plain(a[name]) != _plain(b[name])]
        for name in numbers:
            x, y = a[name], b[name]
            if x is None or y is None or math.isnan(x) or math.isnan(y):
                same = (x is None, x is not None and math.isnan(x)) == (y is None, y is not None and math.isnan(y))
            else:
                same = abs(x - y) <= 1e-9 * max(abs(x), abs(y))
            found += [] if same else [f"{name}: {x!r}, {y!r}"]
    return found


def test_differences_are_found() -> None:
    one = pa.table({"key": ["a", "b"], "value": [1.0, None]})
    assert differences(one, one.take([1, 0])) == []
    assert differences(one, pa.table({"key": ["a", "b"], "value": [1.0 + 2e-9, None]})) != []
    assert differences(one, pa.table({"key": ["a", "b"], "value": [1.0, float("nan")]})) != []
    assert differences(one, pa.table({"key": ["a", "c"], "value": [1.0, None]})) != []
    assert differences(one, one.slice(1)) != []


@pytest.fixture(scope="module")
def views(spark: Any, pdb: Pdb) -> Registered:
    return register(spark, pdb.path)


def test_views_are_of_all_grains(views: Registered) -> None:
    assert {*views.grains, *views.without_source} == set(GRAINS)
    assert len(views.grains) >= 25
    # A grain without a row is passed over below: those of records made by hand have some.
    assert set(views.grains) >= GRAINS_BY_HAND


@pytest.mark.parametrize("name", sorted(GRAINS))
def test_grain_is_that_of_duckdb(spark: Any, pdb: Pdb, views: Registered, name: str) -> None:
    if name in views.without_source:
        pytest.skip("no file of the test has this grain")
    connection = pdb.connect()
    expected = connection.execute(explained(Inputs(connection), name)).to_arrow_table()
    assert differences(expected, spark.table(name).toArrow()) == []


def test_tables_given_as_data_frames(spark: Any, views: Registered, tmp_path: Path) -> None:
    """The coupling facility tables of the example alone, against a database of the example alone."""
    write_example(tmp_path / "example.smf")
    made = Pdb.open_or_create(tmp_path / "pdb")
    ingest([tmp_path / "example.smf"], made)
    connection = made.connect()
    expected = connection.execute(explained(Inputs(connection), "coupling_structure")).to_arrow_table()
    add_source(spark)
    dumps = spark.read.format("plexlens")
    names = [name for name in tables_of(connection) if name.startswith(("smf74_4_", "smf70_1_"))]
    given = {name: dumps.option("table", name).load(str(tmp_path / "example.smf")) for name in names}
    alone = register(spark, given)
    assert "coupling_structure" in alone.grains
    assert alone.without_source["job"].startswith("ingest")
    assert differences(expected, spark.table("coupling_structure").toArrow()) == []


def test_no_table(spark: Any) -> None:
    with pytest.raises(NothingUsableError, match="no raw table"):
        register(spark, {})


def test_without_pyspark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.spark.needs.find_spec", lambda name: None)
    with pytest.raises(
        UsageError, match=r"PySpark is not installed; install it with `pip install 'plexlens\[spark\]'`"
    ):
        session()


def test_without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("plexlens.spark.needs.find_spec", lambda name: object())
    monkeypatch.setenv("JAVA_HOME", "/nowhere")
    with pytest.raises(
        UsageError, match="Spark needs Java: JAVA_HOME is /nowhere, where there is no bin/java; install"
    ):
        session()
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UsageError, match="java is not on the path"):
        session()
