"""Settings of a group: options, files, databases, assumptions; and their text for Db2 and z/OS."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from plexlens.errors import UsageError
from plexlens.pools.alter import script
from plexlens.pools.options import named_pools, with_options
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.settings_file import read_toml
from plexlens.pools.site import with_assumed_structures
from plexlens.pools.structures import GroupPoolSettings

MEMBERS = ("DB1A", "DB1B")
USED = {"DB1A": ["BP1", "BP2"], "DB1B": ["BP1"]}
NOTHING = Configuration()


def sizes(configuration: Configuration) -> dict[str, dict[str, int]]:
    members = {member: configuration.of(member).pools for member in configuration.members}
    return {name: {pool: one.size for pool, one in own.items()} for name, own in members.items()}


def test_options_are_for_one_member_or_for_those_that_use_the_pool() -> None:
    made = with_options(
        NOTHING,
        USED,
        pools=("BP1=1000", "DB1B.BP1=2000,vpseqt=40", "bp2=500"),
        policies=("fifo:db1a.bp2",),
        page_fix=("DB1B.BP1",),
        moves=("D.T=BP7",),
    )
    assert sizes(made) == {"DB1A": {"BP1": 1000, "BP2": 500}, "DB1B": {"BP1": 2000}}
    assert made.pools["DB1B.BP1"] == PoolSettings("BP1", 2000, vpseqt=40, pgfix=True)
    assert made.pools["DB1A.BP2"].steal == "FIFO"
    assert made.placement == {"D.T": "BP7"}
    # Nobody has BP7: it is made for what moves there, at every member.
    made = with_options(made, USED, pools=("BP7=300",))
    assert [own["BP7"] for own in sizes(made).values()] == [300, 300]
    assert named_pools(made, USED, ["BP1=1", "DB1A.BP2=5"]) == {"DB1A.BP1", "DB1B.BP1", "DB1A.BP2"}


@pytest.mark.parametrize(
    ("option", "data", "directory"),
    [
        ("GBP1=2000:10000", 2000, 10_000),
        # 61,440,000 bytes of pages with five entries of 400 bytes each: 6,096 a page.
        ("GBP1=60000KiB:5", 10_078, 50_390),
        # Without a ratio that of the present one, 4: 5,696 a page.
        ("GBP1=5696000", 1000, 4000),
    ],
)
def test_sizes_of_group_buffer_pools(option: str, data: int, directory: int) -> None:
    known = Configuration(structures={"BP1": GroupPoolSettings("BP1", 500, 2000, pool_threshold=50)})
    made = with_options(known, USED, structures=(option,)).structures["BP1"]
    assert (made.data_entries, made.directory_entries, made.pool_threshold) == (data, directory, 50)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"pools": ("DB1C.BP1=5",)}, r"no member DB1C.*DB1A, DB1B"),
        ({"structures": ("BP1=5:5",)}, "names no group buffer pool"),
        ({"structures": ("GBP1=9:5",)}, "5 directory entries for 9 data entries"),
        ({"structures": ("GBP1=1:300",)}, "a ratio of 300.0"),
        ({"structures": ("GBP1=1MiB:0.5",)}, "RATIO 0.5 is not possible"),
        ({"structures": ("GBP1=100:x",)}, "a value is not a number"),
        ({"structures": ("GBP1=100",)}, "100 bytes are too small for a page"),
    ],
)
def test_impossible_options(options: dict[str, tuple[str, ...]], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        with_options(NOTHING, USED, **options)  # type: ignore[arg-type]


def test_a_file_tells_what_is_common_and_what_is_of_one_member(tmp_path: Path) -> None:
    path = tmp_path / "group.toml"
    path.write_text(
        '[group]\nname = "DSNDB1G"\n[BP1]\nsize = 3000\nvpseqt = 40\n'
        "[DB1B.BP1]\nsize = 2000\n[DB1B.BP32K]\nsize = 300\n"
        "[GBP1]\ndata_entries = 500\ndirectory_entries = 2500\ngbpoolt = 40\nupdates_a_commit = 0\n"
        '[GBP32K]\nsize = "32MiB"\nratio = 2.5\n[placement]\n"D.T" = "BP1"\n'
    )
    found = read_toml(path, MEMBERS)
    assert sizes(found) == {"DB1A": {"BP1": 3000}, "DB1B": {"BP1": 2000, "BP32K": 300}}
    assert [found.of(member).pools["BP1"].vpseqt for member in found.members] == [40, 40]
    assert found.structures["BP1"] == GroupPoolSettings("BP1", 500, 2500, pool_threshold=40, updates_a_commit=None)
    # 32 MiB / (32 KiB + 2.5 x 400 bytes)
    assert found.structures["BP32K"] == GroupPoolSettings("BP32K", 993, 2482)
    assert (found.group, found.placement) == ("DSNDB1G", {"D.T": "BP1"})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[DB1C.BP1]\nsize = 5", r"\[DB1C\] is neither a pool"),
        ("[group]\nnom = 'X'", "does not name a data-sharing group"),
        ("[GBP1]\ndata_entries = 5", "its size is missing"),
        ("[GBP1]\nsize = '1MiB'\ndata_entries = 5\ndirectory_entries = 5", "missing or given twice"),
        ("[GBP1]\nclass = 5", "no setting 'class'"),
        ("[GBP1]\nsize = true", "size = True means nothing"),
        ("[BP1]\nsize = 5\n[DB1A.BP1]\nvpsize = 7", "no setting 'vpsize'"),
    ],
)
def test_impossible_files(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "group.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=expected) as refused:
        read_toml(path, MEMBERS)
    assert refused.value.file == str(path)


def test_an_unknown_group_buffer_pool_is_assumed_and_said() -> None:
    known = with_options(NOTHING, USED, pools=("BP1=10000",))
    made = with_assumed_structures(known, ["BP1"], updates_a_commit=None)
    # 40 % of 20,000 buffers, in pages with five entries of 400 bytes: 8,000 x 4,096 / 6,096.
    assert made.structures == {"BP1": GroupPoolSettings("BP1", 5375, 26_875, updates_a_commit=None)}
    assert made.assumed == {"GBP1"}
    assert "size of GBP1 is not known" in made.notes[-1]


def test_text_of_a_change_and_its_reverse() -> None:
    old = Configuration.of_members(
        {name: {"BP1": PoolSettings("BP1", 1000)} for name in MEMBERS},
        structures={
            "BP1": GroupPoolSettings("BP1", 1000, 5000),
            "BP2": GroupPoolSettings("BP2", 1000, 5000),
            "BP3": GroupPoolSettings("BP3", 1000, 5000),
        },
        group="DSNDB1G",
        assumed=frozenset({"GBP3"}),
    )
    new = replace(old, pools={**old.pools, "DB1B.BP1": PoolSettings("BP1", 3000)}).with_structures(
        {
            "BP1": GroupPoolSettings("BP1", 2000, 15_000),
            "BP2": GroupPoolSettings("BP2", 1000, 4000),
            "BP3": GroupPoolSettings("BP3", 1100, 5500, pool_threshold=20),
        }
    )
    text = script(old, new, {}, {})
    # 2,000 x 4 KB + 15,000 x 400 bytes = 14,192,000 bytes; 5,696,000; 6,705,600: in KB, rounded up.
    assert [line for line in text.change if not line.startswith("--")] == [
        "-ALTER GROUPBUFFERPOOL(GBP1) RATIO(7.5)",
        "SETXCF START,ALTER,STRNAME=DSNDB1G_GBP1,SIZE=13860",
        "SETXCF START,REBUILD,STRNAME=DSNDB1G_GBP1",
        "-ALTER GROUPBUFFERPOOL(GBP3) GBPOOLT(20)",
        "SETXCF START,ALTER,STRNAME=DSNDB1G_GBP3,SIZE=6549",
        "-ALTER BUFFERPOOL(BP1) VPSIZE(3000)",
        "-ALTER GROUPBUFFERPOOL(GBP2) RATIO(4)",
        "SETXCF START,ALTER,STRNAME=DSNDB1G_GBP2,SIZE=5563",
        "SETXCF START,REBUILD,STRNAME=DSNDB1G_GBP2",
    ]
    assert text.change[text.change.index("-ALTER BUFFERPOOL(BP1) VPSIZE(3000)") - 1] == "-- On member DB1B:"
    # 6,096,000 bytes are 5,953.1 KB.
    assert [line for line in text.reverse if not line.startswith("-- ")] == [
        "-ALTER GROUPBUFFERPOOL(GBP2) RATIO(5)",
        "SETXCF START,ALTER,STRNAME=DSNDB1G_GBP2,SIZE=5954",
        "SETXCF START,REBUILD,STRNAME=DSNDB1G_GBP2",
        "-ALTER BUFFERPOOL(BP1) VPSIZE(1000)",
        "-ALTER GROUPBUFFERPOOL(GBP1) RATIO(5)",
        "SETXCF START,ALTER,STRNAME=DSNDB1G_GBP1,SIZE=5954",
        "SETXCF START,REBUILD,STRNAME=DSNDB1G_GBP1",
    ]
    assert "-- GBP3: its present settings are not known." in text.reverse
    assert script(old, old, {}, {}).change == ()
    assert "STRNAME=<group>_GBP1" in "\n".join(script(old, replace(new, group=""), {}, {}).change)


def test_text_of_a_new_pool_names_the_structure_to_define() -> None:
    before = Configuration.of_members({name: {"BP1": PoolSettings("BP1", 1000)} for name in MEMBERS}, group="DSNDB1G")
    pools = {"BP1": PoolSettings("BP1", 1000), "BP5": PoolSettings("BP5", 500)}
    made = {"BP5": GroupPoolSettings("BP5", 1000, 5000)}
    after = Configuration.of_members(dict.fromkeys(MEMBERS, pools), structures=made, group="DSNDB1G")
    text = script(before, after, {}, {}).change
    # 1,000 x 4 KB + 5,000 x 400 bytes.
    assert text[0] == "-- Define structure DSNDB1G_GBP5 in the CFRM policy: SIZE(5954), RATIO 5."
    assert sum(line.startswith("-ALTER BUFFERPOOL(BP5) VPSIZE(500)") for line in text) == 2


@pytest.mark.parametrize(("data", "directory", "expected"), [(1000, 4010, 4100), (1000, 4100, 4100), (30, 97, 99)])
def test_directory_entries_follow_a_ratio_of_one_decimal(data: int, directory: int, expected: int) -> None:
    made = GroupPoolSettings("BP1", data, directory).at_ratio()
    assert made.directory_entries == expected
    # What RATIO says gives the entries back.
    assert int(data * made.ratio + 1e-9) == expected
