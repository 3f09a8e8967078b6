"""Pools that are not simulated twice: the same states as without any memory of earlier simulations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.pools import outcome
from plexlens.pools.cost import default_cost
from plexlens.pools.known_pools import KnownPools, contents_of
from plexlens.pools.outcome import states_of
from plexlens.pools.settings import Configuration, PoolSettings
from plexlens.pools.trace import Trace, open_trace
from plexlens.pools.work import Work, look_at

GETPAGE, WRITE, READ = (_core.TRACE_FUNCTIONS.index(name) for name in ("getpage", "set_write", "read"))


def made(path: Path, seed: int, *, apart: bool) -> tuple[Trace, Work]:
    """Eight objects in pools 1 and 2; ``apart``: object 5 has reads, and no getpages, in pool 2."""
    random = np.random.default_rng(seed)
    rows = 6_000
    objects = random.integers(1, 9, rows)
    function = random.choice([GETPAGE, WRITE], rows, p=[0.8, 0.2])
    pools = 1 + objects % 2
    # Object 7 is in both.
    pools[objects == 7] = random.integers(1, 3, int((objects == 7).sum()))
    if apart:
        odd = (objects == 5) & (random.random(rows) < 0.1)
        function[odd], pools[odd] = READ, 1
        pools[(objects == 5) & ~odd] = 2
    columns = {
        "time": np.arange(rows) * 400_000,
        "pool": pools.astype(np.uint16),
        "object": objects.astype(np.uint32),
        "page": random.zipf(1.3, rows).clip(max=900).astype(np.uint64),
        "function": function.astype(np.uint8),
        "access": np.zeros(rows, np.uint8),
    }
    with pa.OSFile(str(path), "wb") as sink:
        batch = pa.record_batch(columns)
        with pa.ipc.new_file(sink, batch.schema) as file:
            file.write_batch(batch)
    trace = open_trace([path])
    return trace, look_at(trace)


def some(work: Work, seed: int) -> Iterator[Configuration]:
    """Configurations of three pools that differ in few of them."""
    random = np.random.default_rng(seed)
    names = [work.object_name(number) for number in sorted(work.objects)]
    for _ in range(14):
        sizes = random.choice([40, 200], 3)
        pools = {f"BP{at}": PoolSettings.of(f"BP{at}", int(size)) for at, size in enumerate(sizes, 1)}
        if random.random() < 0.2:
            pools["BP2"] = replace(pools["BP2"], pgfix=True)
        moved = random.choice(names, random.integers(0, 3), replace=False).tolist()
        yield Configuration(pools, {name: f"BP{random.integers(1, 4)}" for name in moved})


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_states_are_those_of_configurations_simulated_alone(tmp_path: Path, seed: int, apart: bool) -> None:
    trace, work = made(tmp_path / "trace.arrow", seed, apart=apart)
    configurations = list(some(work, seed))
    known, cost = KnownPools(), default_cost()
    together = states_of(trace, configurations[:9], work=work, cost=cost, known=known)
    together += states_of(trace, configurations[9:], work=work, cost=cost, known=known)
    without = replace(work, sample=None)
    for found, configuration in zip(together, configurations, strict=True):
        (alone,) = states_of(trace, [configuration], work=without, cost=cost)
        assert found.configuration == configuration
        assert found.pools == alone.pools
        assert dict(found.data_sets.items()) == dict(alone.data_sets.items())
        assert found.left_out == alone.left_out


def test_a_pool_left_alone_is_simulated_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace, work = made(tmp_path / "trace.arrow", 1, apart=False)
    first = Configuration({name: PoolSettings.of(name, 100) for name in ("BP1", "BP2")})
    second = replace(first, pools={**first.pools, "BP2": PoolSettings.of("BP2", 50)})
    # Object 1 goes from BP2 to BP1, which changes both.
    third = replace(first, placement={work.object_name(1): "BP1"})
    simulated = []
    engine = outcome.new_together

    def counted(configurations: list[Configuration], placements: list[dict[tuple[int, int], int]]) -> object:
        simulated.append([sorted(configuration.pools) for configuration in configurations])
        return engine(configurations, placements)

    monkeypatch.setattr(outcome, "new_together", counted)
    known = KnownPools()
    states_of(trace, [first, second], work=work, cost=default_cost(), known=known)
    states_of(trace, [third, second], work=work, cost=default_cost(), known=known)
    assert simulated == [[["BP1", "BP2"], ["BP2"]], [["BP1", "BP2"], []]]


def test_nothing_is_taken_as_known_where_references_are_elsewhere(tmp_path: Path) -> None:
    trace, work = made(tmp_path / "trace.arrow", 2, apart=True)
    configuration = Configuration({name: PoolSettings.of(name, 100) for name in ("BP1", "BP2")})
    assert work.sample is not None
    assert work.sample.elsewhere == {(5, 0)}
    assert contents_of(configuration, {}, work).keys() == {"BP1", "BP2"}
    assert contents_of(configuration, {(1, 0): 1}, work).keys() == {"BP1", "BP2"}
    assert not contents_of(configuration, {(5, 0): 1}, work)
    assert trace.facts.complete
