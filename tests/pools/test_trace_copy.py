"""The copy of a trace: the same references, read from the source once."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from benchmarks.pool_workloads import fifty_objects
from plexlens.pools.trace import Trace, open_trace
from plexlens.pools.trace_copy import TraceCopy
from plexlens.progress import Progress


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("copied") / "trace.parquet"
    fifty_objects(90_000, seed=4).write(path)
    return path


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[Trace]:
    """The traces read, once for each pass."""
    read: list[Trace] = []
    batches = Trace.batches

    def counted(self: Trace, progress: Progress | None = None) -> Iterator[pa.RecordBatch]:
        read.append(self)
        return batches(self, progress)

    monkeypatch.setattr(Trace, "batches", counted)
    return read


def rows(trace: Trace | TraceCopy) -> pa.Table:
    return pa.Table.from_batches(trace.batches())


def test_later_passes_read_the_copy(path: Path, passes: list[Trace], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    slow = rows(open_trace([path]))
    copy = TraceCopy(open_trace([path]))
    told: list[tuple[int, int, str]] = []
    for number in range(3):
        assert rows(copy).equals(slow), number
        assert not list(tmp_path.iterdir())
    assert len(list(copy.batches(lambda *where: told.append(where)))) == len(told)
    assert told[-1][0] <= told[-1][1]
    assert len(passes) == 2
    assert copy.facts.complete
    assert copy.facts.rows == slow.num_rows
    assert copy.names.data_set(1, 0)


def test_two_passes_at_once_do_not_disturb_each_other(path: Path) -> None:
    copy = TraceCopy(open_trace([path]))
    slow = rows(copy)
    both = list(zip(copy.batches(), copy.batches(), strict=True))
    assert pa.Table.from_batches([one for one, _ in both]).equals(slow)
    assert pa.Table.from_batches([other for _, other in both]).equals(slow)


def test_a_pass_that_is_broken_off_leaves_no_copy(
    path: Path, passes: list[Trace], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    copy = TraceCopy(open_trace([path]))
    begun = copy.batches()
    next(begun)
    begun.close()
    assert not list(tmp_path.iterdir())
    whole = rows(copy)
    assert rows(copy).equals(whole)
    assert len(passes) == 2


@pytest.mark.parametrize("kind", ["too long", "no folder", "no room"])
def test_a_trace_without_a_copy_is_read_again(
    path: Path, passes: list[Trace], kind: str, tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    copy = TraceCopy(open_trace([path]), most=1000 if kind == "too long" else 1 << 30)
    if kind == "no folder":
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "none"))
    if kind == "no room":

        def full(*_: Any, **__: Any) -> None:
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(pa.ipc, "new_stream", full)
    slow = rows(open_trace([path]))
    for _ in range(2):
        assert rows(copy).equals(slow)
    assert len(passes) == 3
    assert not list(tmp_path.iterdir())
