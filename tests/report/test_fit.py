"""What stands on the page fits there: measured in headless Chromium, on screens of every width and on paper.

The widths are those of a phone, a laptop, a window of 1,400 pixels and a large screen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from plexlens.metrics import GRAINS
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.unit import FRACTION, MILLISECONDS
from plexlens.pdb import Pdb, ingest
from plexlens.report import Report, render_html
from plexlens.report.blocks.readings import readings_of
from plexlens.report.build import build
from plexlens.report.model import Note, Section
from plexlens.report.model.chart import Chart, ChartKind, Series
from plexlens.report.model.heat import HeatMap
from tests.draws import SOAK
from tests.report import browser as chromium
from tests.report import shop
from tests.report.made_up import made_up

PHONE, LAPTOP, WIDE = 390, 1280, 2560

#: Every text that a chart shows outside its drawing: of the axes, and of marks within the plot.
_LABELS = """
return [...document.querySelectorAll('.plot')].map(plot =>
  [...plot.querySelectorAll('.x span, .y span, .marks b, .y-unit')]
    .map(s => { const text = document.createRange(); text.selectNodeContents(s);
      return [s.textContent, text.getBoundingClientRect()]; })
    .filter(([t, r]) => t.trim() && r.width > 0).map(([t, r]) => [t, r.left, r.top, r.right, r.bottom]))
"""

#: Numbers whose unit stands on another line, in all that is seen of the page but code that is copied.
_WRAPPED = """
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
const range = document.createRange(), found = [];
const units = /[0-9]\\s(?:%|ms|µs|s|min|h|d|hours|days|B|KiB|MiB|GiB|MIPS|MSU|\\/s|s\\/h)(?![\\w\\/])/g;
while (walker.nextNode()) {
  const node = walker.currentNode;
  if (!node.parentElement || node.parentElement.closest('script, style, pre, code, .hidden')) continue;
  for (const one of node.data.matchAll(units)) {
    range.setStart(node, one.index); range.setEnd(node, one.index + one[0].length);
    const tops = new Set([...range.getClientRects()].filter(r => r.width > 1).map(r => Math.round(r.top)));
    if (tops.size > 1) found.push(node.data.slice(Math.max(0, one.index - 20), one.index + 12));
  }
}
return found
"""

#: Tables that are wider than their place, with both widths.
_SCROLLING = """
return [...document.querySelectorAll('.scroll')].filter(e => e.clientWidth > 0 && e.scrollWidth > e.clientWidth + 1)
  .map(e => [(e.closest('[id]') || e).id, e.scrollWidth, e.clientWidth])
"""


#: For each wide table, pixels by which the first column leaves its place while the table scrolls.
_MOVED = """
return [...document.querySelectorAll('.block.wide .scroll')].map(s => { s.scrollLeft = 10000;
  const cell = s.querySelector('tbody th.fixed'); if (!cell) return 0;
  const moved = Math.round(cell.getBoundingClientRect().left - s.getBoundingClientRect().left);
  s.scrollLeft = 0; return moved; })
"""


def _opened(
    browser: chromium.Browser, page: Path, *, width: int, dark: bool = False, media: str = "", folded: bool = False
) -> None:
    browser.open(page, width=width, dark=dark, media=media)
    if not folded:
        browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")


@pytest.fixture(scope="module")
def seen(browser: chromium.Browser) -> Callable[..., dict[str, Any]]:
    """Measurements of a page at a width, on a screen or on paper: each page is laid out once for all tests.

    To lay out the page of all grains takes Chromium several seconds.
    """

    @cache
    def measured(page: Path, width: int, media: str = "") -> dict[str, Any]:
        _opened(browser, page, width=width, media=media)
        tables = "return document.querySelectorAll('.scroll').length"
        scripts = {"labels": _LABELS, "wrapped": _WRAPPED, "scrolling": _SCROLLING, "moved": _MOVED, "tables": tables}
        return {name: browser.run(script) for name, script in scripts.items()}

    return measured


@pytest.fixture(scope="module")
def scattered(report: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Charts over short times years apart, over days and over an hour; heat maps; a note with numbers."""
    start = datetime(1996, 5, 29, 17, 54, tzinfo=UTC)
    runs = {
        "years": [timedelta(days=400 * run, minutes=15 * n) for run in range(9) for n in range(1 + 8 * (run == 3))],
        "days": [timedelta(hours=n) for n in range(140)],
        "hour": [timedelta(minutes=5 * n) for n in range(12)],
        "months": [timedelta(days=n) for n in range(300)],
    }
    charts = []
    for name, after in runs.items():
        times = tuple(start + one for one in after)
        ends = tuple(one + timedelta(minutes=5) for one in times)
        series = (Series("busy", tuple(float(n % 7) for n in range(len(times)))),)
        charts.append(Chart(name, name, FRACTION, ChartKind.LINES, times, ends, series))
    maps = [
        HeatMap(
            f"heat_{count}", f"{count} days", MILLISECONDS,
            tuple(date(2026, 1, 1) + timedelta(days=n) for n in range(count)),
            tuple(tuple(0.001 * hour * (day + 1) for hour in range(24)) for day in range(count)), f"heat_{count}_table",
        )
        for count in (2, 62)
    ]  # fmt: skip
    note = Note(" ".join(f"{n}.5 % of {n} min" for n in range(10, 60)))
    made = replace(report, start=start, end=start, sections=(Section("charts", "Charts", (*charts, *maps, note)),))
    path = tmp_path_factory.mktemp("scattered") / "scattered.html"
    path.write_text(render_html(made), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [320, PHONE, LAPTOP, 1400, WIDE])
def test_labels_of_an_axis_do_not_overprint(browser: chromium.Browser, scattered: Path, width: int) -> None:
    browser.open(scattered, width=width)
    labels = browser.run(
        "return [...document.querySelectorAll('.plot .x')].map(axis => [...axis.querySelectorAll('span')]"
        ".map(s => [s.textContent, s.getBoundingClientRect()]).filter(([t, r]) => r.width > 0)"
        ".map(([t, r]) => [t, r.left, r.right]))"
    )
    assert len(labels) == 6
    for axis in labels:
        assert axis
        ordered = sorted(axis, key=lambda one: one[1])
        close = [(a[0], b[0]) for a, b in pairwise(ordered) if b[1] < a[2]]
        assert close == []
    if width >= LAPTOP:
        assert all(len(axis) > 1 for axis in labels)


def _overprinted(texts: list[list[tuple[str, float, float, float, float]]]) -> list[tuple[str, str]]:
    """Pairs of texts of one chart whose boxes share more than the edge of a letter."""
    return [
        (a[0], b[0])
        for labels in texts
        for number, a in enumerate(labels)
        for b in labels[number + 1 :]
        if min(a[3], b[3]) - max(a[1], b[1]) > 1 and min(a[4], b[4]) - max(a[2], b[2]) > 2
    ]


@pytest.mark.parametrize("width", [PHONE, LAPTOP, 1400, WIDE])
@pytest.mark.parametrize("media", ["", "print"])
def test_no_text_of_a_chart_covers_another(
    seen: Callable[..., dict[str, Any]], page: Path, scattered: Path, width: int, media: str
) -> None:
    for shown in (page, scattered):
        texts = seen(shown, width, media)["labels"]
        assert texts
        assert _overprinted(texts) == []


@pytest.mark.parametrize("width", [320, PHONE, LAPTOP, 1400, WIDE])
def test_a_number_and_its_unit_stand_on_one_line(
    seen: Callable[..., dict[str, Any]], page: Path, scattered: Path, width: int
) -> None:
    for shown in (page, scattered):
        assert seen(shown, width)["wrapped"] == []


def test_every_table_fits_into_1400_pixels(seen: Callable[..., dict[str, Any]], page: Path) -> None:
    assert seen(page, 1400)["tables"] > 50
    assert seen(page, 1400)["scrolling"] == []


def test_the_hours_of_days_fit_into_1400_pixels(browser: chromium.Browser, tmp_path: Path) -> None:
    """Three days have heat maps, with tables that hold a number for each hour."""
    inputs, grains = made_up({"workload_period": GRAINS["workload_period"]}, steps=288, entities=4)
    page = tmp_path / "days.html"
    page.write_text(render_html(build(inputs, shop.readings(), grains={**GRAINS, **grains})), encoding="utf-8")
    _opened(browser, page, width=1400)
    assert browser.run("return document.querySelectorAll('[id^=table-][id$=_table]').length") > 0
    assert browser.run(_SCROLLING) == []


@pytest.mark.drawn
def test_pages_of_real_files_fit(browser: chromium.Browser, shared_data: Path, tmp_path: Path) -> None:
    """All together, and in a soak each file by itself, at 1,400 pixels and on a phone."""
    files = sorted(path for folder in ("mq", "rmf") for path in (shared_data / folder).iterdir())
    assert files
    page = tmp_path / "real.html"
    for several in (*([one] for one in files if SOAK), files):
        with Pdb.temporary() as pdb:
            results = ingest(several, pdb)
            connection = pdb.connect()
            report = build(Inputs(connection), readings_of(connection, results=results))
        page.write_text(render_html(report), encoding="utf-8")
        names = [one.name for one in several]
        for width in (PHONE, 1400):
            _opened(browser, page, width=width)
            assert browser.run("return document.documentElement.scrollWidth") <= width, names
            assert _overprinted(browser.run(_LABELS)) == [], names
            assert browser.run(_WRAPPED) == [], names
        assert browser.run(_SCROLLING) == [], names


@pytest.mark.parametrize("width", [LAPTOP, 1400, WIDE])
def test_what_a_finding_costs_is_seen_without_scrolling(browser: chromium.Browser, page: Path, width: int) -> None:
    _opened(browser, page, width=width)
    places = browser.run(
        "return [...document.querySelectorAll('.advice .cost')].map(e => e.getBoundingClientRect().right).concat("
        "[...document.querySelectorAll('.advice thead th')].filter(h => h.textContent.toLowerCase().includes('cost'))"
        ".map(h => h.getBoundingClientRect().right))"
    )
    assert len(places) > 5
    assert all(0 < right <= width for right in places)


@pytest.mark.parametrize("width", [PHONE, 1400])
def test_the_first_column_stays_while_a_table_scrolls(
    seen: Callable[..., dict[str, Any]], page: Path, width: int
) -> None:
    moved = seen(page, width)["moved"]
    assert moved and set(moved) == {0}


def test_numbers_are_set_flush_right_under_their_heads(browser: chromium.Browser, page: Path) -> None:
    """Digits of one column end at one place, and so does its head."""
    _opened(browser, page, width=1400)
    ragged = browser.run(
        "const found = []; for (const table of document.querySelectorAll('.scroll table')) {"
        " const heads = [...table.querySelectorAll('thead tr:last-child th')];"
        " for (const row of table.querySelectorAll('tbody tr')) [...row.cells].forEach((cell, n) => {"
        "  if (!cell.classList.contains('num')) return;"
        "  const right = heads[n].classList.contains('num') && getComputedStyle(cell).textAlign === 'right';"
        "  if (!right) found.push(cell.textContent);"
        " }); } return found"
    )
    assert ragged == []
