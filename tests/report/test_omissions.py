"""What a number leaves out is named beside it."""

from __future__ import annotations

from plexlens.metrics.grain_data import GrainData
from plexlens.report.blocks.omissions import omissions
from tests.metrics.raw import inputs
from tests.metrics.test_rollup import GRAIN, _at


def test_systems_that_lack_a_part_of_a_formula_are_named() -> None:
    raw = inputs(
        raw=[
            _at("A", 0, 900, busy=100.0, captured=90.0),
            _at("A", 900, 900, busy=100.0),
            _at("B", 0, 900, busy=100.0),
        ]
    )
    held = GrainData(raw, GRAIN, ("captured_share", "busy"), ())
    assert omissions(raw, held, ("captured_share", "busy"), None, timed=True) == (
        "Capture: without 1 of 2 intervals of A and B, because a part of the formula is not recorded there."
    )


def test_nothing_is_said_where_nothing_is_left_out() -> None:
    raw = inputs(raw=[_at("A", 0, 900, busy=100.0, captured=90.0), _at("B", 0, 900, busy=100.0, captured=0.0)])
    held = GrainData(raw, GRAIN, ("captured_share",), ())
    assert omissions(raw, held, ("captured_share",), None, timed=True) == ""


def test_a_rate_whose_count_is_unknown_is_named_where_asked() -> None:
    raw = inputs(raw=[_at("A", 0, 900, calls=900.0), _at("B", 0, 900)])
    held = GrainData(raw, GRAIN, ("call_rate",), ())
    assert "without B" in omissions(raw, held, ("call_rate",), None, timed=True)
    assert omissions(raw, held, ("call_rate",), None, timed=False) == ""
