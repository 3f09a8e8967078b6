"""Pools of several members with a group buffer pool between them, by hand."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa
import pytest

from plexlens import _core

GETPAGE, SET_WRITE, COMMIT = (_core.TRACE_FUNCTIONS.index(name) for name in ("getpage", "set_write", "commit"))

#: A pool that reads page by page and writes nothing before a commit.
PLAIN = {"size": 10, "prefetch": False, "vpseqt": 100, "vdwqt": 90, "dwqt": 90}


def batch(events: Iterable[tuple[int, int, int, int]], *, pool: int = 3) -> pa.RecordBatch:
    """Events (member, object, page, function), a microsecond apart."""
    rows = list(events)
    values: dict[str, list[int]] = {name: [0] * len(rows) for name, _ in _core.TRACE_COLUMNS}
    values["time"], values["pool"] = list(range(len(rows))), [pool] * len(rows)
    for name, column in zip(("member", "object", "page", "function"), zip(*rows, strict=True), strict=True):
        values[name] = list(column)
    types = dict(_core.TRACE_COLUMNS)
    return pa.RecordBatch.from_pydict({name: pa.array(column, types[name]) for name, column in values.items()})


def simulated(
    events: Iterable[tuple[int, int, int, int]], *, size: int = 10, **structure: int | None
) -> _core.GroupSimulation:
    """Two members with pool 3; object 7 is shared."""
    members = {member: {**PLAIN, "size": size} for member in (1, 2)}
    simulation = _core.GroupSimulation({3: members}, {3: structure}, {3: [(7, 0)]})
    simulation.add(batch(events))
    return simulation


def test_interest_is_in_what_one_changes_and_two_use() -> None:
    interest = _core.GroupInterest()
    interest.add(batch([(1, 7, 0, GETPAGE), (1, 8, 0, GETPAGE), (2, 8, 0, GETPAGE), (2, 9, 0, SET_WRITE)]))
    interest.add(batch([(2, 7, 5, SET_WRITE)]))
    assert interest.dependent() == {3: [(7, 0)]}


def test_a_change_invalidates_the_other_members_page() -> None:
    done = simulated([(1, 7, 4, GETPAGE), (2, 7, 4, GETPAGE), (1, 7, 4, SET_WRITE), (2, 7, 4, GETPAGE)])
    # Both register and find no data; the write invalidates member 2's page, which then comes from the group.
    assert done.structure(3)["invalidated_by_write"] == 1
    first, second = done.members(3)[1], done.members(3)[2]
    assert (first["misses_without_data"], first["sync_writes"], first["async_writes"]) == (1, 1, 0)
    assert (second["misses_without_data"], second["invalid_with_data"], second["invalid_without_data"]) == (1, 1, 0)
    # One read from disk each, and nothing written there: the page is changed in the group buffer pool.
    pools = done.pools(3)
    assert [pools[member]["sync_reads_random"] for member in (1, 2)] == [1, 1]
    assert [pools[member]["pages_written"] for member in (1, 2)] == [0, 0]
    assert [one[2]["getpages"] for member in (1, 2) for one in done.data_sets(3)[member]] == [1, 2]


def test_a_data_set_that_nobody_shares_does_not_go_through_the_group() -> None:
    done = simulated([(1, 8, 4, GETPAGE), (1, 8, 4, SET_WRITE), (2, 8, 4, GETPAGE)])
    assert set(done.structure(3).values()) == {0}
    assert all(set(counters.values()) == {0} for counters in done.members(3).values())


def test_a_full_directory_takes_entries_from_pages_that_are_in_use() -> None:
    # Two entries, three pages: the third takes the entry of page 0, whose member loses it; asking for page 0 again
    # reads it again and takes the entry of page 1.
    events = [(1, 7, page, GETPAGE) for page in (0, 1, 2, 0)]
    done = simulated(events, data_entries=2, directory_entries=2)
    counters = done.structure(3)
    assert (counters["directory_reclaims"], counters["invalidated_by_reclaim"]) == (2, 2)
    assert done.members(3)[1]["invalid_without_data"] == 1
    assert done.pools(3)[1]["sync_reads_random"] == 4


@pytest.mark.parametrize(
    ("settings", "changes", "expected"),
    [
        # 100 data entries, CLASST 5 per cent: the sixth change casts six out, pages next to each other in one I/O.
        ({"class_threshold": 5}, 5, [0, 0, 0, 0]),
        ({"class_threshold": 5}, 6, [6, 1, 1, 0]),
        # CLASST 0,3: the fourth.
        ({"class_threshold": 0, "class_pages": 3}, 4, [4, 1, 1, 0]),
        # GBPOOLT 30, CLASST out of the way: the 31st changes casts out the largest class, which is all there is.
        ({"class_threshold": 90, "pool_threshold": 30}, 30, [0, 0, 0, 0]),
        ({"class_threshold": 90, "pool_threshold": 30}, 31, [31, 1, 0, 1]),
    ],
)
def test_castout(settings: dict[str, int], changes: int, expected: list[int]) -> None:
    events = [(1, 7, page, function) for page in range(changes) for function in (GETPAGE, SET_WRITE)]
    counters = simulated(events, size=100, data_entries=100, directory_entries=500, **settings).structure(3)
    names = ("castout_pages", "castout_ios", "class_threshold", "pool_threshold")
    assert [counters[name] for name in names] == expected


def test_changed_pages_go_at_commit() -> None:
    events = [(1, 7, 0, GETPAGE), (1, 7, 0, SET_WRITE), (1, 7, 1, GETPAGE), (1, 7, 1, SET_WRITE)]
    assert simulated(events, updates_a_commit=None).members(3)[1]["sync_writes"] == 0
    assert simulated([*events, (1, 7, 0, COMMIT)], updates_a_commit=None).members(3)[1]["sync_writes"] == 2
    assert simulated(events, updates_a_commit=2).members(3)[1]["sync_writes"] == 2


def test_what_has_no_configuration_is_counted() -> None:
    done = simulated([(1, 7, 0, GETPAGE), (5, 7, 0, GETPAGE), (5, 7, 1, GETPAGE)])
    done.add(batch([(1, 7, 0, GETPAGE)], pool=9))
    assert done.without_configuration() == {(3, 5): 2, (9, 1): 1}
    with pytest.raises(KeyError, match="pool 9"):
        done.structure(9)


@pytest.mark.parametrize(
    ("pools", "structures", "expected"),
    [
        ({3: {1: PLAIN}}, {}, "pool 3 has no structure"),
        ({}, {3: {}}, "structure of pool 3 has no pools"),
        ({3: {1: PLAIN}}, {3: {"entries": 5}}, "no setting entries; give data_entries"),
        ({3: {1: PLAIN}}, {3: {"data_entries": 0}}, "data entries 0"),
        ({3: {1: {"size": 0}}}, {3: {}}, "VPSIZE 0"),
    ],
)
def test_impossible_groups(
    pools: dict[int, dict[int, dict[str, int]]], structures: dict[int, dict[str, int]], expected: str
) -> None:
    with pytest.raises(_core.PoolError, match=expected):
        _core.GroupSimulation(pools, structures, {})


def test_counters_say_which_field_of_the_record_they_are() -> None:
    fields = {name: field for name, field, _ in _core.GroupSimulation.member_fields()}
    assert fields["invalid_with_data"] == "QBGLXD"
    assert {"castout_pages", "directory_reclaims"} <= {name for name, _, _ in _core.GroupSimulation.structure_fields()}
