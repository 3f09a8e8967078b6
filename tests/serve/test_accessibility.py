"""Rules of accessibility (axe-core, WCAG 2.2 A and AA) on every kind of page, in light and dark; print; keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.report.accessibility import violations
from tests.report.browser import Browser
from tests.serve.server import Server, serving

#: Findings of a day of the example, which is judged in seconds.
DAY = "findings?from=2008-09-04&to=2008-09-04"

#: A page of every kind, with what a page of the kind may have: charts, chips, findings, rows, an answer.
PAGES = (
    "", DAY, "page/findings", "page/read", "page/coupling?system=SYS1", "page/cpu",
    "page/workload", "page/db2", "page/db2_accounting?from=2008-09-03&to=2008-09-04", "page/rmf_reports",
    "grain/coupling_structure?by=structure&where=system%3DSYS1&part=coupling_locks",
    "grain/db2_pool?metric=hit_fraction&from=2008-09-04T00:00&to=2008-09-05T00:00", "find?q=R744SSTM", "find?q=zzz",
    "find", "records/db2_pool", "ask", "ask?query=select+1", "cost", "cost?saves=DB2DDF%3D10&goals=judged",
)  # fmt: skip


#: All that is folded is opened, and nothing is half scrolled out of a table's box, where it would be a small target.
_OPENED = """
document.querySelectorAll('details').forEach(d => { d.open = true; });
document.querySelectorAll('.scroll').forEach(one => { one.style.overflow = 'visible'; });
"""


@pytest.fixture(scope="module")
def server(pdb: Path) -> Iterator[Server]:
    with serving(pdb) as running:
        yield running


@pytest.mark.parametrize("page", PAGES)
def test_no_rule_is_violated(browser: Browser, server: Server, page: str) -> None:
    found = {}
    for dark in (False, True):
        browser.open(f"{server.address}{page}", width=1400, dark=dark)
        browser.run(_OPENED)
        found["dark" if dark else "light"] = violations(browser)
    assert found == {"light": [], "dark": []}


@pytest.mark.parametrize(
    "page", ["", "findings?from=2008-09-04&to=2008-09-04", "page/coupling", "grain/db2_pool", "ask", "cost"]
)
def test_no_rule_is_violated_on_a_phone(browser: Browser, server: Server, page: str) -> None:
    browser.open(f"{server.address}{page}", width=390)
    assert violations(browser) == []


def test_the_rules_find_something(browser: Browser, server: Server) -> None:
    """The check can fail: a picture without a text, and letters that cannot be told from the ground."""
    browser.open(f"{server.address}ask")
    browser.run(
        "const p = document.createElement('p'); p.style.color = '#aaa'; p.textContent = 'hardly seen';"
        " document.querySelector('main').append(p, document.createElement('img'));"
    )
    found = " ".join(violations(browser))
    assert "image-alt" in found
    assert "color-contrast" in found


def test_an_answer_has_no_violation(browser: Browser, server: Server) -> None:
    browser.open(f"{server.address}ask")
    query = "select system, sum(requests_per_second) as requests from coupling_structure group by all order by 1"
    browser.driver.find_element(By.ID, "query").send_keys(query)
    browser.driver.find_element(By.CSS_SELECTOR, ".ask button").click()
    browser.until("document.querySelector('#table-answer')")
    assert violations(browser) == []


def _tab_to(browser: Browser, selector: str) -> None:
    """Press Tab until an element that meets the selector has the focus, which must be seen."""
    for _ in range(200):
        browser.driver.switch_to.active_element.send_keys(Keys.TAB)
        there, outline = browser.run(
            "const e = document.activeElement; return [e.matches(arguments[0]), getComputedStyle(e).outlineStyle]",
            selector,
        )
        if there:
            assert outline != "none"
            return
    raise AssertionError(f"Tab does not lead to {selector}")


def test_a_walk_without_a_mouse(browser: Browser, server: Server) -> None:
    """From the search to a number, to its parts, along the row to another number, to the definition and the records."""
    driver = browser.driver
    browser.open(server.address)
    driver.find_element(By.TAG_NAME, "body").send_keys("/")
    assert browser.run("return document.activeElement.id") == "q"
    driver.switch_to.active_element.send_keys("sync_service_time coupling_structure")
    browser.until("document.querySelector('#suggested a')?.href.includes('metric=sync_service_time')")
    driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.until("location.pathname === '/grain/coupling_structure'")
    browser.until("document.readyState === 'complete'")
    _tab_to(browser, "#table-rows a.lead")
    driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    assert browser.run("return document.activeElement.matches('td a.n')")
    driver.switch_to.active_element.send_keys(Keys.ARROW_DOWN)
    assert browser.run("return document.activeElement.closest('tr').rowIndex") == 2
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.until("document.querySelectorAll('.chips li').length === 1")
    browser.until("document.activeElement.id === 'main'")
    _tab_to(browser, "a[href^='/records/']")
    driver.switch_to.active_element.send_keys(Keys.ENTER)
    browser.until("location.pathname.startsWith('/records/')")
    assert browser.messages() == []


@pytest.mark.parametrize(
    "page", ["findings?from=2008-09-04&to=2008-09-04", "page/coupling", "grain/coupling_structure", "cost"]
)
def test_on_paper_nothing_is_left_of_what_only_a_screen_needs(browser: Browser, server: Server, page: str) -> None:
    browser.open(f"{server.address}{page}", media="print")
    seen = browser.run(
        "return [...document.querySelectorAll('.search, .side, .look .picks, .selecting, .ways, .ways-in, button')]"
        ".filter(e => e.offsetParent !== null && !e.matches('.sort')).map(e => e.outerHTML.slice(0, 80))"
    )
    assert seen == []
    assert browser.run("return document.querySelector('h1').offsetParent !== null")
    assert len(browser.pdf()) > 10_000
