"""Free storage worked by hand."""

from __future__ import annotations

from typing import Any

from plexlens.pdb.engine import connect
from plexlens.pools.headroom import headroom_of
from tests.metrics.raw import inputs, row

#: 900 seconds, 1,000,000 frames, 200,000 free when fewest were, 0.5 page faults a second.
PAGING: dict[str, Any] = {
    "smf71pin": 450,
    "smf71tfc": 990_000,
    "smf71fin": 10_000,
    "smf71lvf": 250_000.0,
    "smf71cam": 200_000.0,
}


def test_growth_is_what_was_free_less_the_reserve() -> None:
    later = row(2, interval=1, **(PAGING | {"smf71cam": 120_000.0}))
    found = headroom_of(inputs(smf71_1_paging=[row(1, **PAGING), later]).connection)
    assert found is not None
    # 120,000 less 5 % of 1,000,000 frames.
    assert (found.system, found.growth, found.intervals) == ("SYS1", 70_000 * 4096, 2)
    assert (found.least_available, found.is_paging) == (120_000 * 4096, False)
    assert "pools can grow by 0.27 GiB" in str(found)


def test_a_system_that_pages_leaves_nothing() -> None:
    later = row(2, interval=1, **(PAGING | {"smf71pin": 1800}))
    found = headroom_of(inputs(smf71_1_paging=[row(1, **PAGING), later]).connection)
    assert found is not None
    assert (found.growth, found.is_paging, found.page_faults) == (0, True, 2.0)
    assert "pools cannot grow" in str(found)


def test_of_several_systems_the_tightest_counts_unless_one_is_named() -> None:
    other = row(2, **(PAGING | {"smf71cam": 60_000.0})) | {"system": "SYS2"}
    connection = inputs(smf71_1_paging=[row(1, **PAGING), other]).connection
    tight, named = headroom_of(connection), headroom_of(connection, system="SYS1")
    assert tight is not None and named is not None
    assert (tight.system, tight.growth) == ("SYS2", 10_000 * 4096)
    assert (named.system, named.growth) == ("SYS1", 150_000 * 4096)


def test_without_smf_71_nothing_is_said() -> None:
    assert headroom_of(connect()) is None
