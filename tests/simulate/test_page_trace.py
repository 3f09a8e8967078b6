"""Page-reference traces of a run: what `plexlens pools` makes of IFCID 198 is what the simulated pools counted.

A pool that is empty when the trace begins misses what the trace says it misses; one that was filled before misses at
most as many pages less as it has buffers, since a page that it still holds from before saves one miss.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.errors import UsageError
from plexlens.pools.curves import curves_of
from plexlens.pools.settings import PoolSettings
from plexlens.pools.simulation import simulate
from plexlens.pools.trace import open_trace
from plexlens.simulate import Simulated, parse_scenario, read_scenario, simulate_to_smf
from tests.pools.made_trace import configured
from tests.simulate.conftest import TWO_MEMBERS

SIZE = 700

_ONE_MEMBER = """
run = {{seed = 4, warm_up = {warm_up}, seconds = 30.0, interval = 10.0, preload = {preload}}}
cec = [{{name = "C1", engines = 4}}]
system = [{{name = "SYS1", cec = "C1"}}]
region = [{{name = "AOR1", system = "SYS1", db2 = "DSNG"}}]

[[db2]]
group = "DSNG"
member = [{{name = "DB1", system = "SYS1"}}]
pool = [{{number = 2, size = {size}, vpseqt = {vpseqt}}}, {{number = 3, size = 60}}]
page_set = [
    {{name = "PAY.TS", pool = 2, pages = 1000000, skew = 0.9}},
    {{name = "PAY.IX", pool = 2, pages = 900, index = true}},
    {{name = "CODES", pool = 3, pages = 100}},
]

[[class]]
name = "WORK"
rate = 60.0
regions = ["AOR1"]
cpu = 0.001
references = [
    {{page_set = "PAY.IX", getpages = 3.0}},
    {{page_set = "PAY.TS", getpages = 6.5, update = 0.3}},
    {{page_set = "CODES", getpages = 1.5}},
]

[[class]]
name = "SCAN"
rate = {scans}
regions = ["AOR1"]
cpu = 0.001
references = [{{page_set = "PAY.TS", getpages = 300.0, access = "sequential"}}]
"""


def one_member(
    folder: Path, *, warm_up: float = 0.0, preload: bool = False, vpseqt: int = 80, scans: float = 0.0
) -> tuple[Simulated, Path]:
    """A run of one member with its page trace."""
    text = _ONE_MEMBER.format(
        warm_up=warm_up, preload=str(preload).lower(), size=SIZE, vpseqt=vpseqt, scans=scans or 0.01
    )
    if not scans:
        text = text[: text.rindex("[[class]]")]
    dump = folder / "trace.smf"
    run, _ = simulate_to_smf(parse_scenario(text), dump, page_trace=True)
    return run, dump


def counted(run: Simulated) -> dict[int, Counter[str]]:
    """Counters of the member's pools over the run."""
    pools: dict[int, Counter[str]] = {}
    for interval in run.results["intervals"]:
        for pool in interval["members"][0]["pools"]:
            pools.setdefault(pool["number"], Counter()).update(pool["local"])
    return pools


def misses(counters: Counter[str]) -> int:
    return counters["sync_reads_random"] + counters["sync_reads_sequential"]


def test_the_curve_at_the_size_of_the_pool_is_what_it_missed(tmp_path: Path) -> None:
    """Random access, empty pools: LRU stack distances and the simulated pool count the same misses, exactly."""
    run, dump = one_member(tmp_path)
    pools = counted(run)
    for pool, size in ((2, SIZE), (3, 60)):
        (curve,) = (one for one in curves_of([dump], sizes=[size]) if one.pool == f"BP{pool}")
        # Dynamic prefetch finds no scans here, so that LRU without prefetch is what there was.
        assert pools[pool]["dynamic_requests"] == pools[pool]["sequential_requests"] == 0
        assert curve.getpages == pools[pool]["getpages"] > 2_000
        assert curve.points == ((size, misses(pools[pool]), 0.0),)
        assert misses(pools[pool]) > 500


def test_a_pool_that_was_filled_misses_less_by_its_buffers_at_most(tmp_path: Path) -> None:
    run, dump = one_member(tmp_path, warm_up=5.0, preload=True)
    for curve in curves_of([dump], sizes=[SIZE]):
        found, real = curve.points[0][1], misses(counted(run)[int(curve.pool[2:])])
        size = {"BP2": SIZE, "BP3": 60}[curve.pool]
        if curve.pool == "BP2":
            assert real < found <= real + size
        else:
            # All its pages fit into the size of the other: only first references miss.
            assert found == curve.distinct_pages <= real + 100


@pytest.mark.parametrize("vpseqt", [80, 20, 0])
def test_prefetch_and_thresholds(tmp_path: Path, vpseqt: int) -> None:
    """Scans, sequential prefetch, updates: a replay of the trace counts what the member did, counter by counter."""
    run, dump = one_member(tmp_path, vpseqt=vpseqt, scans=1.0)
    settings = [PoolSettings("BP2", SIZE, vpseqt=vpseqt), PoolSettings("BP3", 60)]
    found = simulate(open_trace([dump]), configured(settings)).pools
    for pool, counters in counted(run).items():
        replayed = found[f"BP{pool}"]
        # How long pages stay depends on times, which a record has once for all its references.
        compared = {name: value for name, value in counters.items() if not name.startswith("residency")}
        # Both began empty: no page was there before the trace.
        assert replayed["warm"] == 0
        assert {name: replayed[name] for name in compared} == compared
    scanned = counted(run)[2]
    assert (scanned["sequential_requests"] > 100) == (vpseqt > 0)
    assert scanned["getpages_sequential"] >= 4_000
    assert scanned["updates"] > 2_000


def test_statuses_names_and_sequence(tmp_path: Path) -> None:
    run, dump = one_member(tmp_path, scans=1.0)
    trace = open_trace([dump])
    functions: Counter[int] = Counter()
    for batch in trace.batches():
        functions.update(batch["function"].to_pylist())
    pools = counted(run).values()
    getpages, updates = (sum(one[name] for one in pools) for name in ("getpages", "updates"))
    # Getpage, set write, release.
    assert functions == {0: getpages, 1: updates, 2: getpages}
    assert trace.facts.lost == 0
    missed = sum(misses(one) for one in pools)
    assert trace.facts.statuses == {"miss": missed, "hit": getpages - missed}
    assert trace.facts.members == ("DB1",)
    assert not trace.facts.left_out
    assert not trace.facts.notes
    assert {trace.names.data_set(257 << 16 | at, 0) for at in (2, 3, 4)} == {"PAY.TS", "PAY.IX", "SIMULATE.CODES"}


def test_the_command(tmp_path: Path) -> None:
    """`plexlens pools DUMP --sizes N`: the command, on the dump alone."""
    run, dump = one_member(tmp_path)
    done = CliRunner().invoke(app, ["pools", str(dump), "--sizes", str(SIZE), "--json"])
    assert done.exit_code == 0, done.output
    pools: dict[str, Any] = json.loads(done.stdout)["pools"]
    (point,) = pools["BP2"]["curve"]
    assert point == {"pages": SIZE, "read_misses": misses(counted(run)[2])}
    assert pools["BP2"]["getpages"] == counted(run)[2]["getpages"]


def test_a_group(tmp_path: Path) -> None:
    """Two members: each one's references, none lost, in the order of time."""
    run, _ = simulate_to_smf(read_scenario(TWO_MEMBERS), tmp_path / "two.smf", page_trace=True)
    real: Counter[str] = Counter()
    for interval in run.results["intervals"]:
        for member in interval["members"]:
            real[member["name"]] += member["pools"][0]["local"]["getpages"]
    found = {}
    for name in ("DB1", "DB2"):
        trace = open_trace([tmp_path / "two.smf"], subsystem=name)
        found[name] = sum(batch["function"].to_pylist().count(0) for batch in trace.batches())
        assert trace.facts.lost == 0
    assert found == dict(real)


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    text = _ONE_MEMBER.format(warm_up=0.0, preload="false", size=SIZE, vpseqt=80, scans=1.0)
    large = parse_scenario(text.replace("pages = 1000000", "pages = 5000000000"), file="s.toml")
    with pytest.raises(UsageError, match=r"db2\[0\].page_set\[0\]: page numbers .* 32 and 16 bits"):
        simulate_to_smf(large, tmp_path / "t.smf", page_trace=True)
    assert not (tmp_path / "t.smf").exists()
