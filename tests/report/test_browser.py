"""The page in headless Chromium: it opens without a network, reads at every width, sorts, filters and prints.

Facts are made up (`tests.report.made_up`) for every grain there is, so that every page of the report is in it.
Screenshots go to ``.build/screenshots``, to be looked at.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.metrics import GRAINS
from plexlens.report.pages import PAGES
from tests.conftest import REPOSITORY
from tests.report import browser as chromium

SCREENSHOTS = REPOSITORY / ".build" / "screenshots"

PHONE, LAPTOP, WIDE, UHD = 390, 1280, 2560, 3840

#: Paper in landscape less the margins of the style sheet, in CSS pixels: A4 is 297 mm wide, a pixel 25.4 / 96 mm.
PAPER = round((297 - 2 * 11) / 25.4 * 96)

SECTIONS = ["findings", "read", "summary", "timeline", *(page.id for page in PAGES if page.grains), "definitions"]


def test_missing_programs_are_named_with_their_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chromium.shutil, "which", lambda program: None)
    assert chromium.missing() == "the browser tests need: apt-get install chromium chromium-driver"
    monkeypatch.setattr(chromium.shutil, "which", lambda program: program if program == "chromium" else None)
    assert chromium.missing() == "the browser tests need: apt-get install chromium-driver"


def test_it_opens_without_errors_or_requests(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    assert browser.messages() == []
    requests = browser.requests()
    assert requests[0] == page.as_uri()
    assert [url for url in requests[1:] if not url.startswith("data:")] == []


def test_every_section_is_there(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    assert browser.run("return [...document.querySelectorAll('section.part')].map(s => s.id)") == SECTIONS
    listed = browser.run("return [...document.querySelectorAll('.contents a')].map(a => a.hash.slice(1))")
    assert listed == SECTIONS
    assert browser.run("return document.querySelectorAll('h1').length") == 1
    assert browser.run("return [...document.querySelectorAll('.note.loss strong')].length") == 2


@pytest.mark.parametrize("width", [320, PHONE, 768, LAPTOP, WIDE, UHD])
def test_nothing_is_wider_than_the_screen(browser: chromium.Browser, page: Path, width: int) -> None:
    browser.open(page, width=width)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.run("return document.documentElement.scrollWidth") <= width
    # What is wider than its own box scrolls inside it, and nothing else is cut off. The area in which a definition's
    # sign can be hit is larger than the sign on purpose.
    wide = browser.run(
        "const sign = '.def { margin: 0; width: .9em; overflow: hidden }';"
        "document.head.insertAdjacentHTML('beforeend', `<style>${sign}</style>`);"
        "return [...document.querySelectorAll('main *')].filter(e => getComputedStyle(e).overflowX === 'visible'"
        " && !e.closest('.scroll, svg, .hidden, pre, .plot') && e.scrollWidth > e.clientWidth + 1"
        " && e.clientWidth > 0).map(e => e.outerHTML.slice(0, 120))"
    )
    assert wide == []


def test_text_is_large_enough_to_read(browser: chromium.Browser, page: Path) -> None:
    for width in (PHONE, LAPTOP, WIDE, UHD):
        browser.open(page, width=width)
        small = browser.run(
            "const found = new Set(); for (const e of document.querySelectorAll('main *, .side *')) {"
            " if ([...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) && !e.closest('.def, script'))"
            " found.add(parseFloat(getComputedStyle(e).fontSize)); } return Math.min(...found);"
        )
        assert small >= 11
    # On a 4K screen at its own resolution the page's letters grow with it.
    assert browser.run("return parseFloat(getComputedStyle(document.documentElement).fontSize)") >= 20


def _column(browser: chromium.Browser, table: str, index: int) -> list[str]:
    found: list[str] = browser.run(
        "return [...document.querySelectorAll(`#table-${arguments[0]} tbody tr`)]"
        ".map(r => r.cells[arguments[1]].textContent.trim())",
        table,
        index,
    )
    return found


def _numbers(cells: list[str]) -> list[float]:
    """Shown numbers; nulls become infinite so that they can stand last only."""
    return [float("inf") if cell == "\u2013" else float(cell.replace(",", "").lstrip("<>")) for cell in cells]


def _press(browser: chromium.Browser, table: str, index: int) -> str:
    """Press Enter on the head of a column, as the keyboard does; returns the head's order afterwards."""
    button = browser.run(
        "const b = document.querySelector(`#table-${arguments[0]} thead tr:last-child`).cells[arguments[1]]"
        ".querySelector('button'); b.focus(); return b;",
        table,
        index,
    )
    button.send_keys("\n")
    order: str = browser.run("return arguments[0].closest('th').getAttribute('aria-sort')", button)
    return order


def test_a_press_on_a_head_sorts(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    heads = browser.run(
        "return [...document.querySelectorAll('#table-coupling_structures thead tr:last-child th')]"
        ".map(h => [h.className, h.getAttribute('aria-sort')])"
    )
    numeric = [index for index, (name, _) in enumerate(heads) if "num" in name]
    assert sum(order == "descending" for _, order in heads) == 1
    for index in numeric[:4]:
        order = _press(browser, "coupling_structures", index)
        numbers = _numbers(_column(browser, "coupling_structures", index))
        known = [number for number in numbers if number != float("inf")]
        assert known == sorted(known, reverse=order == "descending")
        assert numbers[: len(known)] == known
        assert _press(browser, "coupling_structures", index) != order
    order = _press(browser, "coupling_structures", 1)
    assert order == "ascending"
    names = _column(browser, "coupling_structures", 1)
    assert names == sorted(names)
    marked = "return document.querySelectorAll('#table-coupling_structures [aria-sort]:not([aria-sort=none])').length"
    assert browser.run(marked) == 1


def test_nulls_stand_last_either_way(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    browser.run(
        "const t = document.querySelector('#table-coupling_structures tbody');"
        "for (const n of [0, 2]) { const c = t.rows[n].cells[3]; c.textContent = '\u2013';"
        " c.className = 'num null'; delete c.dataset.v; }"
    )
    for _ in range(2):
        _press(browser, "coupling_structures", 3)
        assert [cell == "\u2013" for cell in _column(browser, "coupling_structures", 3)].index(True) == (
            len(_column(browser, "coupling_structures", 3)) - 2
        )


def test_long_tables_show_their_first_rows_until_asked(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    rows = "[...document.querySelectorAll('#table-coupling_structures tbody tr')]"
    seen = f"return {rows}.filter(r => r.offsetHeight).length"
    total = len(_column(browser, "coupling_structures", 0))
    assert browser.run(seen) == 20 < total
    button = browser.driver.find_element("css selector", "#table-coupling_structures .show")
    assert button.text == f"Show all {total} rows"
    browser.run("arguments[0].click()", button)
    assert browser.run(seen) == total
    browser.run("arguments[0].click()", button)
    assert browser.run(seen) == 20


def test_a_filter_keeps_the_rows_with_all_its_words(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    names = _column(browser, "coupling_structures", 1)
    field = browser.driver.find_element("css selector", "#table-coupling_structures .filter")
    field.send_keys("cf01 gbp")
    left = browser.run(
        "return [...document.querySelectorAll('#table-coupling_structures tbody tr')].filter(r => r.offsetHeight)"
        ".map(r => r.cells[0].textContent.trim() + ' ' + r.cells[1].textContent.trim())"
    )
    assert left
    assert all("CF01" in name and "GBP" in name for name in left)
    assert len(left) == sum("GBP" in name for name in names) / 2


def test_a_row_leads_to_its_parts(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    names = _column(browser, "db2_pools", 0)
    subsystem = _column(browser, "db2_subsystems", 0)[0]
    browser.run("document.querySelector('#table-db2_subsystems a.drill').click()")
    found = browser.run("return document.querySelector('#table-db2_pools .filter').value")
    assert found == f'"{subsystem}"'
    left = browser.run(
        "return [...document.querySelectorAll('#table-db2_pools tbody tr:not(.out)')]"
        ".map(r => r.cells[0].textContent.trim())"
    )
    assert left == [subsystem] * names.count(subsystem)
    assert 0 < len(left) < len(names)


def test_a_head_shows_its_definition(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('#table-coupling_structures .def[href$=\"sync_service_time\"]').focus()")
    told = browser.run("const p = document.querySelector('.popover'); return p.hidden ? '' : p.textContent")
    metric = GRAINS["coupling_structure"].metric("sync_service_time")
    assert metric.words in told
    assert metric.source in told
    browser.driver.switch_to.active_element.send_keys("\ue00c")
    assert browser.run("return document.querySelector('.popover').hidden")


def test_a_chart_can_be_read_with_the_keyboard(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    browser.run("document.querySelector('#chart-cf_utilization_course .plot').focus()")
    browser.driver.switch_to.active_element.send_keys("\ue014\ue014")
    told = browser.run("return document.querySelector('.reading').textContent")
    # The second quarter of an hour from 06:00 UTC, in the local time of the readings (UTC-05:00).
    assert "2026-03-09 01:15 UTC-05:00" in told
    assert "CF01" in told
    # The line stands at the same time in every chart of that time.
    assert browser.run("return document.querySelectorAll('.cursor:not([hidden])').length") > 5


def test_colours_follow_the_system_and_the_choice(browser: chromium.Browser, page: Path) -> None:
    background = "return getComputedStyle(document.body.parentElement).backgroundColor"
    browser.open(page)
    light = browser.run(background)
    browser.open(page, dark=True)
    dark = browser.run(background)
    assert light != dark
    line = "return getComputedStyle(document.querySelector('.line.c1')).stroke"
    assert browser.run(line) == "rgb(83, 161, 227)"
    button = browser.driver.find_element("css selector", ".theme")
    assert button.text == "Light"
    button.click()
    assert browser.run(background) == light
    assert browser.run(line) == "rgb(0, 101, 165)"


def test_the_contents_open_on_a_phone(browser: chromium.Browser, page: Path) -> None:
    browser.open(page, width=PHONE)
    seen = "return document.querySelector('.contents').offsetHeight > 0"
    assert not browser.run(seen)
    button = browser.driver.find_element("css selector", ".open-contents")
    button.click()
    assert browser.run(seen)
    assert button.get_attribute("aria-expanded") == "true"
    browser.driver.find_element("css selector", ".contents a[href='#coupling']").click()
    assert not browser.run(seen)
    browser.open(page, width=LAPTOP)
    assert browser.run(seen)


def test_paper_cuts_nothing(browser: chromium.Browser, page: Path) -> None:
    browser.open(page, width=PAPER, media="print", dark=True)
    browser.run("dispatchEvent(new Event('beforeprint'))")
    cut = browser.run(
        "return [...document.querySelectorAll('.scroll, .card, main')].filter(e => e.scrollWidth > e.clientWidth + 1)"
        ".map(e => (e.closest('[id]') || e).id + ' ' + e.scrollWidth)"
    )
    assert cut == []
    assert browser.run("return document.querySelectorAll('details:not([open])').length") == 0
    assert browser.run("return getComputedStyle(document.querySelector('.side')).display") == "none"
    assert browser.run("return getComputedStyle(document.querySelector('.line.c1')).stroke") == "rgb(0, 101, 165)"
    browser.run("dispatchEvent(new Event('afterprint'))")
    assert browser.run("return document.querySelectorAll('details[open]').length") == 0


def test_it_prints(browser: chromium.Browser, page: Path) -> None:
    browser.open(page)
    pdf = browser.pdf()
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    (SCREENSHOTS / "report.pdf").write_bytes(pdf)
    assert pdf.startswith(b"%PDF-")
    # Every section starts a sheet; with 48 made-up entities each it needs a score of them at most.
    sheets = pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ")
    assert len(SECTIONS) <= sheets < 20 * len(SECTIONS)


def test_without_scripts_every_row_can_be_read(browser: chromium.Browser, page: Path) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(page)
        rows = browser.driver.find_elements("css selector", "#table-coupling_structures tbody tr")
        assert len(rows) > 20
        assert all(row.is_displayed() for row in rows)
        assert browser.driver.find_element("css selector", ".contents").is_displayed()
        assert not browser.driver.find_element("css selector", ".theme").is_displayed()
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [PHONE, LAPTOP, WIDE])
def test_screenshots(browser: chromium.Browser, page: Path, width: int, dark: bool) -> None:
    browser.open(page, width=width, dark=dark)
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    path = SCREENSHOTS / f"report-{width}-{'dark' if dark else 'light'}.png"
    browser.screenshot(path)
    assert path.stat().st_size > 50_000
