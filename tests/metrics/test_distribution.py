"""Percentiles of single tasks and threads: by hand, against the sorted values, and as a site declares them."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.catalogue import Catalogue, CatalogueError
from plexlens.metrics.evaluate import evaluate
from tests.metrics.raw import inputs, rows_of
from tests.metrics.test_cics import task
from tests.metrics.test_db2_accounting import THREAD, db2

TASKS, THREADS = GRAINS["cics_transaction"], GRAINS["db2_accounting"]

#: Bounds of the response time in seconds: 1, 1.4, 2, 3, 4, 5, 7 of each power of ten.
BOUNDS = [
    step * 10**power for power in range(-4, 3) for step in (1, 1.4, 2, 3, 4, 5, 7) if 0.0005 <= step * 10**power <= 300
]


def test_tasks_by_hand() -> None:
    # 18 tasks of 12 ms, one of 0.25 s, one of 6 s; the parts of a conversation before its end are not tasks.
    lasts = [*[0.012] * 18, 0.25, 6.0]
    tasks = [task(number, number, seconds) for number, seconds in enumerate(lasts)]
    raw = inputs(smf110_1_performance=[*tasks, task(50, 30, 200, rtype="C")])
    (found,) = rows_of(evaluate(raw, TASKS))
    assert found["response_counted"] == 20
    assert (found["response_within_10ms"], found["response_within_14ms"], found["response_within_300ms"]) == (0, 18, 19)
    # The tenth of 18 between 10 and 14 ms; the last of them; the one between 0.2 and 0.3 s; the one between 5 and 7 s.
    assert found["response_p50"] == pytest.approx(0.010 * 1.4 ** (10 / 19), rel=1e-6)
    assert found["response_p90"] == pytest.approx(0.010 * 1.4 ** (18 / 19), rel=1e-6)
    assert found["response_p95"] == pytest.approx(0.2 * 1.5**0.5, rel=1e-6)
    assert found["response_p99"] == pytest.approx(5.0 * 1.4**0.5, rel=1e-6)


def test_tasks_beyond_the_bounds() -> None:
    short = inputs(smf110_1_performance=[task(1, 0, 0.0001), task(2, 1, 0.003)])
    assert rows_of(evaluate(short, TASKS))[0]["response_p50"] == 0.0005
    # No percentile exceeds the longest response time.
    shortest = inputs(smf110_1_performance=[task(1, 0, 0.0001)])
    assert rows_of(evaluate(shortest, TASKS))[0]["response_p95"] == 0.0001
    # An hour is above the last bound: no value, and not the last bound.
    long = inputs(smf110_1_performance=[task(1, 0, 3600)])
    assert rows_of(evaluate(long, TASKS))[0]["response_p95"] is None
    without_end = inputs(smf110_1_performance=[task(1, 0, 1, rtype="C")])
    assert rows_of(evaluate(without_end, TASKS))[0]["response_p95"] is None


@pytest.mark.parametrize("by", [(), ("applid",), ("transaction",), ("applid", "transaction")])
@pytest.mark.parametrize("time", ["interval", "all"])
def test_tasks_of_several_regions_against_their_sorted_times(by: tuple[str, ...], time: str) -> None:
    chance = random.Random(7)
    tasks = [
        task(
            number, chance.uniform(0, 1700), chance.lognormvariate(-2, 1.5),
            subsystem=chance.choice(["CICSA", "CICSB"]), tran=chance.choice(["PAY1", "ORD2", "CEMT"]),
        )
        for number in range(600)
    ]  # fmt: skip
    values: dict[tuple[Any, ...], list[float]] = {}
    for each in tasks:
        names = {"applid": each["subsystem"], "transaction": each["tran"]}
        quarter = each["stop"].replace(minute=each["stop"].minute // 15 * 15, second=0, microsecond=0)
        key = (*(names[name] for name in by), *([quarter] if time == "interval" else []))
        values.setdefault(key, []).append((each["stop"] - each["start"]).total_seconds())
    rows = rows_of(evaluate(inputs(smf110_1_performance=tasks), TASKS, by=by, time=time))
    assert len(rows) == len(values)
    for row in rows:
        key = (*(row[name] for name in by), *([row["time"].astimezone(UTC)] if time == "interval" else []))
        known = sorted(values[key])
        for percent in (50, 90, 95, 99):
            # The smallest value that the share of all does not exceed, in whole numbers.
            exact = known[-(-len(known) * percent // 100) - 1]
            above = next(number for number, bound in enumerate(BOUNDS) if exact <= bound)
            low, high = BOUNDS[above - 1], BOUNDS[above]
            assert low < row[f"response_p{percent}"] <= min(high * (1 + 1e-9), known[-1]), (key, percent, exact)


def test_threads_by_hand() -> None:
    begin: datetime = THREAD["qwacbsc"]
    threads = [db2(n, **(THREAD | {"qwacesc": begin + timedelta(seconds=s)})) for n, s in enumerate([0.25, 0.25, 45.0])]
    # A record that rolls threads up has the time of all of them.
    rolled = db2(9, **(THREAD | {"qwacbsc": None, "qwacesc": datetime(1900, 1, 1, 0, 50, tzinfo=UTC), "qwacbjst": 0.0}))
    (found,) = rows_of(evaluate(inputs(smf101_ifcid3_qwac=[*threads, rolled]), THREADS, by=(), time="all"))
    assert found["occurrences"] == 4
    assert found["class1_elapsed_counted"] == 3
    # The last of two threads between 0.2 and 0.3 s; the one between 40 and 50 s, as the longest is of the record above.
    assert found["class1_elapsed_p50"] == pytest.approx(0.2 * 1.5 ** (2 / 3), rel=1e-6)
    assert found["class1_elapsed_p90"] == pytest.approx(40 * 1.25**0.5, rel=1e-6)


# --- what a site says -------------------------------------------------------------------------------------------------

SITE = """\
grain = "cics_transaction"

[distribution.response]
bounds = ["1 s", "4 s"]

[metric.response_p95]
title = "What the contract says"

[metric.within_a_second]
title = "Within a second"
unit = "fraction"
formula = "response_within_1s / response_counted"
source = "the contract"
"""


def written(folder: Path, text: str) -> Path:
    (folder / "transaction.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_site_gives_other_bounds(tmp_path: Path) -> None:
    grain = Catalogue([written(tmp_path, SITE)])["cics_transaction"]
    counts = [fact.name for fact in grain.facts if fact.name.startswith("response_within")]
    assert counts == ["response_within_1s", "response_within_4s"]
    assert grain.metric("response_p95").title == "What the contract says"
    assert "at most a factor of 4 apart" in grain.metric("response_p95").caveat
    assert grain.metric("response_p99").title == "Response time, 99th percentile"
    raw = inputs(smf110_1_performance=[task(1, 0, 0.5), task(2, 0, 2.5), task(3, 5, 0.1)])
    (found,) = rows_of(evaluate(raw, grain))
    # Of three tasks, two end within a second; the last lasts 2.5 s.
    assert found["within_a_second"] == pytest.approx(2 / 3)
    assert found["response_p95"] == pytest.approx(2.5, rel=1e-12)
    assert found["response_p50"] == 1.0


@pytest.mark.parametrize(
    ("old", "new", "line", "what"),
    [
        ('["1 s", "4 s"]', '["1 s"]', 4, "distribution.response.bounds: there are fewer than two bounds"),
        ('["1 s", "4 s"]', '["4 s", "1 s"]', 4, "distribution.response.bounds: 1 s does not exceed what is before it"),
        ('["1 s", "4 s"]', '["0 s", "1 s"]', 4, "distribution.response.bounds: 0 s does not exceed"),
        ('["1 s", "4 s"]', '["1 s", "long"]', 4, "'long' is not a number"),
        ('["1 s", "4 s"]', '["1 s", "4 ms s"]', 4, "distribution.response.bounds: '4 ms s'"),
        ('["1 s", "4 s"]', '["1 s", "4 MiB"]', 3, "one side is in s, the other in bytes"),
        ('["1 s", "4 s"]', '["1 s", 4]', 4, "the list contains 4, not a text"),
        ('["1 s", "4 s"]', '"online_time"', 4, "no list of bounds 'online_time'; did you mean online_times?"),
        ('[distribution.response]', '[distribution.response]\ncounted = "tasks"', 3, "tasks is not a fact or term"),
        ('bounds =', 'bound =', 4, "distribution.response.bound: there is no such key"),
        ('[distribution.response]', '[distribution.reply]', 3, "distribution.reply: the key"),
    ],
)  # fmt: skip
def test_what_is_refused(tmp_path: Path, old: str, new: str, line: int, what: str) -> None:
    with pytest.raises(CatalogueError) as caught:
        Catalogue([written(tmp_path, SITE.replace(old, new, 1))])["cics_transaction"]
    assert f"transaction.toml: line {line}: " in str(caught.value)
    assert what in str(caught.value)


def test_a_distribution_that_no_source_counts_is_refused(tmp_path: Path) -> None:
    cpu = """\
grain = "cics_transaction"

[distribution.cpu]
title = "CPU time"
unit = "milliseconds"
field = "SMF 110-1 USRCPUT"
source = "our own"
value = "usrcput_seconds"
bounds = ["1 ms", "2 ms"]
"""
    with pytest.raises(CatalogueError, match=r"distribution\.cpu: no source selects its counts.*cpu_within"):
        Catalogue([written(tmp_path, cpu)])


def test_a_site_names_a_list_of_bounds(tmp_path: Path) -> None:
    (tmp_path / "bounds.toml").write_text('online_times = ["2 s", "8 s"]\n', encoding="utf-8")
    grain = Catalogue([tmp_path])["cics_transaction"]
    assert [f.name for f in grain.facts if "_within_" in f.name] == ["response_within_2s", "response_within_8s"]
    (tmp_path / "bounds.toml").write_text(
        'own_times = ["2 s", "8 s"]\nonline_times = ["8 s", "2 s"]\n', encoding="utf-8"
    )
    with pytest.raises(CatalogueError, match=r"bounds\.toml: line 2: online_times: 2 s does not exceed"):
        Catalogue([tmp_path])
