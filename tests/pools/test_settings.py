"""Settings of pools from options, files and databases; what Db2 does not take is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.errors import NothingUsableError, PlexlensError, UsageError
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.engine import connect
from plexlens.pools.options import with_options
from plexlens.pools.settings import (
    Configuration,
    PoolSettings,
    check_db2,
    page_bytes_of,
)
from plexlens.pools.settings_file import read_toml, to_toml
from plexlens.pools.sources import of_database

NAMES = [f"BP{n}" for n in range(50)] + [f"BP8K{n}" for n in range(10)] + [f"BP16K{n}" for n in range(10)]
NAMES += ["BP32K"] + [f"BP32K{n}" for n in range(1, 10)]


def test_names_of_pools_tell_their_page_size() -> None:
    sizes = [page_bytes_of(name) for name in NAMES]
    assert sizes == [4096] * 50 + [8192] * 10 + [16384] * 10 + [32768] * 10


@pytest.mark.parametrize("name", ["BP", "BP50", "BP01", "BP8K", "BP8K10", "BP16K", "BP32K0", "BP32K10", "bp2", "GBP1"])
def test_names_that_no_pool_has(name: str) -> None:
    assert page_bytes_of(name) is None


@pytest.mark.parametrize(
    ("settings", "what"),
    [
        ({"name": "BP2", "size": 0}, "pool BP2: VPSIZE 0 is not possible"),
        ({"name": "BP2", "size": 1, "vpseqt": 101}, "VPSEQT 101 is not possible; give 0 to 100"),
        ({"name": "BP2", "size": 1, "dwqt": 91}, "DWQT 91 is not possible; give 0 to 90"),
        ({"name": "BP2", "size": 1, "vdwqt": -1}, "VDWQT -1 is not possible; give 0 to 90"),
        ({"name": "BP2", "size": 1, "vdwqt_pages": 10_000}, "give 0 to 9999"),
        ({"name": "BP2", "size": 1, "steal": "RANDOM"}, "give one of LRU, FIFO, NONE"),
        ({"name": "BP2", "size": 1, "frame_bytes": 8192}, "give 4K, 1M or 2G"),
        ({"name": "BP2", "size": 1, "frame_bytes": 1 << 31}, "FRAMESIZE(2G) is valid only for page-fixed pools"),
        ({"name": "BP2", "size": 1, "frame_bytes": 1 << 31, "pgfix": True, "steal": "NONE"}, "cannot be combined"),
        ({"name": "BP2", "size": 1, "page_bytes": 8192}, "its pages have 4096 bytes, not 8192"),
        ({"name": "BP77", "size": 1}, "Db2 has no buffer pool 'BP77'"),
    ],
)
def test_values_that_no_pool_has(settings: dict[str, object], what: str) -> None:
    with pytest.raises(UsageError) as raised:
        PoolSettings(**settings)  # type: ignore[arg-type]
    assert what in str(raised.value)


def test_the_catalogs_pools_have_least_sizes() -> None:
    for name, least in (("BP0", 2000), ("BP8K0", 1000), ("BP16K0", 500), ("BP32K", 250)):
        check_db2([PoolSettings.of(name, least)])
        with pytest.raises(UsageError, match=f"give at least {least} buffers"):
            check_db2([PoolSettings.of(name, least - 1)])
    check_db2([PoolSettings.of("BP1", 1)])


def test_pools_of_16_tb_together_and_no_more() -> None:
    half = PoolSettings.of("BP1", 1 << 31), PoolSettings.of("BP32K1", 1 << 28)
    check_db2(half)
    with pytest.raises(UsageError, match="16 TB"):
        check_db2([*half, PoolSettings.of("BP2", 1)])


def test_options_change_what_they_name_and_nothing_else() -> None:
    there = Configuration({"BP2": PoolSettings.of("BP2", 20_000, vpseqt=40), "BP6": PoolSettings.of("BP6", 1000)})
    made = with_options(
        there,
        pools=["BP2=80000", "bp11=5000,vpseqt=0,dwqt=50,vdwqt=0:128"],
        moves=["PAY.TS1=bp11"],
        policies=["fifo:BP6"],
        page_fix=["BP2"],
    )
    assert made.pools == {
        "BP2": PoolSettings.of("BP2", 80_000, vpseqt=40, pgfix=True),
        "BP6": PoolSettings.of("BP6", 1000, steal="FIFO"),
        "BP11": PoolSettings.of("BP11", 5000, vpseqt=0, dwqt=50, vdwqt=0, vdwqt_pages=128),
    }
    assert made.placement == {"PAY.TS1": "BP11"}
    assert there.pools["BP2"].size == 20_000


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"pools": ["BP2"]}, "--pool BP2: a value is not a number"),
        ({"pools": ["BP2=many"]}, ": a value is not a number"),
        ({"pools": ["XX=5"]}, "Db2 has no buffer pool 'XX'"),
        ({"pools": ["BP2=5,size=3"]}, "there is no setting 'size'"),
        ({"pools": ["BP0=1999"]}, "give at least 2000 buffers"),
        ({"policies": ["mru:BP2"]}, "give one of lru, fifo, none"),
        ({"policies": ["fifo:BP2"]}, "the size of BP2 is not known"),
        ({"page_fix": ["BP2"]}, "the size of BP2 is not known"),
        ({"moves": ["BP2"]}, "--move BP2 is not valid"),
        ({"moves": ["A.B=BP99"]}, "Db2 has no buffer pool 'BP99'"),
    ],
)
def test_options_that_mean_nothing(options: dict[str, list[str]], what: str) -> None:
    with pytest.raises(UsageError) as raised:
        with_options(Configuration(), **options)  # type: ignore[arg-type]
    assert what in str(raised.value)


@st.composite
def pool_settings(draw: st.DrawFn, name: str | None = None) -> PoolSettings:
    """Any settings that Db2 takes."""
    chosen = name or draw(st.sampled_from(NAMES))
    frame = draw(st.sampled_from([4096, 1 << 20, 1 << 31]))
    steal = draw(st.sampled_from(["LRU", "FIFO"] if frame == 1 << 31 else ["LRU", "FIFO", "NONE"]))
    return PoolSettings.of(
        chosen,
        draw(st.integers(2000, 400_000)),
        steal=steal,
        vpseqt=draw(st.integers(0, 100)),
        dwqt=draw(st.integers(0, 90)),
        vdwqt=draw(st.integers(0, 90)),
        vdwqt_pages=draw(st.integers(0, 9999)),
        pgfix=True if frame == 1 << 31 else draw(st.booleans()),
        frame_bytes=frame,
    )


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(NAMES), st.integers(), max_size=4).flatmap(
        lambda names: st.fixed_dictionaries({name: pool_settings(name) for name in names})
    ),
    st.dictionaries(st.text(st.characters(codec="utf-8", exclude_categories=["C"])), st.sampled_from(NAMES)),
)
def test_a_settings_file_reads_back(
    tmp_path_factory: pytest.TempPathFactory, pools: dict[str, PoolSettings], placement: dict[str, str]
) -> None:
    path = tmp_path_factory.mktemp("settings") / "pools.toml"
    there = Configuration(pools, placement)
    path.write_text(to_toml(there), encoding="utf-8")
    assert read_toml(path) == there


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[BP2]\n", "pool BP2: its size is missing"),
        ("[BP2]\nsize = 10\ncolour = 1\n", "there is no setting 'colour'"),
        ("[BP2]\nsize = true\n", "size = True means nothing"),
        ("[BP2]\nsize = 10\nframe = '3M'\n", "give 4K, 1M or 2G"),
        ("[BP2]\nsize = ", "it is not valid TOML"),
        ("[PB2]\nsize = 1", "no buffer pool 'PB2'"),
        ("[placement]\nX = 1", "must be pools"),
        ("[placement]\nX = 'Y'", "no buffer pool 'Y'"),
    ],
)
def test_settings_files_that_mean_nothing(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "pools.toml"
    path.write_text(text)
    with pytest.raises(PlexlensError) as raised:
        read_toml(path)
    assert what in str(raised.value)
    assert str(path) in str(raised.value)


def test_a_missing_settings_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlexlensError, match="it cannot be read"):
        read_toml(tmp_path / "none.toml")


DISPLAY = """\
DSNB401I  -DB2A BUFFERPOOL NAME BP2, BUFFERPOOL ID 2, USE COUNT 20
DSNB402I  -DB2A BUFFER POOL SIZE = 40000 BUFFERS  AUTOSIZE = NO
            VPSIZE MINIMUM  =       0  VPSIZE MAXIMUM  =       0
             ALLOCATED       =    40000   TO BE DELETED   =        0
             IN-USE/UPDATED  =      121   OVERFLOW ALLOC  =        0
DSNB406I  -DB2A PGFIX ATTRIBUTE -
             CURRENT = YES
             PENDING = YES
           PAGE STEALING METHOD -
             CURRENT = FIFO
             PENDING = FIFO
DSNB404I  -DB2A THRESHOLDS -
           VP SEQUENTIAL    = 40
           DEFERRED WRITE   = 50   VERTICAL DEFERRED WRT  = 10,0
           PARALLEL SEQUENTIAL =50   ASSISTING PARALLEL SEQT=  0
DSN9022I  -DB2A DSNB1CMD '-DISPLAY BUFFERPOOL' NORMAL COMPLETION
"""


def test_settings_of_a_display(tmp_path: Path) -> None:
    path = tmp_path / "display.txt"
    path.write_text(DISPLAY)
    with Pdb.temporary() as pdb:
        ingest([path], pdb)
        found = of_database(pdb.connect())
    assert found.pools == {
        "BP2": PoolSettings.of("BP2", 40_000, steal="FIFO", vpseqt=40, dwqt=50, vdwqt=10, pgfix=True)
    }
    assert found.notes == ()


def test_a_database_without_pools_says_what_to_do() -> None:
    with pytest.raises(NothingUsableError, match="ingest SMF 100"):
        of_database(connect())
