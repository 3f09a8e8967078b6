"""Times of reports that name no offset: local until a record of the same system and interval tells the offset."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.evaluate import facts
from plexlens.metrics.local_time import TABLE, listed
from plexlens.pdb.engine import tables_of
from tests.metrics.raw import inputs, row, rows_of
from tests.oracle.slow_local_time import Row, counted, offset_of

FACILITY = GRAINS["coupling_facility"]

#: Zones of whole, half and three quarters of an hour.
ZONES = [timedelta(hours=hours) for hours in (0, -4, 1, 5.5, -3.5, 12.75)]
NOON = datetime(2022, 10, 30, 0, 0)


def raw_row(number: int, one: Row, **fields: Any) -> dict[str, Any]:
    """A raw row with the identity of a row of the oracle."""
    return row(
        number,
        system=one.system,
        sysplex=one.sysplex,
        interval_start=one.start.replace(tzinfo=UTC),
        interval_end=one.end.replace(tzinfo=UTC),
        utc_offset=None if one.offset is None else one.offset.total_seconds(),
        source_id=one.kind,
        **fields,
    )


def raw(dumps: list[Row], xml: list[Row], text: list[Row]) -> dict[str, list[dict[str, Any]]]:
    """Raw tables of coupling facilities from the three sources of that grain."""
    printed = {"cf_name": "CF1", "interval_seconds": 900.0, "processors_defined": 1.0}
    tables = {
        "smf74_4_local_cf": [raw_row(n, one, r744fnam="CF1", r744ftor=1.0) for n, one in enumerate(dumps)],
        "smf74_4_processor": [raw_row(n, one, r744pbsy=1.0, r744pwai=9.0) for n, one in enumerate(dumps)],
        "rmf_xml_coupling_facility": [raw_row(n, one, report="CF", **printed) for n, one in enumerate(xml)],
        "text_rmf_coupling_facility": [raw_row(n, one, report="rmf_cf", **printed) for n, one in enumerate(text)],
    }
    return {name: rows for name, rows in tables.items() if rows}


def seen(one: Row) -> tuple[Any, ...]:
    return (one.kind, one.system, one.sysplex, one.start, one.offset, one.offset is None)


def found(tables: dict[str, list[dict[str, Any]]]) -> list[tuple[Any, ...]]:
    """The rows of the grain in the same form."""
    kinds = {"SMF 74-4": "dump", "RMF XML CF": "xml", "RMF text CF": "text"}
    return [
        (
            kinds[one["source_kind"]],
            one["system"],
            one["sysplex"],
            one["interval_start"].astimezone(UTC).replace(tzinfo=None),
            None if one["utc_offset"] is None else timedelta(seconds=one["utc_offset"]),
            one["local_time"],
        )
        for one in rows_of(facts(inputs(**tables), FACILITY))
    ]


def a_case(rng: random.Random) -> tuple[list[Row], list[Row], list[Row]]:
    """Systems in several zones, the clocks of some changed within the data, told by sources with and without offset."""
    dumps: list[Row] = []
    reports: dict[str, list[Row]] = {"xml": [], "text": []}
    for sysplex in rng.sample(["PLEX1", "PLEX2"], rng.randint(1, 2)):
        home = rng.choice(ZONES)
        # Names of systems are unique here: the rules of preference know a system by its name alone.
        for system in rng.sample([f"{name}{sysplex[-1]}" for name in ("SYSA", "SYSB", "SYSC")], rng.randint(1, 3)):
            zone = home if rng.random() < 0.5 else rng.choice(ZONES)
            change = NOON + timedelta(minutes=15 * rng.randint(0, 20)) if rng.random() < 0.5 else None
            step = timedelta(minutes=rng.choice([15, 30]))
            start = NOON + timedelta(minutes=rng.choice([0, 0, 7]))
            for number in range(rng.randint(2, 9)):
                begin = start + number * step
                offset = zone - timedelta(hours=1) if change and begin >= change else zone
                local, until = begin + offset, begin + step + offset
                drawn = rng.random()
                if drawn < 0.6:
                    dumps.append(Row("dump", system, sysplex, begin, begin + step, offset))
                for kind, rows in reports.items():
                    off = timedelta(seconds=rng.choice([0, 0, 12, -12, 29, 45]))
                    if rng.random() < 0.3:
                        rows.append(Row(kind, system, sysplex, local + off, until + off, None))
                    if rng.random() < 0.1:
                        rows.append(Row(kind, None, sysplex, local, until, None))
                    if rng.random() < 0.1:
                        rows.append(Row(kind, system, sysplex, local, local + 2 * step, None))
                    if kind == "xml" and rng.random() < 0.1:
                        # An hour of a report that begins or ends within an interval of a dump.
                        middle = begin + step / 2
                        rows.append(Row(kind, system, sysplex, middle, middle + rng.choice([step, 4 * step]), offset))
                    if kind == "xml" and rng.random() < 0.1:
                        # Monitor III names both times.
                        rows.append(Row(kind, system, sysplex, begin, begin + step, offset))
    return dumps, reports["xml"], reports["text"]


@pytest.mark.parametrize("seed", range(40))
def test_reports_are_placed_and_chosen_as_a_slow_pairing_does(seed: int) -> None:
    dumps, xml, text = a_case(random.Random(seed))
    expected = [seen(one) for one in counted([dumps, xml, text])]
    assert sorted(found(raw(dumps, xml, text)), key=str) == sorted(expected, key=str)


def test_the_cases_hold_what_they_are_made_for() -> None:
    """Many reports are placed, and many are not."""
    placed = local = 0
    for seed in range(40):
        dumps, xml, text = a_case(random.Random(seed))
        offsets = [offset_of(one, [*dumps, *xml, *text]) for one in (*xml, *text) if one.offset is None]
        placed += sum(offset is not None for offset in offsets)
        local += sum(offset is None for offset in offsets)
    assert placed > 100
    assert local > 100


def interval(kind: str, system: str | None, hour: float, offset: float | None, sysplex: str = "PLEX") -> Row:
    """Half an hour from an hour of the day: UTC where the offset is known, local where it is None."""
    start = datetime(2022, 7, 26) + timedelta(hours=hour)
    zone = None if offset is None else timedelta(hours=offset)
    return Row(kind, system, sysplex, start, start + timedelta(minutes=30), zone)


def test_a_report_alone_stays_local() -> None:
    tables = raw([], [interval("xml", "SYSA", 12.5, None)], [])
    assert found(tables) == [("xml", "SYSA", "PLEX", datetime(2022, 7, 26, 12, 30), None, True)]


def test_the_offset_of_another_system_is_not_taken() -> None:
    """Midnight of 26 July beside a queue manager at UTC-04:00 was shown as 20:00 of 25 July."""
    tables = raw([interval("dump", "SYSB", 4.0, -4.0)], [interval("xml", "SYSA", 0.0, None)], [])
    assert ("xml", "SYSA", "PLEX", datetime(2022, 7, 26), None, True) in found(tables)


def test_the_same_system_with_another_interval_tells_nothing() -> None:
    tables = raw([interval("dump", "SYSA", 16.5, -4.0)], [interval("xml", "SYSA", 13.0, None)], [])
    assert ("xml", "SYSA", "PLEX", datetime(2022, 7, 26, 13), None, True) in found(tables)


def test_an_hour_that_the_clock_passes_twice_stays_local() -> None:
    """01:00 local is 00:00 UTC at +1 and 01:00 UTC at +0: the report can be of either."""
    dumps = [interval("dump", "SYSA", 0.0, 1.0), interval("dump", "SYSA", 1.0, 0.0)]
    rows = found(raw(dumps, [interval("xml", "SYSA", 1.0, None)], []))
    assert ("xml", "SYSA", "PLEX", datetime(2022, 7, 26, 1), None, True) in rows
    assert len(rows) == 3


def test_two_reports_of_one_interval_in_local_time_count_once() -> None:
    rows = found(raw([], [interval("xml", "SYSA", 1.0, None)], [interval("text", "SYSA", 1.0, None)]))
    assert [one[0] for one in rows] == ["xml"]


def test_local_time_and_utc_of_the_same_reading_are_two_intervals() -> None:
    """01:00 local of a sysplex report is not 01:00 UTC of one of its systems: nothing says that they are the same."""
    rows = found(raw([interval("dump", "SYSA", 1.0, -4.0)], [interval("xml", None, 1.0, None)], []))
    assert sorted(one[0] for one in rows) == ["dump", "xml"]


def test_a_sysplex_report_is_placed_where_its_systems_agree() -> None:
    dumps = [interval("dump", "SYSA", 5.0, -4.0), interval("dump", "SYSB", 5.0, -4.0)]
    rows = found(raw(dumps, [interval("xml", None, 1.0, None)], []))
    assert [one[0] for one in rows] == ["dump", "dump"]
    apart = [*dumps, interval("dump", "SYSC", 6.0, -5.0)]
    rows = found(raw(apart, [interval("xml", None, 1.0, None)], []))
    assert [one[0] for one in rows if one[5]] == ["xml"]


def test_what_was_inferred_is_listed_with_what_it_was_inferred_from() -> None:
    reports = [interval("xml", "SYSA", 12.5, None), interval("xml", "SYSB", 12.5, None)]
    there = inputs(**raw([interval("dump", "SYSA", 16.5, -4.0)], reports, []))
    assert there.places_reports
    listing = {one.owner: one for one in listed(there.connection)}
    assert listing["SYSA"].utc_offset == -14400.0
    assert set(listing["SYSA"].inferred_from) <= {"smf74_4_local_cf", "smf74_4_processor"}
    assert listing["SYSA"].inferred_from
    assert listing["SYSB"].utc_offset is None
    assert (listing["SYSB"].start, listing["SYSB"].reports) == (datetime(2022, 7, 26, 12, 30), 1)


def test_a_dump_without_reports_makes_no_table() -> None:
    there = inputs(**raw([interval("dump", "SYSA", 16.5, -4.0)], [], []))
    assert not there.places_reports
    assert listed(there.connection) == ()
    assert TABLE not in tables_of(there.connection)
