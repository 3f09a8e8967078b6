"""Extracts of the catalog: sizes and pools by hand, and what contradicts them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import UnreadableInputError
from plexlens.ingest.page_trace import TraceNames
from plexlens.ingest.page_trace.name_file import read_names

HEADER = "DBID,PSID,DBNAME,NAME,KIND,STATEMENT_NAME,PARTITION,BPOOL,SPACEF"


def read(tmp_path: Path, *lines: str, header: str = HEADER) -> TraceNames:
    path = tmp_path / "catalog.csv"
    path.write_text("\n".join([header, *lines]) + "\n")
    names = TraceNames()
    assert read_names(path, names) == len(lines)
    return names


def test_partitions_add_up(tmp_path: Path) -> None:
    names = read(
        tmp_path,
        "260,2,PAY,TSEMP,T,,1,BP2,4000",
        "260,2,PAY,TSEMP,T,,2,BP2,8000",
        "260,3,PAY,XEMP,I,HR.XEMP,0,BP3,-1",
        "260,4,PAY,TSPARTS,T,,1,BP2,40",
        "260,4,PAY,TSPARTS,T,,2,BP4,40",
    )
    emp, index, parts = ((260 << 16) + number for number in (2, 3, 4))
    assert (names.page_set(emp), names.catalog_pool(emp), names.catalog_bytes(emp)) == (
        "PAY.TSEMP",
        "BP2",
        12000 * 1024,
    )
    assert (names.statement_name(index), names.catalog_pool(index), names.catalog_bytes(index)) == (
        "HR.XEMP",
        "BP3",
        None,
    )
    # Partitions in two pools: no pool can be told.
    assert (names.catalog_pool(parts), names.catalog_bytes(parts)) == ("", 80 * 1024)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("260,2,PAY,TSEMP,T,,1,BP99,4000", "BPOOL holds 'BP99'"),
        ("260,2,PAY,TSEMP,T,,1,BP2,much", "SPACEF holds 'much'"),
        ("260,2,PAY,TSEMP,T,,x,BP2,1", "partition holds 'x'"),
        ("260,2,PAY,TSEMP,T,,1,BP2,nan", "SPACEF holds 'nan'"),
    ],
)
def test_values_that_mean_nothing_are_refused(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(UnreadableInputError, match=told):
        read(tmp_path, line)


def test_pools_of_objects_by_name_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="together with the column object"):
        read(tmp_path, "PAY.TSEMP,PAY.TSEMP,BP2", header="object,name,bpool")


def test_an_object_that_moved_since_is_where_the_catalog_has_it(tmp_path: Path) -> None:
    trace, settings, catalog = (tmp_path / name for name in ("t.csv", "pools.toml", "catalog.csv"))
    emp = (260 << 16) + 2
    rows = [f"{1000 * at},BP{2 if at % 2 else 3},{emp if at % 2 else emp + 1},{at % 40}" for at in range(4000)]
    trace.write_text("\n".join(["time,pool,object,page", *rows]))
    settings.write_text("[BP2]\nsize = 1000\n[BP3]\nsize = 1000\n")
    catalog.write_text(f"{HEADER}\n260,2,PAY,TSEMP,T,,0,BP3,400\n260,3,PAY,TSDEP,T,,0,BP7,-1\n")
    done = CliRunner().invoke(
        app,
        ["pools", *map(str, (trace, "--names", catalog, "--settings", settings, "--pool", "BP3=2000", "--json"))],
        catch_exceptions=False,
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["prediction"]
    # TSEMP is taken to be in BP3 before and after; BP7 has no known size, so TSDEP stays where the trace has it.
    assert found["before"]["pools"]["BP3"]["getpages"] == 4000
    text = (
        CliRunner()
        .invoke(app, ["pools", *map(str, (trace, "--names", catalog, "--settings", settings))], catch_exceptions=False)
        .stdout
    )
    told = " ".join(text.split())
    assert "PAY.TSEMP is in BP3 by the catalog, and in BP2 in the trace: BP3 is taken as its present pool." in told
    assert "the size of BP7 is not known, so the trace counts" in told
    # 400 KB are 100 pages, of which the trace refers to 20.
    line = next(
        line for line in text.splitlines() if line.strip().startswith("PAY.TSEMP") and "BP3" in line and "20.0" in line
    )
    assert "100" in line
