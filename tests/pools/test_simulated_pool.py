"""The trial with SPSIZE before pools grow: which pools it names, and that it is no part of the change."""

from __future__ import annotations

from dataclasses import replace

from plexlens.pools.alter import MovedObject, Script, apply, script
from plexlens.pools.jcl import jobs
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.simulated_pool import can_simulate, with_trial

OBJECTS = {"PAY.TS": MovedObject("PAY.TS", "tablespace")}
HOME = {"PAY.TS": "BP5"}


def pools(**sizes: int) -> Configuration:
    return Configuration({name: PoolSettings.of(name, size) for name, size in sizes.items()})


def text(before: Configuration, after: Configuration) -> Script:
    return with_trial(script(before, after, OBJECTS, HOME), before, after, HOME)


def trials(made: Script) -> list[str]:
    return [line for line in made.change if "SPSIZE(" in line and line.startswith("--   ")]


def test_what_is_added_is_simulated() -> None:
    """IBM's example: VPSIZE 5,000, SPSIZE 1,000 to see a fifth more."""
    before, after = pools(BP1=5000, BP2=9000), pools(BP1=6000, BP2=8000)
    made = text(before, after)
    assert trials(made) == ["--   -ALTER BUFFERPOOL(BP1) SPSIZE(1000) SPSEQT(80)"]
    assert made.change[0].startswith("-- Before it, Db2 12")
    assert not any("SPSIZE" in line for line in made.reverse)
    # The simulation is a remark: what is run is the change alone.
    assert apply(made.change, before, OBJECTS).pools == after.pools
    assert apply(made.reverse, after, OBJECTS).pools == before.pools


def test_pools_that_db2_cannot_simulate_are_left_out() -> None:
    lru = PoolSettings.of("BP1", 5000)
    assert can_simulate(lru, replace(lru, size=5001))
    assert not can_simulate(lru, replace(lru, size=4999))
    assert not can_simulate(lru, replace(lru, vpseqt=40))
    assert not can_simulate(None, lru)
    # DSNB614I: a simulated pool needs PGSTEAL LRU.
    for steal in ("FIFO", "NONE"):
        assert not can_simulate(lru, replace(lru, size=6000, steal=steal))
        assert not can_simulate(replace(lru, steal=steal), replace(lru, size=6000))


def test_pools_with_other_objects_or_assumed_sizes_are_left_out() -> None:
    before = replace(pools(BP1=5000, BP2=5000, BP3=5000, BP5=5000), assumed=frozenset({"BP3"}))
    after = replace(pools(BP1=6000, BP2=6000, BP3=6000, BP5=6000), placement={"PAY.TS": "BP2"})
    assert trials(text(before, after)) == ["--   -ALTER BUFFERPOOL(BP1) SPSIZE(1000) SPSEQT(80)"]
    assert text(before, replace(before, placement={"PAY.TS": "BP2"})) == script(
        before, replace(before, placement={"PAY.TS": "BP2"}), OBJECTS, HOME
    )


def test_members_are_named() -> None:
    before = Configuration.of_members({name: {"BP1": PoolSettings.of("BP1", 5000)} for name in ("DB1A", "DB1B")})
    after = replace(before, pools={**before.pools, "DB1B.BP1": PoolSettings.of("BP1", 7000, vpseqt=30)})
    assert trials(text(before, after)) == ["--   On member DB1B: -ALTER BUFFERPOOL(BP1) SPSIZE(2000) SPSEQT(30)"]


def test_a_job_has_it_as_a_remark() -> None:
    change, _ = jobs(text(pools(BP1=5000), pools(BP1=6000)), "DB2A")
    lines = [line for line in change.splitlines() if "SPSIZE" in line]
    assert lines
    assert all(line.startswith("//* ") for line in lines)
    assert all(len(line) <= 71 for line in change.splitlines())
