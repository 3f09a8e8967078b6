"""The page as a browser without scripts would read it: escaping, nulls, what tables and charts carry."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import lxml.html
import pytest

from plexlens.metrics.unit import COUNT, FRACTION, MICROSECONDS
from plexlens.report import Options, Report, render_html
from plexlens.report.build import build
from plexlens.report.chart.time_svg import draw, script_json, spark
from plexlens.report.model import Column, ColumnKind, Note, Section, Table
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.model.clock import Clock
from tests.report import shop

UTC_CLOCK = Clock.of([])


@pytest.fixture(scope="module")
def page(report: Report) -> lxml.html.HtmlElement:
    return lxml.html.document_fromstring(render_html(report))


def _rows(page: lxml.html.HtmlElement, name: str) -> list[list[str]]:
    (table,) = page.xpath(f"//*[@id='table-{name}']//table")
    return [[cell.text_content().strip() for cell in row] for row in table.xpath("./tbody/tr")]


def _one(page: lxml.html.HtmlElement, path: str) -> lxml.html.HtmlElement:
    (found,) = page.xpath(path)
    return found


def test_numbers_stand_in_their_units(page: lxml.html.HtmlElement) -> None:
    assert _rows(page, "shop_queues") == [
        # 3.15 s / 2100 = 1.5 ms = 1500 µs; 3.15 s / 1200 s = 0.2625 %, at one decimal 0.3.
        ["Q1", "2,100", "1.75", "1,500.0", "0.3"],
        ["Q3", "120", "0.10", "\u2013", "\u2013"],
        [shop.HOSTILE, "0", "0.00", "\u2013", "0.0"],
    ]
    heads = page.xpath("//*[@id='table-shop_queues']//thead/tr[last()]/th")
    assert [re.sub(r"\s+", " ", head.text_content()).strip() for head in heads] == [
        "Queue",
        "Requestsi",
        "Request rate/si",
        "Service: Meanµsi",
        "Service: Busy%i",
    ]


def test_a_null_says_why(page: lxml.html.HtmlElement) -> None:
    cells = page.xpath("//*[@id='table-shop_queues']//tbody/tr[2]/td[@class='num null']")
    assert [cell.get("title") for cell in cells] == [
        "no value: the denominator is zero, or a field was not recorded"
    ] * 2


def test_heads_carry_the_order_for_sorting(page: lxml.html.HtmlElement) -> None:
    heads = page.xpath("//*[@id='table-shop_queues']//thead/tr[last()]/th")
    assert [head.get("aria-sort") for head in heads] == ["none", "none", "descending", "none", "none"]
    assert all(head.xpath("./button[@class='sort']") for head in heads)


def test_cells_carry_the_value_that_rounding_lost(page: lxml.html.HtmlElement) -> None:
    row = _one(page, "//*[@id='table-shop_queues']//tbody/tr[1]")
    values = [cell.get("data-v") for cell in row]
    # Whole counts are their own text; a mean in the base unit is not.
    assert values[0] is None
    assert float(values[3]) == pytest.approx(0.0015)
    assert float(values[4]) == pytest.approx(3.15 / 1200)


def test_groups_span_their_columns(page: lxml.html.HtmlElement) -> None:
    (row,) = page.xpath("//*[@id='table-shop_queues']//thead/tr[@class='groups']")
    assert [(cell.tag, cell.get("colspan"), cell.text_content()) for cell in row] == [
        ("td", "3", ""),
        ("th", "2", "Service"),
    ]
    spoken = page.xpath("//*[@id='table-shop_queues']//button[span[@class='hidden']]")
    assert [one.text_content() for one in spoken] == ["Service: Mean", "Service: Busy"]


def test_every_definition_link_has_its_entry(page: lxml.html.HtmlElement) -> None:
    links = {link.get("href") for link in page.xpath("//a[@class='def']")}
    assert links
    for link in links:
        (entry,) = page.xpath(f"//*[@id='{link[1:]}']")
        assert entry.xpath(".//h4")
    (entry,) = page.xpath("//*[@id='def-shop_queue.service_time']")
    text = entry.text_content()
    assert "service / requests" in text
    assert "the manual, page 2" in text
    assert "A mean; the worst is far above it." in text


def test_every_inner_link_leads_somewhere(page: lxml.html.HtmlElement) -> None:
    ids = set(page.xpath("//@id"))
    assert {href[1:] for href in page.xpath("//a/@href")} <= ids


def test_ids_are_unique(page: lxml.html.HtmlElement) -> None:
    ids = page.xpath("//@id")
    assert len(ids) == len(set(ids))


def test_names_from_files_are_text(damaged: Report) -> None:
    text = render_html(damaged)
    assert "<b>Q2" not in text
    assert "&lt;b&gt;Q2" in text
    assert "<i>day2" not in text
    page = lxml.html.document_fromstring(text)
    assert shop.HOSTILE in [row[0] for row in _rows(page, "shop_queues")]


HOSTILE_NAMES = (
    "</script><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'; alert(1); '",
    "<!--",
    "{{ 7 * 7 }}",
    "\x1b[31mred\x00",
    "\u202egnp.exe",
)


@pytest.mark.parametrize("name", HOSTILE_NAMES)
def test_no_name_becomes_markup(report: Report, name: str) -> None:
    times = (shop.FIRST, shop.SECOND)
    chart = Chart("c", name, COUNT, ChartKind.LINES, times, (shop.SECOND, shop.END), (Series(name, (1.0, 2.0)),))
    table = Table(
        "t", name, (Column("k", name, ColumnKind.TEXT, group=name, key=True),), ((name,),), note=name, origin=name
    )
    hostile = replace(
        report,
        title=name,
        systems=(name,),
        alerts=(Note(name, details=(name,)),),
        sections=(Section("s", name, (chart, table), name),),
    )
    clean = lxml.html.document_fromstring(render_html(replace(hostile, title="x")))
    page = lxml.html.document_fromstring(render_html(hostile))
    elements = lambda root: sorted(str(element.tag) for element in root.iter())  # noqa: E731
    safe = lxml.html.document_fromstring(
        render_html(
            replace(
                hostile,
                title="x",
                systems=("x",),
                alerts=(Note("x", details=("x",)),),
                sections=(
                    Section(
                        "s",
                        "x",
                        (
                            replace(chart, title="x", series=(Series("x", (1.0, 2.0)),)),
                            replace(
                                table,
                                title="x",
                                columns=(Column("k", "x", ColumnKind.TEXT, group="x", key=True),),
                                rows=(("x",),),
                                note="x",
                                origin="x",
                            ),
                        ),
                        "x",
                    ),
                ),
            )
        )
    )
    assert elements(page) == elements(clean) == elements(safe)
    text = render_html(hostile)
    assert "\x1b" not in text
    assert "\x00" not in text
    assert "\u202e" not in text


def test_the_page_allows_itself_no_network_and_only_its_own_scripts(report: Report) -> None:
    text = render_html(report)
    page = lxml.html.document_fromstring(text)
    (policy,) = page.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")
    assert "default-src 'none'" in policy
    scripts = [s.text for s in page.xpath("//script[not(@type)]")]
    hashes = {f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts}
    assert len(scripts) == 2
    assert set(re.findall(r"'sha256-[^']+'", policy)) == hashes
    assert not page.xpath("//@onclick | //@onload | //@onerror")
    for address in page.xpath("//@src | //@href"):
        assert address.startswith(("#", "data:"))
    assert not re.search(r"url\(|@import|https?://", text.split("<body>")[0].replace("http-equiv", ""))


def test_rows_behind_the_first_are_marked_and_offered(page: lxml.html.HtmlElement) -> None:
    rows = page.xpath("//*[@id='table-shop_systems']//tbody/tr")
    assert [row.get("class") for row in rows] == [None, None, "over", "over"]
    (button,) = page.xpath("//*[@id='table-shop_systems']//button[@class='show']")
    assert button.text_content() == "Show all 4 rows"


def test_rows_left_out_are_told_with_their_query() -> None:
    made = build(shop.database(), shop.readings(), options=Options(max_rows=1), pages=(shop.PAGE,), grains=shop.GRAINS)
    page = lxml.html.document_fromstring(render_html(made))
    (told,) = page.xpath("//*[@id='table-shop_systems']//*[@class='left-out']")
    assert "3 further rows of 4 left out of this page" in told.text_content()
    assert "select system, queue, interval, kind, rate from shop_queue order by rate desc" in told.text_content()


def test_a_chart_has_units_marks_and_words(page: lxml.html.HtmlElement) -> None:
    (chart,) = page.xpath("//*[@id='chart-shop_timeline']")
    assert chart.xpath(".//*[@class='y-unit']")[0].text_content() == "/s"
    assert [span.text_content() for span in chart.xpath(".//*[@class='y']/span")] == ["0", "0.5", "1.0", "1.5", "2.0"]
    # 10:00 UTC is 05:00 local.
    assert chart.xpath(".//*[@class='x']/span")[0].text_content() == "05:009 Mar 2026"
    (words,) = chart.xpath(".//*[@role='img']/@aria-label")
    assert "Q1: mean 1.75 /s, peak 2.00 /s at 2026-03-09 05:10." in words
    data = json.loads(chart.xpath(".//script")[0].text)
    assert data["v"][0] == [1.5, 2.0]
    assert data["x"] == [0, 500]
    assert data["w"] == [500, 1000]
    assert data["t"] == [int(shop.FIRST.timestamp()), int(shop.SECOND.timestamp())]


def _chart(values: tuple[float | None, ...], kind: ChartKind = ChartKind.LINES, gap: int = -1) -> Chart:
    starts = [shop.FIRST + timedelta(minutes=10 * (n + (2 if 0 <= gap <= n else 0))) for n in range(len(values))]
    ends = tuple(start + timedelta(minutes=10) for start in starts)
    return Chart("c", "C", FRACTION, kind, tuple(starts), ends, (Series("s", values),))


def _path(chart: Chart, kind: str = "line") -> str:
    drawing = draw(chart, UTC_CLOCK, chart.times[0], chart.ends[-1])
    (path,) = lxml.html.fragment_fromstring(drawing.svg).xpath(f".//path[starts-with(@class, '{kind} ')]/@d")
    return path


def test_a_line_goes_in_steps() -> None:
    # 50 % and 100 % of an axis that ends at 100 %: heights 500 and 0 of 1000.
    assert _path(_chart((0.5, 1.0))) == "M0 500H500V0H1000"


def test_a_null_breaks_a_line() -> None:
    assert _path(_chart((0.5, None, 1.0, 1.0))) == "M0 500H250M500 0H750V0H1000"


def test_a_missing_interval_breaks_a_line() -> None:
    # Four intervals of ten minutes, twenty minutes of nothing after the second: sixty minutes in all.
    assert _path(_chart((0.5, 0.5, 1.0, 1.0), gap=2)) == "M0 500H166.7V500H333.3M666.7 0H833.3V0H1000"


def test_a_stack_is_closed() -> None:
    assert _path(_chart((0.5, 1.0), ChartKind.STACK), "fill") == "M0 1000V500H500V0H1000V1000H500V1000H0Z"


def test_a_sparkline_of_nothing_is_nothing() -> None:
    assert spark((None, None), "x") == ""
    assert 'aria-label="&lt;x&gt;"' in spark((1.0, 2.0), "<x>")


def test_data_in_a_script_cannot_end_it() -> None:
    text = script_json({"a": "</script><!--&"})
    assert "<" not in text
    assert "&" not in text
    assert json.loads(text) == {"a": "</script><!--&"}


def test_times_of_cells_are_told_to_the_second_where_one_has_seconds() -> None:
    moments = [datetime(2026, 3, 9, 12, 0, second, tzinfo=UTC) for second in (0, 7)]
    table = Table("t", "T", (Column("at", "At", ColumnKind.TIME),), tuple((moment,) for moment in moments))
    made = Report("x", (), (), None, None, 3600.0, "", (), (Section("s", "S", (table,)),))
    shown = _rows(lxml.html.document_fromstring(render_html(made)), "t")
    assert shown == [["2026-03-09 13:00:00"], ["2026-03-09 13:00:07"]]


def test_times_of_cells_are_local() -> None:
    moment = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)
    table = Table(
        "t",
        "T",
        (Column("at", "At", ColumnKind.TIME), Column("n", "N", ColumnKind.NUMBER, MICROSECONDS)),
        ((moment, 1e-6),),
    )
    made = Report("x", (), (), None, None, 3600.0, "", (), (Section("s", "S", (table,)),))
    assert _rows(lxml.html.document_fromstring(render_html(made)), "t") == [["2026-03-09 13:00", "1.0"]]


def test_a_report_of_nothing_is_a_page() -> None:
    page = lxml.html.document_fromstring(render_html(Report("x", (), (), None, None, None, "UTC", (), ())))
    assert "No interval was read" in page.text_content()
