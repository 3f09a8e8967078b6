"""Text for Db2: what is written, and that it and its reverse do what they say."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from plexlens.errors import UsageError
from plexlens.pools.alter import MovedObject, alter, alter_object, apply, script
from plexlens.pools.settings import LEAST, Configuration, PoolSettings, page_bytes_of
from tests.pools.test_settings import NAMES, pool_settings


def test_only_what_changes_is_named() -> None:
    old = PoolSettings.of("BP2", 20_000)
    assert alter(old, PoolSettings.of("BP2", 80_000, pgfix=True)) == (
        "-ALTER BUFFERPOOL(BP2) VPSIZE(80000) PGFIX(YES)",
        "-ALTER BUFFERPOOL(BP2) VPSIZE(20000) PGFIX(NO)",
    )
    assert alter(old, PoolSettings.of("BP2", 20_000, vdwqt=0, vdwqt_pages=128)) == (
        "-ALTER BUFFERPOOL(BP2) VDWQT(0,128)",
        "-ALTER BUFFERPOOL(BP2) VDWQT(5,0)",
    )
    assert alter(old, old) == ("", "")


def test_a_new_pool_names_everything_and_goes_again() -> None:
    assert alter(None, PoolSettings.of("BP16K1", 500, steal="NONE", frame_bytes=1 << 20)) == (
        "-ALTER BUFFERPOOL(BP16K1) VPSIZE(500) VPSEQT(80) DWQT(30) VDWQT(5,0) PGSTEAL(NONE) PGFIX(NO) FRAMESIZE(1M)",
        "-ALTER BUFFERPOOL(BP16K1) VPSIZE(0)",
    )


def test_what_db2_does_not_take_is_not_written() -> None:
    with pytest.raises(UsageError, match="BP0 cannot be removed"):
        alter(PoolSettings.of("BP0", 2000), None)
    with pytest.raises(UsageError, match="give at least 2000 buffers"):
        alter(PoolSettings.of("BP0", 3000), PoolSettings.of("BP0", 10))
    with pytest.raises(UsageError, match="BP1 cannot become BP2"):
        alter(PoolSettings.of("BP1", 3000), PoolSettings.of("BP2", 10))
    with pytest.raises(UsageError, match="cannot move from BP1 to BP8K1: their pages have 4096 and 8192 bytes"):
        alter_object(MovedObject("A.B", "tablespace"), "BP1", "BP8K1")


def test_moves_are_named_as_sql_names_them() -> None:
    assert alter_object(MovedObject("PAY.TSEMP", "tablespace"), "BP1", "BP2") == (
        "ALTER TABLESPACE PAY.TSEMP BUFFERPOOL BP2;",
        "ALTER TABLESPACE PAY.TSEMP BUFFERPOOL BP1;",
        (),
    )
    assert alter_object(MovedObject("PAY.IXEMP", "index", "HR.XEMP01"), "BP1", "BP2")[:2] == (
        "ALTER INDEX HR.XEMP01 BUFFERPOOL BP2;",
        "ALTER INDEX HR.XEMP01 BUFFERPOOL BP1;",
    )
    forth, _, remarks = alter_object(MovedObject("PAY.IXEMP", "index"), "BP1", "BP2")
    assert forth == "ALTER INDEX <index of PAY.IXEMP> BUFFERPOOL BP2;"
    assert "WHERE DBNAME = 'PAY' AND INDEXSPACE = 'IXEMP'" in remarks[0]
    forth, _, remarks = alter_object(MovedObject("260.17"), "BP1", "BP2")
    assert forth == "ALTER TABLESPACE <260.17> BUFFERPOOL BP2;"
    assert "DBID = 260 AND PSID = 17" in remarks[0]


def test_pools_shrink_before_others_grow_and_objects_move_last() -> None:
    before = Configuration({"BP1": PoolSettings.of("BP1", 9000), "BP2": PoolSettings.of("BP2", 3000)})
    after = Configuration(
        {"BP3": PoolSettings.of("BP3", 500), "BP2": PoolSettings.of("BP2", 4000), "BP1": PoolSettings.of("BP1", 7000)},
        {"A.B": "BP3"},
    )
    made = script(before, after, {"A.B": MovedObject("A.B", "tablespace")}, {"A.B": "BP1"})
    commands = [line for line in made.change if not line.startswith("--")]
    assert [line.partition(" VPSEQT")[0] for line in commands] == [
        "-ALTER BUFFERPOOL(BP1) VPSIZE(7000)",
        "-ALTER BUFFERPOOL(BP2) VPSIZE(4000)",
        "-ALTER BUFFERPOOL(BP3) VPSIZE(500)",
        "ALTER TABLESPACE A.B BUFFERPOOL BP3;",
    ]
    assert [line for line in made.reverse if not line.startswith("--")] == [
        "ALTER TABLESPACE A.B BUFFERPOOL BP1;",
        "-ALTER BUFFERPOOL(BP3) VPSIZE(0)",
        "-ALTER BUFFERPOOL(BP2) VPSIZE(3000)",
        "-ALTER BUFFERPOOL(BP1) VPSIZE(9000)",
    ]
    assert any("next opened" in line for line in made.change)


OBJECTS = {
    name: MovedObject(name, kind, sql)
    for name, kind, sql in [
        ("DB1.TS1", "tablespace", ""),
        ("DB1.IX1", "index", ""),
        ("DB1.IX2", "index", "OWNER.XINDEX"),
        ("DB1.UNKNOWN", "", ""),
        ("260.17", "", ""),
        ("odd name", "", ""),
    ]
}


@st.composite
def configurations(draw: st.DrawFn) -> tuple[Configuration, Configuration, dict[str, str]]:
    """Two configurations that have the pools of the catalog in common, and where objects are in the trace."""
    sides = []
    for _ in range(2):
        names = draw(st.sets(st.sampled_from(NAMES), max_size=6)) | set(LEAST)
        sides.append({name: draw(pool_settings(name)) for name in sorted(names)})
    home = {name: draw(st.sampled_from(["BP1", "BP8K1", "BP32K"])) for name in OBJECTS}
    placements = []
    for _ in range(2):
        placement = {}
        for name, pool in home.items():
            same = [one for one in NAMES if page_bytes_of(one) == page_bytes_of(pool)]
            placement[name] = draw(st.sampled_from(same))
        placements.append(placement)
    return Configuration(sides[0], placements[0]), Configuration(sides[1], placements[1]), home


@settings(deadline=None)
@given(configurations())
def test_a_change_and_its_reverse_are_exact(made: tuple[Configuration, Configuration, dict[str, str]]) -> None:
    before, after, home = made
    text = script(before, after, OBJECTS, home)
    changed = apply(text.change, before, OBJECTS)
    assert changed == after
    assert apply(text.reverse, changed, OBJECTS) == before


@settings(deadline=None)
@given(configurations())
def test_storage_never_exceeds_both_ends(made: tuple[Configuration, Configuration, dict[str, str]]) -> None:
    before, after, home = made
    kept = Configuration({name: after.pools.get(name, pool) for name, pool in before.pools.items()}, before.placement)
    most = max(before.bytes, kept.bytes)
    running = before
    for line in script(before, kept, OBJECTS, home).change:
        running = apply([line], running, OBJECTS)
        assert running.bytes <= most


@pytest.mark.parametrize(
    "line",
    ["DROP TABLESPACE A.B;", "-ALTER BUFFERPOOL(BP1) HPSIZE(3)", "-ALTER BUFFERPOOL(BP1) VPSIZE(x)", "ALTER TABLE X"],
)
def test_text_that_is_no_change_is_named(line: str) -> None:
    with pytest.raises(UsageError, match=r"line 2: .* does not change a known pool"):
        apply(["-- a remark", line], Configuration(), {})
