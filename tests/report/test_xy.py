"""Charts over a number: places worked by hand, labels of marks that do not hide each other, text, JSON, the browser."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from plexlens.metrics.unit import COUNT, FRACTION, PER_SECOND, Unit
from plexlens.report.chart.axis import log_marks, marks_around, marks_within
from plexlens.report.chart.xy_svg import draw_xy, layers_of
from plexlens.report.model import Definition, Report, Section
from plexlens.report.model.xy import XYChart, XYMark, XYSeries, XYStyle
from plexlens.report.writers.html import render_html
from plexlens.report.writers.json_object import to_json
from plexlens.report.writers.text import render_text
from tests.conftest import REPOSITORY
from tests.report import browser as chromium
from tests.report import shop

PAGES = Unit("pages", "pages", 1.0, 0)

CURVE = XYChart(
    "curve",
    "Reads of BP2",
    "Pool size",
    "Read I/O",
    (XYSeries("BP2", ((2000.0, 400.0), (4000.0, 200.0), (6000.0, 100.0))),),
    marks=(XYMark(3000.0, "now 3,000"), XYMark(4000.0, "best 4,000", strong=True)),
    x_unit=PAGES,
    y_unit=PER_SECOND,
    definition="curve.reads",
)


def report_of(*charts: XYChart) -> Report:
    reads = Definition("curve.reads", "Curve", "a size", "Read I/O", PER_SECOND, "misses / seconds", "the trace")
    return Report(
        title="Pools", systems=(), sysplexes=(), start=None, end=None, utc_offset=None, time_note="", alerts=(),
        sections=(Section("curves", "Curves", charts),), definitions={"curve.reads": reads},
    )  # fmt: skip


def _path(drawn: str, name: str) -> str:
    found = re.search(rf'class="{name}" d="([^"]*)"', drawn)
    assert found is not None, name
    return found[1]


def test_places_by_hand() -> None:
    drawn = draw_xy(CURVE)
    # x runs from 2000 (not below a quarter of 6000, so not from 0) to 6000: 4000 is the middle. y runs from 0 to 400.
    assert _path(drawn.svg, "line c1") == "M0 0L500 500L1000 750"
    assert _path(drawn.svg, "mark") == "M250 0V1000"
    assert _path(drawn.svg, "mark strong") == "M500 0V1000"
    assert drawn.x == (("2,000", 0), ("3,000", 25), ("4,000", 50), ("5,000", 75), ("6,000", 100))
    assert [text for text, _ in drawn.y] == ["0", "100", "200", "300", "400"]


def test_a_logarithmic_axis_has_equal_ratios() -> None:
    points = tuple((10.0**power, float(power)) for power in range(1, 6))
    drawn = draw_xy(replace(CURVE, series=(XYSeries("a", points),), marks=(), log_x=True))
    # Powers of ten stand a quarter of the axis apart.
    assert [place for _, place in drawn.x] == pytest.approx([0, 25, 50, 75, 100])
    assert [text for text, _ in drawn.x] == ["10", "100", "1,000", "10 k", "100 k"]
    assert re.findall(r"[ML](\d+)", _path(drawn.svg, "line c1")) == ["0", "250", "500", "750", "1000"]


def test_layers_add_up() -> None:
    low = XYSeries("A", ((0.0, 3.0), (10.0, 1.0)))
    high = XYSeries("B", ((0.0, 1.0), (10.0, 1.0)))
    chart = replace(CURVE, series=(low, high), marks=(), stacked=True)
    assert layers_of(chart) == [([0.0, 0.0], [3.0, 1.0]), ([3.0, 1.0], [4.0, 2.0])]
    # 4 is the top of the axis: layer B goes from 3 and 4 (250 and 0 from the top) to 1 and 2 (750 and 500).
    assert _path(draw_xy(chart).svg, "fill c2") == "M0 0L1000 500L1000 750L0 250Z"


def test_values_below_zero_get_a_zero_line() -> None:
    drawn = draw_xy(replace(CURVE, series=(XYSeries("a", ((0.0, -50.0), (1.0, 50.0))),), marks=()))
    assert _path(drawn.svg, "zero") == "M0 500H1000"
    assert [text for text, _ in drawn.y] == ["-60", "-40", "-20", "0", "20", "40", "60"]


def test_a_gap_breaks_the_line_and_points_stay_dots() -> None:
    points = ((0.0, 1.0), (1.0, None), (2.0, 1.0), (4.0, 0.0))
    drawn = draw_xy(replace(CURVE, series=(XYSeries("a", points, XYStyle.BOTH),), marks=()))
    assert _path(drawn.svg, "line c1") == "M0 0M500 0L1000 1000"
    assert _path(drawn.svg, "dots c1") == "M0 0h0M500 0h0M1000 1000h0"


def test_a_band_goes_round_its_series() -> None:
    series = XYSeries("fit", ((0.0, 2.0), (2.0, 2.0)), band=((0.0, 1.0, 3.0), (2.0, 0.0, 4.0)))
    drawn = draw_xy(replace(CURVE, series=(series,), marks=()))
    assert _path(drawn.svg, "band fill c1") == "M0 250L1000 0L1000 1000L0 750Z"


def test_labels_of_marks_never_lie_on_each_other() -> None:
    marks = tuple(XYMark(3900.0 + 50 * n, f"size {n} of many") for n in range(5))
    drawn = draw_xy(replace(CURVE, marks=marks))
    # 15 letters take a third of a phone's plot; those right of the middle stand to the left of their lines.
    assert len({mark.row for mark in drawn.marks}) == drawn.rows
    for row in range(drawn.rows):
        spans = []
        for mark in drawn.marks:
            if mark.row == row:
                width = 100 * len(mark.text) * 6 / 266
                start = mark.place - width if mark.leftward else mark.place
                spans.append((start, start + width))
        spans.sort()
        assert all(left[1] <= right[0] for left, right in pairwise(spans))
    apart = draw_xy(replace(CURVE, marks=(XYMark(2000.0, "a"), XYMark(6000.0, "b"))))
    assert apart.rows == 1


@pytest.mark.parametrize(
    "places",
    # To one side of the middle there is always a row without crossing; marks of both sides may reach over each other.
    [(2100, 2200, 2300), (5700, 5800, 5900), (2100, 5900), (2500, 2500, 5700), (2000, 2900, 3800), (4100, 5000, 6000)],
)
def test_no_line_of_a_mark_crosses_a_label(places: tuple[int, ...]) -> None:
    """A mark's line goes down from the row of its label."""
    drawn = draw_xy(replace(CURVE, marks=tuple(XYMark(x, f"here {x:,}") for x in places))).marks
    for label in drawn:
        width = 100 * len(label.text) * 6 / 266
        start, end = (label.place - width, label.place) if label.leftward else (label.place, label.place + width)
        for other in drawn:
            if other.row < label.row:
                assert not start < other.place < end, (label, other)


def test_marks_of_axes() -> None:
    assert marks_around(-3.0, 9.0) == (-5.0, -2.5, 0.0, 2.5, 5.0, 7.5, 10.0)
    assert marks_within(0.0, 100_000.0) == (0.0, 20_000.0, 40_000.0, 60_000.0, 80_000.0, 100_000.0)
    assert log_marks(90.0, 2500.0) == (100.0, 200.0, 500.0, 1000.0, 2000.0)
    # Within a decade without two round numbers a linear axis has more to say.
    assert len(log_marks(3000.0, 4500.0)) >= 2
    for high in (1e3, 1e5, 1e7, 1e12):
        assert 2 <= len(log_marks(1.0, high)) <= 7


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"series": ()}, "no points"),
        ({"series": (XYSeries("a", ()),)}, "no points"),
        ({"series": (XYSeries("a", ((2.0, 1.0), (2.0, 1.0))),)}, "do not rise"),
        ({"series": (XYSeries("a", ((0.0, 1.0),)),), "log_x": True}, "logarithmic"),
        ({"marks": (XYMark(float("nan"), "x"),)}, "no place"),
        ({"series": tuple(XYSeries(str(n), ((1.0, 1.0),)) for n in range(9))}, "the maximum is 8"),
        ({"series": (XYSeries("a", ((1.0, 1.0),)), XYSeries("b", ((2.0, 1.0),))), "stacked": True}, "other x"),
    ],
)
def test_what_cannot_be_drawn_is_refused(change: dict[str, object], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        replace(CURVE, **change)  # type: ignore[arg-type]


def test_one_point_is_drawn() -> None:
    for log in (False, True):
        drawn = draw_xy(replace(CURVE, series=(XYSeries("a", ((100.0, 0.0),)),), marks=(), log_x=log))
        assert _path(drawn.svg, "line c1") == "M500 1000"


def test_json_has_base_units() -> None:
    chart = replace(CURVE, y_unit=FRACTION, series=(XYSeries("a", ((1.0, 0.25), (2.0, None))),), marks=CURVE.marks[:1])
    (section,) = to_json(report_of(chart))["sections"]
    (told,) = section["xy_charts"]
    assert told["series"] == [{"name": "a", "points": [[1.0, 0.25], [2.0, None]], "band": None}]
    assert told["marks"] == [{"x": 3000.0, "label": "now 3,000"}]
    assert told["x"] == {"title": "Pool size", "unit": "pages", "definition": None}
    assert told["y"] == {"title": "Read I/O", "unit": "fraction", "definition": "curve.reads"}
    json.dumps(told, allow_nan=False)


def test_text_names_the_marks() -> None:
    lines = render_text(report_of(CURVE), 80).splitlines()
    start = next(number for number, line in enumerate(lines) if "READS OF BP2" in line)
    rows = [line.split() for line in lines[start : start + 9]]
    assert ["2,000", "400.00", "\u2013"] in rows
    # The mark at 3,000 has no point: a row of its own, without a value.
    assert ["3,000", "\u2013", "now", "3,000"] in rows
    assert ["4,000", "200.00", "best", "4,000"] in rows


def test_text_keeps_to_its_rows() -> None:
    long = replace(CURVE, series=(XYSeries("a", tuple((float(n), 1.0) for n in range(1000, 5000))),))
    lines = render_text(report_of(long), 80, rows=10).splitlines()
    numbers = [line.split()[0] for line in lines if re.match(" +[\\d,]+ +[\\d\u2013]", line)]
    assert len(numbers) == 10
    assert (numbers[0], numbers[-1]) == ("1,000", "4,999")
    assert {"3,000", "4,000"} <= set(numbers)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    stacked = replace(
        CURVE, name="layers", stacked=True, title="Reads by object",
        series=tuple(
            XYSeries(f"DB1.TS{n}", tuple((size, 40.0 * n * 1000 / size) for size in (1000.0, 2000.0, 3000.0, 5000.0)))
            for n in range(1, 9)
        ),
    )  # fmt: skip
    fitted = replace(
        CURVE, name="fitted", title=shop.HOSTILE, log_x=True, x_unit=COUNT, definition="",
        series=(
            XYSeries("measured", tuple((float(n * n), 10.0 + n) for n in range(1, 30)), XYStyle.POINTS),
            XYSeries(
                "fit", tuple((float(n * n), 11.0 + n) for n in range(1, 30)),
                band=tuple((float(n * n), 8.0 + n, 14.0 + n) for n in range(1, 30)),
            ),
        ),
        marks=(XYMark(700.0, "where the queue grows without end"),),
    )  # fmt: skip
    path = tmp_path_factory.mktemp("xy") / "xy.html"
    path.write_text(render_html(report_of(CURVE, stacked, fitted)), encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_it_fits_the_screen(browser: chromium.Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width=width, dark=dark)
    assert browser.messages() == []
    assert browser.run("return document.documentElement.scrollWidth") <= width
    # Labels of marks stay on their card and do not cover each other.
    told = browser.run(
        "return [...document.querySelectorAll('.marks')].map(m => {"
        " const card = m.closest('.card').getBoundingClientRect();"
        " return [...m.children].map(s => { const b = s.getBoundingClientRect();"
        " return [b.left - card.left, card.right - b.right, b.left, b.right, b.top]; }); })"
    )
    for labels in told:
        assert all(left >= 0 and right >= 0 for left, right, *_ in labels), labels
        for one in labels:
            for other in labels:
                if one is not other and one[4] == other[4]:
                    assert one[3] <= other[2] or other[3] <= one[2]
    folder = REPOSITORY / ".build" / "screenshots"
    folder.mkdir(parents=True, exist_ok=True)
    browser.screenshot(folder / f"xy-{width}-{'dark' if dark else 'light'}.png")


def test_it_can_be_read_with_the_keyboard_and_the_mouse(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('#chart-curve .plot').focus()")
    browser.driver.switch_to.active_element.send_keys("\ue010")
    told = browser.run("return document.querySelector('.reading').textContent")
    assert told == "Pool size 6,000 pages, in /sBP2100.00"
    assert browser.run("return document.querySelectorAll('.cursor:not([hidden])').length") == 1
    browser.driver.switch_to.active_element.send_keys("\ue012")
    assert "4,000 pages" in browser.run("return document.querySelector('.reading').textContent")
    # The pointer at nine tenths of the axis (5,600) is nearest to 6,000; at six tenths (4,400) to 4,000.
    for part, size in ((0.9, "6,000"), (0.6, "4,000")):
        browser.run(
            "const p = document.querySelector('#chart-curve .plot'); const b = p.querySelector('.area')"
            ".getBoundingClientRect(); p.dispatchEvent(new PointerEvent('pointermove', {clientX: b.left + b.width"
            " * arguments[0], clientY: b.top + 20, pointerType: 'mouse', bubbles: true}));",
            part,
        )
        assert f"Pool size {size} pages" in browser.run("return document.querySelector('.reading').textContent")


def test_it_prints_in_light_colours(browser: chromium.Browser, page: Path) -> None:
    browser.open(page, width=1040, media="print", dark=True)
    assert browser.run("return getComputedStyle(document.querySelector('.line.c1')).stroke") == "rgb(0, 101, 165)"
    assert browser.run("return getComputedStyle(document.querySelector('.mark.strong')).stroke") == "rgb(0, 0, 0)"
    boxes = browser.run(
        "return [...document.querySelectorAll('.plot.xy .area')].map(a => a.getBoundingClientRect().height)"
    )
    assert all(height > 90 for height in boxes)


def test_on_a_logarithmic_y_axis_equal_ratios_have_equal_heights() -> None:
    drawn = draw_xy(
        replace(CURVE, series=(XYSeries("a", ((0.0, 1.0), (1.0, 10.0), (2.0, 100.0))),), marks=(), log_y=True)
    )
    places = {float(text.replace(",", "")): place for text, place in drawn.y}
    assert places[10.0] - places[1.0] == pytest.approx(places[100.0] - places[10.0]) == pytest.approx(50.0)
    with pytest.raises(ValueError, match="logarithmic"):
        replace(CURVE, series=(XYSeries("a", ((0.0, 0.0), (1.0, 10.0))),), log_y=True)
