"""The report of the hand-made family, number by number; the sums stand in `tests.report.shop`."""

from dataclasses import replace
from datetime import timedelta

import pytest

from plexlens.report import Options, Report
from plexlens.report.build import build
from plexlens.report.model import KeyFigures, Level, Missing, Note, Section, Table
from plexlens.report.model.chart import Chart, ChartKind
from plexlens.report.pages import PAGES
from tests.report import shop


def _of(section: Section, kind: type) -> list:
    return [block for block in section.blocks if isinstance(block, kind)]


def _table(report: Report, name: str) -> Table:
    return next(t for section in report.sections for t in _of(section, Table) if t.name == name)


def _chart(report: Report, name: str) -> Chart:
    return next(c for section in report.sections for c in _of(section, Chart) if c.name == name)


def test_it_says_what_it_is_about(report: Report) -> None:
    assert report.title == "Sysplex PLEX1"
    assert report.systems == ("A", "B")
    assert (report.start, report.end) == (shop.FIRST, shop.END)
    assert report.utc_offset == -18000.0
    assert report.alerts == ()


def test_sections_stand_in_order(report: Report) -> None:
    assert [section.id for section in report.sections] == ["read", "summary", "timeline", "shop"]


def test_key_figures(report: Report) -> None:
    (block,) = _of(report.section("summary"), KeyFigures)
    rate, slowest, fastest = block.figures
    # (600 + 300 + 60 + 1200 + 60) requests in 1200 s; 960 in the first interval, 1260 in the second.
    assert rate.value == pytest.approx(1.85)
    assert rate.trend == pytest.approx((1.6, 2.1))
    assert rate.detail == "peak 2.10 at 05:10"
    # 3.0 s for 1800 requests on A; 0.15 s for 300 on B. A queue without a service time is neither.
    assert slowest.value == pytest.approx(3.0 / 1800)
    assert slowest.detail == "A / Q1"
    assert fastest.value == pytest.approx(0.15 / 300)
    assert fastest.detail == "B / Q1"


def test_a_table_over_all_systems(report: Report) -> None:
    table = _table(report, "shop_queues")
    assert [column.name for column in table.columns] == ["queue", "requests", "rate", "service_time", "busy"]
    # The interval of both systems is the same ten minutes: it counts once.
    assert table.rows[0] == ("Q1", 2100.0, 1.75, pytest.approx(3.15 / 2100), pytest.approx(3.15 / 1200))
    assert table.rows[1] == ("Q3", 120.0, 0.1, None, None)
    assert table.rows[2] == (shop.HOSTILE, 0.0, 0.0, None, 0.0)
    assert table.sorted_by == ("rate", True)
    # No row of B has a service time that anything could be missing from.
    assert table.note == "No values in this data: Never recorded."
    assert table.origin == "SMF 250; 2 intervals of 10 min"


def test_a_table_by_all_keys_keeps_systems_apart(report: Report) -> None:
    table = _table(report, "shop_systems")
    assert table.rows == (
        ("A", "Q1", "busy", 1.5),
        ("B", "Q1", "busy", 0.25),
        ("B", "Q3", "idle", 0.1),
        ("A", shop.HOSTILE, "idle", 0.0),
    )
    assert [column.key for column in table.columns] == [True, True, False, False]


def test_lines_stand_in_the_timeline_the_largest_first(report: Report) -> None:
    (chart,) = _of(report.section("timeline"), Chart)
    assert chart.name == "shop_timeline"
    assert chart.times == (shop.FIRST, shop.SECOND)
    assert chart.ends == (shop.SECOND, shop.END)
    assert [(s.name, s.values) for s in chart.series] == [
        ("Q1", (1.5, 2.0)),
        ("Q3", (0.1, 0.1)),
        (shop.HOSTILE, (0.0, 0.0)),
    ]


def test_a_stack_adds_up_what_it_does_not_draw(report: Report) -> None:
    chart = _chart(report, "shop_stack")
    assert chart.kind is ChartKind.STACK
    assert [(s.name, s.values) for s in chart.series] == [
        ("A / Q1", (1.0, 2.0)),
        ("B / Q1", (0.5, 0.0)),
        ("all others (2)", (0.1, 0.1)),
    ]
    assert chart.left_out == 0


def test_every_number_leads_to_a_definition(report: Report) -> None:
    used = {
        column.definition
        for section in report.sections
        for table in _of(section, Table)
        for column in table.columns
        if column.definition
    }
    used |= {chart.definition for section in report.sections for chart in _of(section, Chart)}
    assert used == {"shop_queue.rate", "shop_queue.service_time", "shop_queue.busy", "shop_queue.requests"}
    assert used <= set(report.definitions)
    rate, requests = report.definitions["shop_queue.rate"], report.definitions["shop_queue.requests"]
    assert (rate.formula, rate.source, rate.rollup) == ("requests / interval", "the manual, page 1", "")
    assert (requests.formula, requests.source) == ("", "SMF 250 requests")
    assert requests.rollup == "across entities: added; over time: added"


def test_what_is_not_there_is_named_with_the_way_to_get_it(report: Report) -> None:
    (missing,) = _of(report.section("shop"), Missing)
    assert missing.what == "Not in this data: tills."
    assert [(way.kind, way.how) for way in missing.ways] == [("SMF 251", "Switch the tills' records on.")]


def test_an_abbreviation_keeps_its_letters() -> None:
    tills = replace(shop.ABSENT, title="ATM tills")
    grains = {**shop.GRAINS, "shop_absent": tills}
    found = build(shop.database(), shop.readings(), pages=(shop.PAGE,), grains=grains)
    section = next(section for section in found.sections if section.id == "shop")
    (missing,) = _of(section, Missing)
    assert missing.what == "Not in this data: ATM tills."


def test_a_section_without_data_names_every_way_and_comes_last() -> None:
    empty = replace(shop.PAGE, id="tills", order=1, what="tills", figures=(), charts=(), tables=shop.PAGE.tables[2:])
    made = build(shop.database(), shop.readings(), pages=(empty, shop.PAGE), grains=shop.GRAINS)
    assert [section.id for section in made.sections] == ["summary", "timeline", "shop", "tills"]
    assert made.section("tills").blocks == (Missing("No data on tills.", shop.PAGE.ways),)


def test_rows_left_out_are_counted_and_can_be_asked_for() -> None:
    made = build(shop.database(), shop.readings(), options=Options(max_rows=1), pages=(shop.PAGE,), grains=shop.GRAINS)
    table = _table(made, "shop_systems")
    assert (len(table.rows), table.total_rows, table.left_out) == (1, 4, 3)
    assert table.query == "select system, queue, interval, kind, rate from shop_queue order by rate desc"


def test_one_interval_draws_no_course() -> None:
    made = build(shop.database(times=1), shop.readings(), pages=(shop.PAGE,), grains=shop.GRAINS)
    (note,) = made.section("timeline").blocks
    assert isinstance(note, Note)
    assert "more than one interval" in note.text
    assert not _of(made.section("shop"), Chart)
    (block,) = _of(made.section("summary"), KeyFigures)
    # 960 requests in the one interval.
    assert block.figures[0].value == pytest.approx(1.6)
    assert block.figures[0].trend == ()


def test_damage_and_unread_files_stand_at_the_top(damaged: Report) -> None:
    unread, lost = damaged.alerts
    assert (unread.level, lost.level) == (Level.LOSS, Level.LOSS)
    assert unread.text.startswith("1 file of 2 could not be read.")
    assert unread.details == ("<i>day2.smf: no descriptor words; transfer it in binary",)
    assert lost.text.startswith("3 places lost data.")
    assert lost.details == (
        "day1.smf, record 17, byte 4096: truncated: 40 of 96 bytes; send it again",
        "and 2 more, listed under Data read",
    )


def test_what_was_read(damaged: Report) -> None:
    read = damaged.section("read")
    figures = {figure.name: figure for figure in _of(read, KeyFigures)[0].figures}
    assert {name: figure.value for name, figure in figures.items()} == {
        "files": 1,
        "unread": 1,
        "size": 3 * 2**20,
        "records": 1204,
        "duplicates": 4,
        "data_loss": 3,
        "errors": 0,
    }
    assert {name for name, figure in figures.items() if figure.alarm} == {"unread", "data_loss"}
    assert _table(damaged, "read_damage_reasons").rows == (("truncated", "data loss", 3, "send it again"),)
    assert _table(damaged, "read_damage").left_out == 2
    assert _table(damaged, "read_records").rows[1][:5] == ("SMF 99", "A", 604, 0, 604)
    assert _table(damaged, "read_coverage").rows == (("Queues", "SMF 250", 2, 2, 600.0, shop.FIRST, shop.END, 0),)


def test_sparse_data_is_said_to_be_sparse() -> None:
    inputs = shop.database()
    month = timedelta(days=30)
    inputs.connection.execute(
        f"update shop_raw set interval_start = interval_start + interval {month.days} days,"
        f" interval_end = interval_end + interval {month.days} days where interval_start > '{shop.FIRST}'"
    )
    made = build(inputs, shop.readings(), pages=(shop.PAGE,), grains=shop.GRAINS)
    (note,) = made.alerts
    assert note.text.startswith("The data covers 20 min of the 30 d between its first and its last interval")


def test_the_same_name_in_two_sysplexes_is_two_things() -> None:
    inputs = shop.database()
    inputs.connection.execute("update shop_raw set sysplex = 'PLEX2' where system = 'B'")
    made = build(inputs, shop.readings(), pages=(shop.PAGE,), grains=shop.GRAINS)
    table = _table(made, "shop_queues")
    rows = [(row[0], row[1], row[3]) for row in table.rows]
    assert [column.name for column in table.columns][:2] == ["sysplex", "queue"]
    assert rows == [
        ("PLEX1", "Q1", 1.5),
        ("PLEX2", "Q1", 0.25),
        ("PLEX2", "Q3", 0.1),
        ("PLEX1", shop.HOSTILE, 0.0),
    ]
    (chart,) = _of(made.section("timeline"), Chart)
    assert [series.name for series in chart.series][:2] == ["PLEX1 / Q1", "PLEX2 / Q1"]
    assert _of(made.section("summary"), KeyFigures)[0].figures[1].detail == "PLEX1 / A / Q1"
    assert made.title == "Sysplexes PLEX1, PLEX2"


def test_an_unknown_column_or_grain_is_refused_with_the_valid_ones() -> None:
    wrong = replace(shop.PAGE, tables=(replace(shop.PAGE.tables[0], order="speed"),), charts=(), figures=())
    with pytest.raises(KeyError, match="it has rate, service_time, busy"):
        build(shop.database(), shop.readings(), pages=(wrong,), grains=shop.GRAINS)
    wrong = replace(shop.PAGE, tables=(replace(shop.PAGE.tables[0], grain="shelf"),), charts=(), figures=())
    with pytest.raises(KeyError, match="known are shop_absent, shop_queue"):
        build(shop.database(), shop.readings(), pages=(wrong,), grains=shop.GRAINS)


def test_pages_are_found_by_being_there() -> None:
    assert {page.id for page in PAGES} >= {"read", "cpu", "workload", "coupling", "mq", "paging", "dasd"}
    assert [page.order for page in PAGES] == sorted(page.order for page in PAGES)
