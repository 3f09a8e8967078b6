"""Activities in columns against the same made one by one."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from plexlens import _core
from plexlens.ingest.page_trace import TraceNames
from plexlens.pools.activities import Activities
from plexlens.pools.cost import IoCost, default_cost
from plexlens.pools.engine import in_columns
from plexlens.pools.page_sample import Use
from plexlens.pools.prediction import Activity
from plexlens.pools.work import Work

RANDOM = _core.TRACE_ACCESSES.index("random")
COUNTERS = ("getpages", "updates", "sync_reads", "prefetch_reads", "prefetch_pages", "writes", "pages_written")


def slow_activity(
    counters: Mapping[str, int], work: Work, data_set: tuple[int, int], cost: IoCost, *, page_fixed: bool
) -> Activity:
    """The activity of one data set, without arrays."""
    use = work.data_sets[data_set]
    sync, other = counters["sync_reads"], counters["prefetch_reads"] + counters["writes"]
    return Activity(
        getpages=counters["getpages"],
        random_getpages=counters["getpages"] / use.total * float(use.accesses[RANDOM]),
        updates=counters["updates"],
        distinct_pages=work.distinct_pages[data_set],
        sync_reads=sync,
        prefetch_reads=counters["prefetch_reads"],
        pages_read=sync + counters["prefetch_pages"],
        write_ios=counters["writes"],
        pages_written=counters["pages_written"],
        cpu_seconds=cost.cpu_seconds(float(sync), float(other), page_fixed=page_fixed),
        delay_seconds=sync * cost.sync_delay.value,
    )


@pytest.mark.parametrize("page_fixed", [False, True])
def test_columns_are_the_activities_one_by_one(page_fixed: bool) -> None:
    random = np.random.default_rng(8)
    names, cost = TraceNames(), default_cost()
    data_sets = [(number, partition) for number in range(1, 40) for partition in (0, 3)]
    counted = [(*key, dict(zip(COUNTERS, random.integers(0, 10**6, 7).tolist(), strict=True))) for key in data_sets]
    uses = {}
    for (number, partition), (_, _, counters) in zip(data_sets, counted, strict=True):
        total = counters["getpages"] + 7 * number + 1
        uses[number, partition] = Use({2: total}, np.full(len(_core.TRACE_ACCESSES), total // 3, np.int64))
    work = Work(uses, names, {key: float(random.random() * 100) for key in data_sets}, 60.0)
    activities = Activities()
    total = activities.add("BP2", in_columns(counted), work, cost, page_fixed=page_fixed)
    slow = {
        ("BP2", names.data_set(*key)): slow_activity(counters, work, key, cost, page_fixed=page_fixed)
        for key, (_, _, counters) in zip(data_sets, counted, strict=True)
    }
    assert dict(activities.items()) == slow == activities
    assert list(activities) == list(slow)
    assert len(activities) == len(slow)
    first = activities["BP2", names.data_set(1, 3)]
    assert (type(first.getpages), type(first.cpu_seconds)) == (int, float)
    # The sum has the rounding of one addition after another.
    assert total == sum(slow.values(), start=Activity())


def test_a_pool_without_data_sets_has_no_activity() -> None:
    activities = Activities()
    nothing = activities.add("BP3", in_columns([]), Work({}, TraceNames(), {}, 0.0), default_cost(), page_fixed=False)
    assert (nothing, len(activities), dict(activities)) == (Activity(), 0, {})
    with pytest.raises(KeyError):
        activities["BP3", "PAY.TS"]
    with pytest.raises(KeyError):
        activities["BP4", "PAY.TS"]
