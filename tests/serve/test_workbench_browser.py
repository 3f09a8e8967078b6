"""The server's pages in headless Chromium: drill by click, back, brush, keyboard; no message, no request elsewhere.

Screenshots go to ``.build/screenshots``, to be looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.conftest import REPOSITORY
from tests.report.browser import Browser
from tests.serve.server import Server, serving

SCREENSHOTS = REPOSITORY / ".build" / "screenshots"


@pytest.fixture(scope="module")
def server(pdb: Path) -> Iterator[Server]:
    with serving(pdb) as running:
        yield running


def _until(holds: Callable[[], object], what: str) -> None:
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, f"it does not come to pass that {what}"
        time.sleep(0.05)


def _chips(browser: Browser) -> list[str]:
    found: list[str] = browser.run("return [...document.querySelectorAll('.chips b')].map(b => b.textContent)")
    return found


def test_drill_by_click_and_back(browser: Browser, server: Server) -> None:
    browser.open(f"{server.address}grain/coupling_structure")
    browser.run("window.stays = true")
    row = browser.driver.find_element(By.CSS_SELECTOR, "#table-rows a.lead")
    system = row.text
    row.click()
    _until(lambda: _chips(browser) == [system], "the row's system is a filter")
    assert browser.run("return window.stays") is True, "the page was loaded anew and not swapped"
    assert "where=system" in browser.driver.current_url
    assert browser.run("return document.activeElement.id") == "main"
    assert browser.run("return document.querySelectorAll('#main').length") == 1
    # What was swapped in is prepared as at first: its table can be sorted.
    browser.run("document.querySelector('#table-rows th.num button').click()")
    assert browser.run("return document.querySelector('#table-rows th.num').ariaSort") == "ascending"
    browser.driver.find_element(By.CSS_SELECTOR, "#table-rows a.lead").click()
    _until(lambda: len(_chips(browser)) == 2, "there are two filters")
    browser.driver.back()
    _until(lambda: _chips(browser) == [system], "back takes the second filter away")
    browser.driver.back()
    _until(lambda: _chips(browser) == [], "back takes the first filter away")
    browser.driver.forward()
    _until(lambda: _chips(browser) == [system], "forward brings it back")
    browser.driver.find_element(By.CSS_SELECTOR, ".chips a").click()
    _until(lambda: _chips(browser) == [], "the chip takes its filter away")
    assert browser.messages() == []
    asked = [url for url in browser.requests() if not url.startswith((server.address, "data:"))]
    assert asked == []


def test_a_stretch_of_the_course_becomes_the_selection(browser: Browser, server: Server) -> None:
    browser.open(f"{server.address}grain/coupling_structure?system=SYS1")
    area = browser.driver.find_element(By.CSS_SELECTOR, "#course .plot .area")
    width = area.size["width"]
    ActionChains(browser.driver).move_to_element_with_offset(area, -width // 2 + 3, 0).click_and_hold().move_by_offset(
        width // 4, 0
    ).release().perform()
    _until(lambda: "from=" in browser.driver.current_url, "the address has a selection")
    assert "to=" in browser.driver.current_url
    (chip,) = _chips(browser)[:1]
    assert chip.startswith("1996-")
    assert browser.messages() == []


def test_keyboard_alone(browser: Browser, server: Server) -> None:
    browser.open(f"{server.address}grain/coupling_structure")
    body = browser.driver.find_element(By.TAG_NAME, "body")
    body.send_keys(Keys.TAB)
    assert browser.run("return document.activeElement.className") == "skip"
    seen = set()
    for _ in range(120):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        name, outline = browser.run(
            "const e = document.activeElement; return [e.className || e.tagName, getComputedStyle(e).outlineStyle]"
        )
        if name == "BODY":
            break
        seen.add(name)
        assert outline != "none", name
        if name == "lead":
            browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
            break
    _until(lambda: len(_chips(browser)) == 1, "Enter follows the row's link")


@pytest.mark.parametrize("width", [390, 1400, 3840])
@pytest.mark.parametrize(
    "path", ["", "page/findings", "grain/coupling_structure?by=structure", "records/db2_pool", "ask"]
)
def test_nothing_is_wider_than_the_screen(browser: Browser, server: Server, path: str, width: int) -> None:
    browser.open(f"{server.address}{path}", width=width, dark=width == 1400)
    assert browser.run("return document.documentElement.scrollWidth") <= width
    levels = browser.run("return [...document.querySelectorAll('h1,h2,h3,h4')].map(h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in pairwise(levels)), levels
    assert browser.run("return document.querySelectorAll('main').length") == 1
    bare = browser.run("return [...document.querySelectorAll('main table')].filter(t => !t.caption).length")
    assert bare == 0
    assert browser.messages() == []
    SCREENSHOTS.mkdir(parents=True, exist_ok=True)
    name = path.partition("?")[0].replace("/", "-") or "overview"
    browser.screenshot(SCREENSHOTS / f"serve-{name}-{width}.png", 2400)


def test_an_answer_in_sql(browser: Browser, server: Server) -> None:
    browser.open(f"{server.address}ask")
    browser.driver.find_element(By.ID, "query").send_keys("select 7 as seven")
    browser.driver.find_element(By.CSS_SELECTOR, ".ask button").click()
    browser.until("document.querySelector('#table-answer td, #table-answer th')")
    assert browser.messages() == []


def test_it_can_be_read_without_scripts(browser: Browser, server: Server) -> None:
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.driver.get(f"{server.address}grain/coupling_structure")
        browser.driver.find_element(By.CSS_SELECTOR, "#table-rows a.lead").click()
        assert "where=system" in browser.driver.current_url
        assert browser.driver.find_element(By.CSS_SELECTOR, ".chips b").text
    finally:
        browser.call("Emulation.setScriptExecutionDisabled", value=False)


def test_a_name_goes_into_the_query_by_mouse_and_keyboard(browser: Browser, server: Server) -> None:
    browser.open(f"{server.address}ask")
    query = browser.driver.find_element(By.ID, "query")
    query.send_keys("select  from")
    browser.run("document.getElementById('query').setSelectionRange(7, 7)")
    view = browser.driver.find_element(By.XPATH, "//details[.//button[@data-name='coupling_structure']]")
    view.find_element(By.TAG_NAME, "summary").click()
    view.find_element(By.CSS_SELECTOR, "li button[data-name=structure]").click()
    assert query.get_property("value") == "select structure from"
    # The cursor stands behind the name, in the query.
    assert browser.run("return [document.activeElement.id, document.activeElement.selectionStart]") == ["query", 16]
    browser.run("document.getElementById('query').setSelectionRange(99, 99)")
    view.find_element(By.CSS_SELECTOR, "p button").send_keys(Keys.ENTER)
    assert query.get_property("value") == "select structure from coupling_structure"
    assert browser.messages() == []
