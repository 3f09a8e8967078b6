"""`plexlens pools` of a trace of several members, as users meet it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import PlexlensError
from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.pools.prediction import load
from tests.pools.made_trace import lru_misses, zipf

GROUP_POOL = GRAINS["db2_group_pool"]


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two members that use and change one table in BP1; each has a table of its own in BP2."""
    rng = np.random.default_rng(4)
    rows = 9000
    member = rng.integers(0, 2, rows)
    shared = rng.random(rows) < 0.6
    page = np.where(shared, zipf(rng, 400, 0.7, rows), zipf(rng, 300, 0.6, rows)) * 100
    change = shared & (rng.random(rows) < 0.2)
    times = 1 + change
    function = np.full(times.sum(), "getpage", object)
    function[np.cumsum(times)[change] - 1] = "set_write"
    names = np.where(shared, "D.SHARED", np.where(member == 0, "D.OWNA", "D.OWNB"))
    path = tmp_path_factory.mktemp("group") / "trace.parquet"
    columns: dict[str, Any] = {
        "time": 1_772_445_600_000_000 + np.arange(times.sum()) * 10_000,
        "member": np.repeat(np.where(member == 0, "DB1A", "DB1B"), times),
        "pool": np.repeat(np.where(shared, "BP1", "BP2"), times),
        "object": np.repeat(names, times),
        "page": np.repeat(page, times),
        "function": pa.array(function.tolist()),
    }
    pq.write_table(pa.table(columns), path)
    return path


@pytest.fixture
def settings(tmp_path: Path) -> Path:
    path = tmp_path / "group.toml"
    path.write_text(
        '[group]\nname = "DSNDB1G"\n[BP1]\nsize = 150\n[BP2]\nsize = 150\n[DB1B.BP2]\nsize = 100\n'
        "[GBP1]\ndata_entries = 40\ndirectory_entries = 160\n"
    )
    return path


def run(*arguments: object) -> str:
    done = CliRunner().invoke(app, ["pools", *map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


def test_curves_are_by_member(trace: Path) -> None:
    rows = pq.read_table(trace).to_pylist()
    made = json.loads(run(trace, "--json", "--sizes", "50,200"))["pools"]
    assert list(made) == ["DB1A.BP1", "DB1A.BP2", "DB1B.BP1", "DB1B.BP2"]
    for member, pool in (("DB1A", "BP1"), ("DB1A", "BP2"), ("DB1B", "BP1"), ("DB1B", "BP2")):
        own = [row for row in rows if (row["member"], row["pool"], row["function"]) == (member, pool, "getpage")]
        pages = [(row["object"], row["page"]) for row in own]
        curve = made[f"{member}.{pool}"]
        assert [point["read_misses"] for point in curve["curve"]] == [lru_misses(pages, size) for size in (50, 200)]
    # One member alone, and all as one Db2, have the form of one Db2.
    alone = json.loads(run(trace, "--json", "--sizes", "50,200", "--subsystem", "DB1B"))
    assert alone["pools"] == {pool: made[f"DB1B.{pool}"] for pool in ("BP1", "BP2")}
    one = json.loads(run(trace, "--json", "--sizes", "50,200", "--no-group"))["pools"]
    both = [(row["object"], row["page"]) for row in rows if (row["pool"], row["function"]) == ("BP1", "getpage")]
    assert one["BP1"]["curve"][0]["read_misses"] == lru_misses(both, 50)


def test_a_change_of_one_member_is_predicted_and_saved_for_each(trace: Path, settings: Path, tmp_path: Path) -> None:
    saved, dump = tmp_path / "p.json", tmp_path / "g.smf"
    options = ("--pool", "DB1A.BP1=300", "--gbp", "GBP1=200:800", "--save", saved, "--simulate-to", dump)
    made = json.loads(run(trace, "--settings", settings, *options, "--json"))["prediction"]
    assert [line for line in made["commands"] if not line.startswith("--")] == [
        "SETXCF START,ALTER,STRNAME=DSNDB1G_GBP1,SIZE=1113",
        "-ALTER BUFFERPOOL(BP1) VPSIZE(300)",
    ]
    sizes = {name: one["size"] for name, one in made["after"]["settings"].items()}
    assert sizes == {"DB1A.BP1": 300, "DB1A.BP2": 150, "DB1B.BP1": 150, "DB1B.BP2": 100}
    assert made["after"]["dependent"] == {"BP1": ["D.SHARED"]}
    before, after = (made[when]["group_pool_activity"]["GBP1"] for when in ("before", "after"))
    assert before["invalidated_by_reclaim"] > after["invalidated_by_reclaim"] == 0
    assert made["after"]["cpu_seconds"] < made["before"]["cpu_seconds"]
    first, second = load(tmp_path / "p.DB1A.json"), load(tmp_path / "p.DB1B.json")
    assert (first.members, second.members) == (("DB1A",), ("DB1B",))
    assert first.commands == ("-ALTER BUFFERPOOL(BP1) VPSIZE(300)",)
    assert second.commands == ()
    assert second.after.total.read_ios != second.before.total.read_ios
    # The dump that is written has what the group counted.
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([dump], pdb)
    rows = facts(Inputs(pdb.connect()), GROUP_POOL).rows()
    assert {row["group_name"] for row in rows} == {"DSNDB1G"}
    written = sum(row["changed_pages_sync"] for row in rows if row["group_pool"] == "GBP1")
    assert written == after["sync_writes"]
    # That PDB then gives the sizes of the members' pools.
    again = json.loads(run(trace, "--settings", tmp_path / "pdb", "--gbp", "GBP1=200:800", "--json"))["prediction"]
    assert [again["before"]["settings"][name]["size"] for name in ("DB1A.BP1", "DB1B.BP1")] == [300, 150]
    assert again["after"]["group"] == "DSNDB1G"


def test_a_recommendation_keeps_both_budgets(trace: Path, settings: Path, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    budgets = ("--budget", "DB1A=1200KiB,DB1B=1600KiB", "--gbp-budget", "2MiB", "--least-buffers", "20")
    made = json.loads(run(trace, "--settings", settings, *budgets, "--json", "-o", report))
    steps = made["recommendation"]["steps"]
    assert any(step["worth"] and step["title"].startswith("Set GBP1") for step in steps)
    after = made["prediction"]["after"]
    for member, most in (("DB1A", 1200), ("DB1B", 1600)):
        assert sum(one["size"] * 4 for name, one in after["settings"].items() if name.startswith(member)) <= most
    assert after["group_pools"]["GBP1"]["bytes"] <= 2 << 20
    assert after["cpu_seconds"] < made["prediction"]["before"]["cpu_seconds"]
    page = report.read_text(encoding="utf-8")
    for text in ("Group buffer pools", "GBP-dependent data sets", "DB1A.BP1", "SETXCF START,ALTER", "Not optimised"):
        assert text in page
    printed = run(trace, "--settings", settings, "--gbp-budget", "2MiB", "--least-buffers", "20")
    assert "Set GBP1" in printed
    assert "VPSIZE(" not in printed
    assert "CPU of a request to a group buffer pool" in printed


def test_sizes_that_nobody_knows_are_assumed_and_said(trace: Path) -> None:
    budgets = ("--budget", "1200KiB", "--gbp-budget", "2MiB", "--least-buffers", "20")
    made = json.loads(run(trace, *budgets, "--json"))["prediction"]
    notes = " ".join(made["notes"])
    assert "The present size of DB1A.BP1, DB1A.BP2, DB1B.BP1, DB1B.BP2 is not known: an equal share" in notes
    assert "The present size of GBP1 is not known" in notes
    assert any("GBP1: its present settings are not known" in line for line in made["reverse"]) == any(
        "GBP1" in line for line in made["commands"]
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--gbp-budget", "1MiB"), "nothing can be recommended for DB1A"),
        (("--budget", "DB9A=1MiB", "--pool", "BP1=100", "--pool", "BP2=100"), "DB9A, which is not a member"),
        (("--budget", "DB1A=1MiB,2MiB"), "--budget DB1A=1MiB,2MiB is not valid"),
        (("--no-group", "--gbp-budget", "1MiB"), "--gbp-budget needs several members"),
        (("--subsystem", "DB1A", "--group"), "the trace has one member"),
        (("--subsystem", "DB1A", "--gbp", "GBP1=1MiB"), "--gbp needs several members"),
        (("--pool", "BP1=100", "--move", "D.NONE=BP1"), "no object 'D.NONE'"),
    ],
)
def test_wrong_use(trace: Path, options: tuple[str, ...], expected: str) -> None:
    with pytest.raises(PlexlensError, match=expected):
        run(trace, *options)
