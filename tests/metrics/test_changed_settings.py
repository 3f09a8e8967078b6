"""Changes of settings within the data: by hand, against a slow search, and those of the example."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from plexlens.cli.every import app
from plexlens.metrics import GRAINS
from plexlens.metrics.changed_settings import changed_settings
from plexlens.metrics.definition import Attribute, Fact, Grain, Key, Rollup, Source
from plexlens.metrics.evaluate import kept_facts
from plexlens.metrics.unit import COUNT, SECONDS
from tests.example_file import write_example
from tests.metrics.raw import START, inputs, row


def _select(kind: str, *, local: bool = False) -> str:
    seconds = "date_diff('second', interval_start, interval_end)::double"
    return (
        'select system, sysplex, interval_start, interval_end, utc_offset, pool, machine, size, "limit", whole, level, '
        f"level, {seconds} as interval_seconds, {seconds} is null or {local} as local_time from {kind}"
    )


def _facts(kind: str, *, local: bool = False) -> Source:
    return Source(kind, (kind,), sql=_select(kind, local=local))


GRAIN = Grain(
    name="made_up",
    title="Made up",
    row="one pool",
    keys=(Key("pool", "Pool"),),
    attributes=(Attribute("machine", "Machine"),),
    facts=(
        Fact("interval_seconds", "Interval", SECONDS, Rollup.SPAN, "I"),
        Fact("size", "Size", COUNT, Rollup.AMOUNT, "S"),
        Fact("limit", "Limit", COUNT, Rollup.SETTING, "L"),
        Fact("whole", "Whole", COUNT, Rollup.AMOUNT, "W", of=("machine",)),
        Fact("level", "Level", COUNT, Rollup.LEVEL, "V"),
    ),
    metrics=(),
    sources=(_facts("raw"), _facts("printed"), _facts("local", local=True)),
)


def _at(start: float, system: str = "A", pool: str = "P", *, seconds: float = 900, **fields: Any) -> dict[str, Any]:
    begin = START + timedelta(seconds=start)
    identity = {"system": system, "interval_start": begin, "interval_end": begin + timedelta(seconds=seconds)}
    unknown = dict.fromkeys(("machine", "size", "limit", "whole", "level"))
    return row(1, pool=pool) | unknown | identity | fields


def _changes(grain: Grain = GRAIN, most: int = 0, **tables: list[dict[str, Any]]) -> tuple[list[Any], int]:
    raw = inputs(**tables)
    changes, total = changed_settings(raw, grain, kept=kept_facts(raw, grain), most=most)
    listed = [
        (c.fact.name, c.whose.get("system"), c.whose.get("pool"), c.before, c.after, _second(c.until), _second(c.since))
        for c in changes
    ]
    return listed, total


def _second(moment: datetime | None) -> float | None:
    """Seconds since the first interval's start."""
    if moment is None:
        return None
    return (moment - (START if moment.tzinfo else START.replace(tzinfo=None))).total_seconds()


def test_each_change_has_its_values_and_times_the_latest_first() -> None:
    # Doubled between 1800 and 3600 (an interval is missing), then halved: two changes, not one from first to last.
    sizes = {0: 100.0, 900: 100.0, 3600: 200.0, 4500: 200.0, 5400: 100.0}
    raw = [_at(start, size=size, limit=5.0, level=float(start)) for start, size in sizes.items()]
    assert _changes(raw=raw) == (
        [("size", "A", "P", 200.0, 100.0, 5400.0, 5400.0), ("size", "A", "P", 100.0, 200.0, 1800.0, 3600.0)],
        2,
    )


def test_at_most_as_many_are_given_as_are_asked_for_and_all_are_counted() -> None:
    raw = [_at(900 * number, limit=float(number)) for number in range(5)]
    assert _changes(raw=raw, most=1) == ([("limit", "A", "P", 3.0, 4.0, 3600.0, 3600.0)], 4)


def test_nulls_are_no_change() -> None:
    raw = [_at(0, size=1.0), _at(900, size=None), _at(1800, size=1.0), _at(2700, size=None), _at(3600, size=2.0)]
    # The last interval known to have 1 ends at 2700.
    assert _changes(raw=raw) == ([("size", "A", "P", 1.0, 2.0, 2700.0, 3600.0)], 1)


def test_each_entity_is_followed_on_its_own() -> None:
    # Pools of one name on two systems, and two pools of one system, differ and do not change.
    raw = [
        _at(start, system, pool, size=size)
        for start in (0, 900)
        for system, pool, size in (("A", "P", 1.0), ("A", "Q", 2.0), ("B", "P", 3.0))
    ]
    assert _changes(raw=raw) == ([], 0)


def test_what_is_computed_anew_is_no_change_and_a_real_one_of_a_thousandth_is() -> None:
    raw = [_at(0, size=0.1 + 0.2, limit=1000.0), _at(900, size=0.3, limit=1001.0)]
    assert _changes(raw=raw) == ([("limit", "A", "P", 1000.0, 1001.0, 900.0, 900.0)], 1)


def test_to_zero_and_from_zero_are_changes() -> None:
    raw = [_at(0, size=0.0), _at(900, size=4.0), _at(1800, size=0.0)]
    assert _changes(raw=raw)[1] == 2


def test_a_number_that_several_report_is_one_change() -> None:
    # Both systems, and both pools of each, say how large the machine is. B reads it after the change, A before it.
    whole = {("A", 0): 10.0, ("B", 0): 10.0, ("A", 900): 10.0, ("B", 900): 20.0, ("A", 1800): 20.0, ("B", 1800): 20.0}
    raw = [
        _at(start, system, pool, machine="M", whole=value) for (system, start), value in whole.items() for pool in "PQ"
    ]
    assert _changes(raw=raw) == ([("whole", None, None, 10.0, 20.0, 900.0, 1800.0)], 1)


def test_a_number_that_all_rows_of_an_observer_share_is_one_change() -> None:
    shared = replace(GRAIN, facts=tuple(replace(f, of=()) if f.name == "whole" else f for f in GRAIN.facts))
    raw = [_at(900 * n, "A", pool, whole=float(n)) for n in range(2) for pool in "PQ"]
    assert _changes(shared, raw=raw) == ([("whole", "A", None, 0.0, 1.0, 900.0, 900.0)], 1)


def test_rows_of_one_interval_that_disagree_are_no_change() -> None:
    raw = [_at(start, size=size) for start in (0, 900) for size in (1.0, 2.0)]
    assert _changes(raw=raw) == ([], 0)


def test_a_report_that_rounds_is_no_change_and_one_that_differs_is() -> None:
    # A record has 1,234,567; the report of the next interval prints 1.23M. The one after it prints 2.00M.
    printed = [_at(900, size=1_230_000.0), _at(1800, size=2_000_000.0)]
    assert _changes(raw=[_at(0, size=1_234_567.0)], printed=printed) == (
        [("size", "A", "P", 1_230_000.0, 2_000_000.0, 1800.0, 1800.0)],
        1,
    )


def test_local_times_are_followed_apart_and_stay_local() -> None:
    local = [_at(0, size=5.0), _at(900, size=6.0)]
    raw = inputs(raw=[_at(450, size=7.0)], local=local)
    (change,), total = changed_settings(raw, GRAIN, kept=kept_facts(raw, GRAIN))
    assert total == 1 and change.is_local and change.since is not None
    assert change.since == datetime(2026, 3, 2, 8, 15)
    assert (change.before, change.after) == (5.0, 6.0)


def test_a_setting_that_is_computed_from_another_is_not_listed_again() -> None:
    select = f"select *, size * 4096 as bytes from ({_select('raw')})"
    computed = Fact("bytes", "Bytes", COUNT, Rollup.AMOUNT, "S x 4096", computed_from="made_up.size")
    grain = replace(GRAIN, facts=(*GRAIN.facts, computed), sources=(Source("raw", ("raw",), sql=select),))
    listed, total = _changes(grain, raw=[_at(0, size=1.0), _at(900, size=2.0)])
    assert total == 1
    assert [change[0] for change in listed] == ["size"]


def test_every_setting_that_another_is_computed_from_is_a_setting() -> None:
    computed = [fact.computed_from for grain in GRAINS.values() for fact in grain.facts if fact.computed_from]
    assert "db2_pool.buffers" in computed
    for name in computed:
        grain, fact = name.split(".")
        column = GRAINS[grain].column(fact)
        assert isinstance(column, Fact) and column.rollup.is_setting and not column.computed_from, name


def test_pieces_of_work_have_no_settings_that_change() -> None:
    jobs = replace(GRAIN, facts=GRAIN.facts[1:])
    assert _changes(jobs, raw=[_at(0, size=1.0), _at(900, size=2.0)]) == ([], 0)


def _slowly(rows: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The same by looking at each row in turn."""
    changes = []
    for name in ("size", "limit"):
        last: dict[tuple[str, str], dict[str, Any]] = {}
        for each in sorted(rows, key=lambda r: r["interval_start"]):
            if each[name] is None:
                continue
            whose = each["system"], each["pool"]
            before = last.get(whose)
            if before is not None and before[name] != each[name]:
                times = _second(before["interval_end"]), _second(each["interval_start"])
                changes.append((name, *whose, before[name], each[name], *times))
            last[whose] = each
    return changes


@pytest.mark.parametrize("seed", range(10))
def test_random_settings_change_where_a_slow_search_finds_it(seed: int) -> None:
    chance = random.Random(seed)
    rows = [
        _at(
            600 * number,
            system,
            pool,
            seconds=600,
            **{name: chance.choice([None, 1.0, 2.0, 2.0, 3.0]) for name in ("size", "limit")},
        )
        for system in "AB"
        for pool in "PQR"
        for number in range(12)
        if chance.random() < 0.8
    ]
    expected = _slowly(rows)
    chance.shuffle(rows)
    changes, total = _changes(raw=rows)
    assert expected and sorted(changes) == sorted(expected)
    assert total == len(expected)


def test_the_example_tells_the_pools_that_were_enlarged(tmp_path: Path) -> None:
    # The study of 2014 gives three pools of DE34 twice the buffers in its second interval.
    dump = tmp_path / "example.smf"
    write_example(dump)
    answer = CliRunner().invoke(app, ["report", str(dump), "--json", "-o", str(tmp_path / "page.html")])
    assert answer.exit_code == 0, answer.output
    sections = {section["id"]: section for section in json.loads(answer.stdout)["sections"]}
    (table,) = [t for t in sections["read"]["tables"] if t["name"] == "read_changed_settings"]
    sizes = {
        each["object"]: (each["before"]["value"], each["after"]["value"], each["before"]["printed"])
        for each in table["rows"]
        if each["setting"] == "Pool size" and (each["object"] or "").startswith("DE34 ")
    }
    assert sizes == {f"DE34 {pool}": (20_000, 40_000, "20,000 pages") for pool in ("BP2", "BP9", "BP11")}
    # BP8K0 has no record in the second interval, so a sum over all pools would change by more than the three.
    assert {each["setting"] for each in table["rows"]} == {"Pool size"}
    assert "Settings that changed" in (tmp_path / "page.html").read_text(encoding="utf-8")
