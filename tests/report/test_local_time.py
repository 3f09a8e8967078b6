"""Reports whose times are local and whose offset from UTC is not known, alone and beside dumps; bars and legends."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from plexlens.report import Report, render_html, render_text, to_json
from plexlens.report.blocks.course import Course, stepped
from plexlens.report.blocks.readings import Readings
from plexlens.report.build import build
from plexlens.report.model import Section, Table
from plexlens.report.model.chart import Chart, mean
from plexlens.report.model.clock import Clock
from plexlens.report.pages import PAGES
from plexlens.report.pages.read import _inferred_from
from tests.metrics.raw import inputs, row

MIDNIGHT = datetime(2022, 7, 26)
PAGE = [page for page in PAGES if page.id in ("read", "coupling")]


def at(start: datetime, minutes: float, offset: float | None, **fields: Any) -> dict[str, Any]:
    """Identity of an interval: UTC where the offset (hours) is known, local where it is None."""
    begin = start.replace(tzinfo=UTC)
    return {
        "interval_start": begin,
        "interval_end": begin + timedelta(minutes=minutes),
        "utc_offset": None if offset is None else offset * 3600.0,
    } | fields


def dump(system: str, starts: list[datetime], minutes: float, offset: float, busy: float) -> dict[str, list[Any]]:
    """Coupling facility records of a system, busy for a share of each interval."""
    who = {"system": system, "source_id": system}
    return {
        "smf74_4_local_cf": [
            row(n, r744fnam=f"CF{system}", r744ftor=60.0 * minutes, **at(start, minutes, offset, **who))
            for n, start in enumerate(starts)
        ],
        "smf74_4_processor": [
            row(n, r744pbsy=busy, r744pwai=1.0 - busy, **at(start, minutes, offset, **who))
            for n, start in enumerate(starts)
        ],
    }


def xml(starts: list[datetime]) -> dict[str, list[Any]]:
    """RMF XML reports of half an hour of a sysplex, in local time."""
    return {
        "rmf_xml_coupling_facility": [
            row(
                n,
                report="CF",
                cf_name="CFX",
                interval_seconds=1800.0,
                busy_percent=50.0,
                processor_seconds=1800.0,
                processors_defined=1.0,
                **at(start, 30, None, system=None, sysplex="OTHER", source_id="xml"),
            )
            for n, start in enumerate(starts)
        ]
    }


def both(*tables: dict[str, list[Any]]) -> dict[str, list[Any]]:
    joined: dict[str, list[Any]] = {}
    for one in tables:
        for name, rows in one.items():
            joined.setdefault(name, []).extend(rows)
    return joined


def report(offsets: tuple[float, ...], *tables: dict[str, list[Any]]) -> Report:
    readings = Readings(offsets=tuple(offset * 3600.0 for offset in offsets))
    return build(inputs(**both(*tables)), readings, pages=PAGE)


def blocks(found: Report, kind: type) -> list[Any]:
    sections: tuple[Section, ...] = found.sections
    return [block for section in sections for block in section.blocks if isinstance(block, kind)]


HALVES = [MIDNIGHT, MIDNIGHT + timedelta(minutes=30)]


def test_alone_it_is_local_and_not_called_utc() -> None:
    found = report((), xml(HALVES))
    assert (found.start, found.end) == (MIDNIGHT, MIDNIGHT + timedelta(hours=1))
    page, text = render_html(found), render_text(found)
    for written in (page, text):
        assert "local as printed" in written
        assert "2022-07-26 00:00" in written
    assert "2022-07-26 00:00 to 01:00 local time" in page
    assert "Times are UTC" not in page
    assert to_json(found)["span"] == ["2022-07-26T00:00:00", "2022-07-26T01:00:00"]


@pytest.mark.parametrize("offsets", [(-4.0,), (-4.0, 5.5)])
def test_beside_a_dump_of_another_system_it_is_not_shifted(offsets: tuple[float, ...]) -> None:
    """26 July 00.00 was shown as 25 July 20:00 beside a dump of a system four hours behind UTC."""
    dumps = [
        dump(f"S{n}", [start + timedelta(hours=9, minutes=1) for start in HALVES], 30, offset, 0.25)
        for n, offset in enumerate(offsets)
    ]
    found = report(offsets, *dumps, xml(HALVES))
    page, text = render_html(found), render_text(found)
    assert "2022-07-25" not in page
    assert "2022-07-25" not in text
    assert "2022-07-26 00:00 to 01:00 local time" in page
    assert "2022-07-26 00:00:00 local" in text
    # No chart holds both clocks.
    charts = blocks(found, Chart)
    assert {chart.is_local for chart in charts} == {False, True}
    for chart in charts:
        assert len({moment.tzinfo for moment in (*chart.times, *chart.ends)}) == 1
        assert ("local time" in chart.origin) == chart.is_local
    written = to_json(found)
    assert written["local_span"] == ["2022-07-26T00:00:00", "2022-07-26T01:00:00"]
    assert all(moment.endswith("Z") for moment in written["span"])


def test_what_was_inferred_is_said() -> None:
    utc = [start + timedelta(hours=4) for start in HALVES]
    raw = both(dump("S1", utc, 30, -4.0, 0.25), xml(HALVES))
    for one in raw["rmf_xml_coupling_facility"]:
        one["sysplex"] = "PLEX"
    found = report((-4.0,), raw)
    (table,) = [one for one in blocks(found, Table) if one.name == "read_local_reports"]
    assert [cell for line in table.rows for cell in line] == [
        "RMF XML CF", "PLEX", 2, "2022-07-26 00:00:00", "2022-07-26 01:00:00", "UTC-04:00", "SMF 74-4",
    ]  # fmt: skip
    assert "marked as local" not in found.time_note
    assert not any(chart.is_local for chart in blocks(found, Chart))


def test_a_bar_ends_where_its_interval_ends() -> None:
    """Queue managers of 16:00 to 16:30 were drawn two minutes wide beside others of 16:02 to 16:32."""
    four = MIDNIGHT + timedelta(hours=16)
    shifted = four + timedelta(minutes=2)
    found = report((0.0,), dump("S1", [four], 30, 0.0, 0.25), dump("S2", [shifted], 30, 0.0, 0.75))
    charts = [chart for chart in blocks(found, Chart) if len(chart.series) == 2]
    assert charts
    for chart in charts:
        widths = []
        for series in chart.series:
            drawn = [
                end - start
                for start, end, value in zip(chart.times, chart.ends, series.values, strict=True)
                if value is not None
            ]
            widths.append(sum(drawn, timedelta()))
        assert widths == [timedelta(minutes=30)] * 2


@pytest.mark.parametrize("seed", range(20))
def test_each_value_holds_for_its_own_interval_and_no_longer(seed: int) -> None:
    """Minute by minute against a search through the intervals."""
    rng = random.Random(seed)
    start = MIDNIGHT.replace(tzinfo=UTC)
    own: dict[tuple[str | None, ...], list[tuple[datetime, datetime, float]]] = {}
    for name in ("A", "B", "C"):
        moment = start + timedelta(minutes=rng.randint(0, 20))
        for _ in range(rng.randint(1, 6)):
            end = moment + timedelta(minutes=rng.choice([5, 15, 30]))
            own.setdefault((name,), []).append((moment, end, rng.random()))
            moment = end + timedelta(minutes=rng.choice([0, 0, 1, 40]))
    times = sorted({begin for listed in own.values() for begin, _, _ in listed})
    course = Course(
        tuple(times),
        {
            entity: {"x": tuple(next((v for b, _, v in listed if b == moment), None) for moment in times)}
            for entity, listed in own.items()
        },
    )
    # Intervals end some seconds beside the minute.
    late = {entity: {b: e + timedelta(seconds=rng.randint(-20, 20)) for b, e, _ in one} for entity, one in own.items()}
    found = stepped(course, late)
    for minute in range(400):
        moment = start + timedelta(minutes=minute, seconds=30)
        for entity, listed in own.items():
            expected = [value for begin, end, value in listed if begin <= moment < end]
            drawn = [
                value
                for begin, end, value in zip(found.times, found.ends, found.values[entity]["x"], strict=True)
                if begin <= moment < end and value is not None
            ]
            assert drawn == expected


def test_a_legend_has_the_number_of_the_table() -> None:
    """Twenty minutes at 10 % and five at 90 %: 26 % of the time, not 50."""
    quarter, five = MIDNIGHT, MIDNIGHT + timedelta(minutes=20)
    raw = both(dump("S1", [quarter], 20, 0.0, 0.1), dump("S1", [five], 5, 0.0, 0.9))
    for number, one in enumerate(raw["smf74_4_local_cf"]):
        one["record_no"] = number
    for number, one in enumerate(raw["smf74_4_processor"]):
        one["record_no"] = number
    # Busy and waiting seconds, not shares: 120 of 1200 and 270 of 300.
    for one, seconds in zip(raw["smf74_4_processor"], (1200.0, 300.0), strict=True):
        one["r744pbsy"] *= seconds
        one["r744pwai"] *= seconds
    found = report((0.0,), raw)
    legends = {
        round(chart.mean_of(series), 6)
        for chart in blocks(found, Chart)
        for series in chart.series
        if chart.definition.endswith(".utilization")
    }
    assert legends == {0.26}
    cells = [
        line[index]
        for table in blocks(found, Table)
        for index, column in enumerate(table.columns)
        if column.definition.endswith("coupling_facility.utilization") and column.kind == "number"
        for line in table.rows
    ]
    assert cells
    assert cells == pytest.approx([0.26] * len(cells))


def test_a_mean_counts_lengths_of_time() -> None:
    times = [MIDNIGHT, MIDNIGHT + timedelta(minutes=30), MIDNIGHT + timedelta(minutes=40)]
    ends = [times[1], times[2], times[2] + timedelta(minutes=20)]
    assert mean((1.0, None, 4.0), times, ends) == pytest.approx((30 * 1.0 + 20 * 4.0) / 50)
    assert mean((None, None, None), times, ends) is None


def test_a_clock_marks_local_moments_beside_others() -> None:
    clock = Clock.of([-14400.0], local=True)
    assert clock.minute(MIDNIGHT) == "2022-07-26 00:00 local"
    assert clock.minute(MIDNIGHT.replace(tzinfo=UTC)) == "2022-07-25 20:00"
    assert clock.span(MIDNIGHT, MIDNIGHT + timedelta(hours=1)) == "2022-07-26 00:00 to 01:00 local"
    assert "marked as local" in clock.note
    assert Clock.of([], local=True).minute(MIDNIGHT) == "2022-07-26 00:00"


def test_what_an_offset_was_inferred_from_is_told_in_few_words() -> None:
    tables = ("smf101_ifcid3_qwac", "smf74_4_structure", "smf70_1_cpu_data", "smf74_4_request", "rmf_product_section")
    assert _inferred_from(tables) == "SMF 70-1, SMF 74-4 and 1 more type"
    assert _inferred_from(("rmf_xml_cpu_control",)) == "RMF XML"
    assert _inferred_from(()) is None
