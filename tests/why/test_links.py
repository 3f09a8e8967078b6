"""From a metric to the first changes behind it, with changes made up."""

from __future__ import annotations

from math import log
from types import SimpleNamespace
from typing import Any, cast

import pytest

from plexlens.compare.runs.significance import Interval
from plexlens.metrics.causes import Causes, Link
from plexlens.why.change import ByKey, Change
from plexlens.why.decomposition import Amount, Item
from plexlens.why.links import LEVER, MOST, Walk
from plexlens.why.settings import Setting


def _change(before: float, after: float, p: float) -> Change:
    moved = Amount(after - before, Interval(0, 0, None, None, 9.0), p)
    return Change(cast("Any", None), cast("Any", SimpleNamespace(unit=None)), before, after, moved)


def _setting(before: float, after: float) -> Setting:
    return Setting(cast("Any", None), cast("Any", SimpleNamespace(unit=None)), (("pool", "BP1"),), before, after)


_LINKS = (
    Link("response.time", "reads.per_commit", "with", "more reads"),
    Link("response.time", "cpu.busy", "with", "busy processors"),
    Link("reads.per_commit", "pool.size", "against", "a smaller pool"),
)


def _walk(changes: dict[str, Change], settings: dict[str, list[Setting]]) -> list[tuple[str, float]]:
    walk = Walk(Causes(links=_LINKS), changes.get, lambda name: None, settings)
    walked = walk.from_metric("response.time", log(2.0))
    return [(cause.name, cause.weight) for cause in walked.causes]


def test_a_setting_behind_a_metric_comes_first() -> None:
    changes = {"response.time": _change(1, 2, 1e-6), "reads.per_commit": _change(1, 2, 1e-6)}
    # Reads doubled as the response did: strength 1 / (1 + LEVER). The setting stands behind them with strength 1.
    ((name, weight),) = _walk(changes, {"pool.size": [_setting(100, 50)]})
    assert name == "pool.size"
    assert weight == pytest.approx(1 / (1 + LEVER))


def test_a_setting_that_moved_the_other_way_is_no_cause() -> None:
    changes = {"response.time": _change(1, 2, 1e-6), "reads.per_commit": _change(1, 2, 1e-6)}
    assert [name for name, _ in _walk(changes, {"pool.size": [_setting(100, 200)]})] == ["reads.per_commit"]


def test_chance_is_not_followed() -> None:
    # Three tests together at 5 %: 0.02 is above 0.05 / 3, and the first that fails ends it.
    changes = {
        "response.time": _change(1, 2, 0.5),
        "reads.per_commit": _change(1, 2, 0.02),
        "cpu.busy": _change(1, 2, 0.3),
    }
    assert _walk(changes, {}) == []


def test_what_hardly_moved_weighs_little() -> None:
    changes = {
        "response.time": _change(1, 2, 1e-6),
        "reads.per_commit": _change(1, 1.01, 1e-6),
        "cpu.busy": _change(0.2, 0.4, 1e-6),
    }
    weights = dict(_walk(changes, {}))
    assert weights["cpu.busy"] == pytest.approx(1 / (1 + LEVER))
    assert abs(weights["reads.per_commit"] - log(1.01) / (log(1.01) + LEVER * log(2))) < 1e-12


def test_a_proportional_link_carries_no_more_than_its_part() -> None:
    # Users wait a tenth less, and transactions rise by half: 0.095 / 0.405 of that at most.
    links = (Link("work.rate", "wait.time", "against", "users who wait send less", proportional=True),)
    changes = {"work.rate": _change(1, 1.5, 1e-6), "wait.time": _change(1, 1 / 1.1, 1e-6)}
    walk = Walk(Causes(links=links), changes.get, lambda name: None, {})
    (cause,) = walk.from_metric("work.rate", log(1.5)).causes
    assert cause.weight == pytest.approx(log(1.1) / log(1.5))


def test_what_came_from_zero_has_no_size() -> None:
    # 10 on the scale of logarithms is "from zero": it counts as a factor of ten.
    changes = {"response.time": _change(0, 1, 1e-6), "reads.per_commit": _change(1, 2, 1e-6)}
    walk = Walk(Causes(links=_LINKS), changes.get, lambda name: None, {})
    (cause,) = walk.from_metric("response.time", 10.0).causes
    assert cause.weight == pytest.approx(log(2) / (log(2) + LEVER * log(MOST)))


def test_an_object_counts_by_itself_where_objects_make_no_whole() -> None:
    # The mean of all processors stays at a half; those of SYS1 are twice as busy.
    moved = [
        Amount(after - before, Interval(0, 0, None, None, 9.0), 1e-6) for before, after in ((0.3, 0.6), (0.7, 0.4))
    ]
    items = [
        Item((name,), *values, 0.0, 0.0, 0.0, each, each, each)
        for name, values, each in zip(("SYS1", "SYS2"), ((0.3, 0.6), (0.7, 0.4)), moved, strict=True)
    ]
    busy = Change(
        cast("Any", None), cast("Any", SimpleNamespace(unit=None)), 0.5, 0.5, Amount(0.0, None, 1.0),
        (ByKey(("system",), tuple(items), is_sum=False, has_parts=False),), is_apart=True,
    )  # fmt: skip
    links = (Link("response.time", "cpu.busy", "with", "busy processors"),)
    changes = {"response.time": _change(1, 2, 1e-6), "cpu.busy": busy}
    walk = Walk(Causes(links=links), changes.get, lambda name: None, {})
    (cause,) = walk.from_metric("response.time", log(2.0)).causes
    assert cause.item is not None
    assert cause.item.names == ("SYS1",)
    assert cause.weight == pytest.approx(1 / (1 + LEVER))
