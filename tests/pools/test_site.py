"""What a dump tells of its site beside the references in it, as a database of the same dump does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import UsageError
from plexlens.pdb import Pdb, ingest
from plexlens.pools.cost import REQUEST, measured_request
from plexlens.pools.settings import PoolSettings
from plexlens.pools.simulation import simulate, write_smf
from plexlens.pools.site import site_of
from plexlens.pools.sources import of_members
from plexlens.pools.structures import GroupPoolSettings
from plexlens.pools.trace import open_trace
from tests.ingest.test_text_db2_display import GROUP_POOL
from tests.metrics.raw import inputs, row
from tests.metrics.test_coupling import two_systems
from tests.pools.made_trace import configured
from tests.pools.traced_records import Page, pages


def statistics(folder: Path, subsystem: str, **sizes: int) -> bytes:
    """SMF 100 of a Db2 with pools of these sizes."""
    path = folder / "t.csv"
    rows = [f"{1_772_445_600_000_000 + at * 100_000},{pool},{at}" for at in range(40) for pool in sizes]
    path.write_text("time,pool,page\n" + "\n".join(rows) + "\n")
    made = simulate(open_trace([path]), configured(PoolSettings.of(pool, size) for pool, size in sizes.items()))
    write_smf(made, folder / "s.smf", subsystem=subsystem)
    return (folder / "s.smf").read_bytes()


def traced(*subsystems: str) -> bytes:
    """References of IFCID 198, one after the other of each Db2."""
    return b"".join(
        pages(1000 * at, Page(100 * (at % 7), pool=2, function=function), subsystem=subsystems[at % len(subsystems)])
        for at in range(80)
        for function in ("G", "S")
    )


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """References and statistics of two Db2s in one dump."""
    path = tmp_path / "mixed.smf"
    first = statistics(tmp_path, "DB2A", BP2=300, BP16K1=70)
    path.write_bytes(first + traced("DB2A", "DB2B") + statistics(tmp_path, "DB2B", BP2=200))
    return path


def test_a_dump_gives_the_settings_that_its_database_gives(mixed: Path, tmp_path: Path) -> None:
    found = site_of([mixed], None, subsystem="DB2A")
    assert {name: pool.size for name, pool in found.configuration.pools.items()} == {"BP2": 300, "BP16K1": 70}
    assert "only the size is recorded" in found.configuration.notes[0]
    pdb = Pdb.create(tmp_path / "pdb")
    ingest([mixed], pdb)
    assert site_of([tmp_path / "pdb"], None, subsystem="DB2A") == found
    # Of several Db2s somebody must say which, unless the trace is of one of them.
    with pytest.raises(UsageError, match=r"several Db2 subsystems: DB2A, DB2B"):
        site_of([mixed], None)
    assert site_of([mixed], None, member="DB2B").configuration.pools["BP2"].size == 200


def test_a_trace_without_statistics_has_no_settings(tmp_path: Path) -> None:
    path = tmp_path / "t.smf"
    path.write_bytes(traced("DB2A"))
    found = site_of([path], None)
    assert (found.configuration.pools, found.headroom, found.responses) == ({}, None, ())


def test_each_member_has_the_sizes_of_its_own_statistics(mixed: Path) -> None:
    found = site_of([mixed], None, members=["DB2A", "DB2B", "DB2C"])
    sizes = {name: pool.size for name, pool in found.configuration.pools.items()}
    assert sizes == {"DB2A.BP2": 300, "DB2A.BP16K1": 70, "DB2B.BP2": 200}
    assert found.cost.request == REQUEST
    assert any(note.startswith("DB2B: for BP2 only the size") for note in found.configuration.notes)


def test_the_command_takes_them(mixed: Path) -> None:
    done = CliRunner().invoke(app, ["pools", str(mixed), "--pool", "DB2B.BP2=400", "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    group = json.loads(done.stdout)["prediction"]
    sizes = {
        when: {name: group[when]["settings"][f"{name}.BP2"]["size"] for name in ("DB2A", "DB2B")}
        for when in ("before", "after")
    }
    assert sizes == {"before": {"DB2A": 300, "DB2B": 200}, "after": {"DB2A": 300, "DB2B": 400}}
    *trial, member, command = group["commands"]
    assert (member, command) == ("-- On member DB2B:", "-ALTER BUFFERPOOL(BP2) VPSIZE(400)")
    # The pool that grows can be tried first: remarks, which change nothing.
    assert all(line.startswith("-- ") for line in trial)
    assert "--   On member DB2B: -ALTER BUFFERPOOL(BP2) SPSIZE(200) SPSEQT(80)" in trial


def test_group_buffer_pools_of_structures_and_what_their_requests_cost() -> None:
    tables = two_systems()
    for one in tables["smf74_4_request"]:
        one["r744snam"] = f"DSNDB1G_{one['r744snam']}"
    tables["smf74_4_request"].append(row(1, 3, r744snam="DSNDB1G_SCA", r744styp=1, r744ssrc=1e6, r744sstm=1.0))
    raw = inputs(**tables)
    found = of_members(raw.connection, ["DB1A"])
    # 5,000 directory entries and 1,000 elements of 4 KB; GBP0 tells neither.
    assert found.structures == {"BP1": GroupPoolSettings("BP1", 1000, 5000)}
    assert found.group == "DSNDB1G"
    assert any("for GBP1 only the entries are recorded" in note for note in found.notes)
    # 900 and 1,800 requests of 50 us; those of the SCA do not count.
    request = measured_request(raw)
    assert request.value == pytest.approx(50e-6)
    assert "2,700 synchronous requests" in request.source


def test_group_buffer_pools_of_a_display(tmp_path: Path) -> None:
    path = tmp_path / "display.txt"
    path.write_text(GROUP_POOL)
    with Pdb.temporary() as pdb:
        ingest([path], pdb)
        found = of_members(pdb.connect(), ["DB1A", "DB1B"])
    assert found.structures == {"BP29": GroupPoolSettings("BP29", 11_370, 61_394)}
    assert found.group == "DSNCAT"
