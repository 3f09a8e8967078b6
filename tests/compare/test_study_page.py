"""Pages of a study and of the ways into CICS in headless Chromium: they open, fit the screen, draw what they say."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import lxml.html
import pytest

from plexlens.compare.analysis.ways_in import Wish, advise
from plexlens.compare.page.study import study_report
from plexlens.compare.page.ways_in import ways_report
from plexlens.report import render_html
from tests.compare.audited import analysed, audited
from tests.report import browser as chromium
from tests.report.test_browser import LAPTOP, PHONE, SCREENSHOTS


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("study")
    found = {}
    for name, report in (
        ("study", study_report([audited("cics-2012")], [analysed("cics-2012")])),
        ("ways-in", ways_report(advise(Wish(8192, 2000, extrapolate=True)))),
    ):
        found[name] = folder / f"{name}.html"
        found[name].write_text(render_html(report), encoding="utf-8")
    return found


@pytest.mark.parametrize("width", [PHONE, LAPTOP])
@pytest.mark.parametrize("name", ["study", "ways-in"])
def test_it_fits_without_errors_or_requests(
    name: str, width: int, browser: chromium.Browser, pages: dict[str, Path]
) -> None:
    browser.open(pages[name], width=width)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    assert browser.messages() == []
    assert len(browser.requests()) == 1
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    browser.screenshot(SCREENSHOTS / f"{name}-{width}.png")


def test_every_curve_is_drawn_and_its_numbers_lead_somewhere(browser: chromium.Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["study"])
    assert browser.run("return document.querySelectorAll('figure.chart .area svg').length") == 7
    lost = browser.run(
        "return [...document.querySelectorAll('a.def')].map(a => a.getAttribute('href').slice(1))"
        ".filter(id => !document.getElementById(id))"
    )
    assert lost == []


def test_what_disagrees_is_marked_where_it_stands(browser: chromium.Browser, pages: dict[str, Path]) -> None:
    """Table 10 prints 1.548 ms where its columns add up to 1.3397."""
    browser.open(pages["study"])
    text = browser.run("return document.getElementById('table-table-10-printed').textContent")
    assert "1.548 \u2260 1.3397" in text
    assert "1.235 \u2713" in text


def test_extrapolated_ways_say_so_first(browser: chromium.Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["ways-in"])
    assert "NOT measured" in browser.run("return document.querySelector('[role=alert]').textContent")


def test_findings_and_the_audit_lead_to_the_tables_and_many_tables_are_folded_in_the_contents() -> None:
    html = render_html(study_report([audited("cics-2012")], [analysed("cics-2012")]))
    page = lxml.html.fromstring(html)
    ids = set(page.xpath("//section/@id"))
    linked = page.xpath("//*[@id='table-cics-2012-tables']//tbody//th/a/@href")
    assert len(linked) == 28
    assert {place.removeprefix("#") for place in linked} <= ids
    found = page.xpath("//section[@id='cics-2012-findings']//li/a/@href")
    assert found
    assert {place.removeprefix("#") for place in found} <= ids
    # 22 tables with numbers in two groups, the averages alone, the examples.
    groups = page.xpath("//nav//details/summary/text()")
    assert len(groups) >= 2
    assert {place.removeprefix("#") for place in page.xpath("//nav//a/@href")} >= ids - {"definitions"}


def test_printed_numbers_stand_to_the_right_with_their_marks() -> None:
    page = lxml.html.fromstring(render_html(study_report([audited("cics-2012")], [analysed("cics-2012")])))
    cells = page.xpath("//*[@id='table-table-01-printed']//tbody//td")
    assert cells
    assert all("num" in cell.get("class") for cell in cells)


def test_stacked_bars_are_drawn_with_their_parts() -> None:
    """Each bar's parts lie end to end, as long as their values beside the largest sum."""
    page = lxml.html.fromstring(render_html(study_report([audited("cics-2012")], [analysed("cics-2012")])))
    bars = page.xpath("//svg[@class='stack']")
    assert bars
    ends = [[[float(n) for n in re.findall(r"[\d.]+", path.get("d"))] for path in bar] for bar in bars]
    for parts in ends:
        assert parts[0][0] == 0.0
        assert all(left[2] == right[0] for left, right in pairwise(parts))
    assert max(parts[-1][2] for parts in ends) == pytest.approx(1000.0)
