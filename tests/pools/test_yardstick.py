"""The made trace that speed is measured on."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from plexlens import _core


def test_the_same_seed_gives_the_same_trace_wherever_it_is_cut() -> None:
    made = _core.Yardstick(pages=1000, pages_an_object=100, changed=10)
    whole = made.batch(5000)
    again = _core.Yardstick(pages=1000, pages_an_object=100, changed=10)
    assert pa.Table.from_batches([again.batch(1234), again.batch(3766)]).equals(pa.Table.from_batches([whole]))
    assert whole.schema.names == [name for name, _ in _core.TRACE_COLUMNS]
    assert pc.max(whole["object"]).as_py() == 9 and pc.max(whole["page"]).as_py() == 99
    assert pc.sum(whole["function"]).as_py() == 500, "every tenth row is a change (code 1)"
    scans = pc.sum(whole["access"]).as_py()
    assert 0.17 < scans / 5000 < 0.23
    assert whole["time"].to_pylist() == list(range(5000))
    for row in (9, 19, 29):
        assert whole["page"][row] == whole["page"][row - 1]


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"pages": 10, "pages_an_object": 3}, "10 pages in objects of 3"),
        ({"exponent": 1.0}, "exponent of 1"),
        ({"scans": 1.5}, "scans of 1.5"),
    ],
)
def test_impossible_traces(wrong: dict[str, float], expected: str) -> None:
    with pytest.raises(_core.PoolError, match=expected):
        _core.Yardstick(**wrong)  # type: ignore[arg-type]
