"""Tasks of an analyst's day in headless Chromium: at most four clicks each, and the answer is that of SQL.

All thirty take some 100 s of CPU: five run each time, and all with ``PLEXLENS_UPDATE_TASKS=1``, which writes the table
of docs/serve.md.
"""

from __future__ import annotations

import io
import os
import re
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from selenium.common.exceptions import StaleElementReferenceException
from selenium.webdriver.common.by import By
from selenium.webdriver.remote.webelement import WebElement

import plexlens as px
from tests.conftest import REPOSITORY
from tests.report.browser import Browser
from tests.serve.analyst_day import TASKS, Task
from tests.serve.server import Server, serving

MOST_CLICKS = 4

#: The chain of one question after the other: search, split, figure, table, row, records.
SHORT = (0, 1, 4, 9, 12)

_RUN = TASKS if os.environ.get("PLEXLENS_UPDATE_TASKS") else [TASKS[number] for number in SHORT]

_PAGE = REPOSITORY / "docs" / "serve.md"
_BEGIN, _END = "<!-- tasks: written by tests/serve/test_analyst_day.py -->", "<!-- end of tasks -->"

#: A cell by the text of a row's cells (all of those named, separated by commas) and the head of its column.
_CELL = """
const [name, wanted, head] = arguments;
const table = document.querySelector(`#table-${name} table`);
const heads = [...table.querySelectorAll('thead tr:last-child th')];
const title = (th) => (th.querySelector('button') || th).textContent.replaceAll('\\u00ad', '').trim();
const column = heads.findIndex((th) => title(th) === head);
const parts = wanted ? wanted.split(', ') : [];
const row = [...table.tBodies[0].rows].find((one) =>
  parts.every((part) => [...one.cells].some((cell) => cell.textContent.trim() === part)));
return row.cells[column];
"""


@pytest.fixture(scope="module")
def server(two_weeks: Path) -> Iterator[Server]:
    with serving(two_weeks) as running:
        yield running


class Analyst:
    """A person at the browser, whose clicks are counted."""

    def __init__(self, browser: Browser, server: Server) -> None:
        self.browser, self.server, self.clicks = browser, server, 0
        self.sheet: list[list[Any]] = []

    @property
    def driver(self) -> Any:
        return self.browser.driver

    def until(self, found: Callable[[], Any]) -> Any:
        """What is found, once it is there."""
        end = time.monotonic() + 60
        while True:
            try:
                one = found()
            except StaleElementReferenceException:
                one = None
            if one:
                return one
            assert time.monotonic() < end, f"not found on {self.driver.current_url}"
            time.sleep(0.02)

    @contextmanager
    def answered(self) -> Iterator[None]:
        """Count a click, and wait until it has led to another page or part of one."""
        self.clicks += 1
        self.browser.run("document.getElementById('main').dataset.before = 'yes'")
        yield
        script = "return document.readyState === 'complete' && !document.querySelector('#main[data-before]')"
        self.until(lambda: self.browser.run(script))

    def follow(self, link: WebElement) -> None:
        with self.answered():
            self.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", link)
            link.click()

    def link(self, text: str, within: str = "main") -> WebElement:
        """The visible link of this text."""
        listed = self.driver.find_elements(By.CSS_SELECTOR, f"{within} a")
        found: WebElement = next(one for one in listed if one.is_displayed() and one.text.strip() == text)
        return found

    def do(self, step: str) -> None:
        """A step of a task."""
        kind, _, text = step.partition(" ")
        parts = [part.strip() for part in text.split("|")]
        if kind == "find":
            self.clicks += 1
            self.driver.find_element(By.ID, "q").send_keys(parts[0])
            path, _, metric = parts[1].partition(".")
            chosen = f"#suggested a[href^='/grain/{path}?'][href*='metric={metric}']"
            self.follow(self.until(lambda: self.driver.find_elements(By.CSS_SELECTOR, chosen))[0])
        elif kind == "type":
            self.clicks += 1
            self.driver.find_element(By.CSS_SELECTOR, parts[0]).send_keys(parts[1])
        elif kind == "run":
            self.follow(self.driver.find_element(By.CSS_SELECTOR, ".ask button"))
        elif kind == "file":
            self.clicks += 1
            address = self.link(text).get_attribute("href")
            with urllib.request.urlopen(address) as answer:
                book = openpyxl.load_workbook(io.BytesIO(answer.read()))
            self.sheet = [[cell.value for cell in row] for sheet in book for row in sheet.iter_rows()]
        elif kind in ("number", "row"):
            cell = self.browser.run(_CELL, parts[0], parts[1], parts[2] if kind == "number" else "Structure")
            row = cell.find_element(By.XPATH, "..")
            self.follow((cell if kind == "number" else row).find_element(By.CSS_SELECTOR, "a.n, a.lead"))
        elif kind == "value":
            named = "a => a.ariaLabel.startsWith(arguments[0] + ':')"
            script = f"return [...document.querySelectorAll('dd.value a')].find({named})"
            self.follow(self.browser.run(script, text))
        else:
            within = {"nav": "nav.contents", "time": "nav[aria-label=Time]", "split": "nav[aria-label='Split by']"}
            self.follow(self.link(text, within.get(kind, "main")))

    def answer(self, where: str) -> str:
        """The text that stands there."""
        kind, _, text = where.partition(" ")
        parts = [part.strip() for part in text.split("|")]
        if kind == "sheet":
            row = next(row for row in self.sheet if text in row and any(isinstance(cell, float) for cell in row))
            return str(next(cell for cell in row if isinstance(cell, float)))
        if kind == "cell":
            return str(self.browser.run(f"return (function() {{{_CELL}}})(...arguments).textContent.trim()", *parts))
        if kind in ("first", "last"):
            script = f"return document.querySelector('#table-{text} tbody tr:{kind}-child th').textContent.trim()"
            return str(self.browser.run(script))
        if kind == "css":
            return str(self.browser.run("return document.querySelector(arguments[0]).textContent.trim()", text))
        script = (
            "const one = [...document.querySelectorAll('.figure')].find("
            "f => f.querySelector('dt').firstChild.data.trim() === arguments[0]);"
            " const e = one.querySelector('dd.' + arguments[1]);"
            " const unit = e.querySelector('.unit');"
            "return e.textContent.slice(0, e.textContent.length - (unit ? unit.textContent.length : 0)).trim()"
        )
        return str(self.browser.run(script, text, "value" if kind == "figure" else "detail"))


def _agrees(shown: str, expected: Any, factor: float) -> bool:
    """Whether a text says the value: the same words, or the number as it is rounded there."""
    if isinstance(expected, str):
        return shown == expected
    digits = len(shown.partition(".")[2])
    return abs(float(shown.replace(",", "")) - float(expected) * factor) <= 0.5001 * 10.0**-digits


@pytest.fixture(scope="module")
def results() -> Iterator[dict[str, tuple[int, str]]]:
    """Clicks and answer of each task; written into the documentation on request."""
    held: dict[str, tuple[int, str]] = {}
    yield held
    if os.environ.get("PLEXLENS_UPDATE_TASKS") and len(held) == len(TASKS):
        lines = ["| question | clicks | answer |", "|---|---:|---|"]
        lines += [f"| {one} | {clicks} | {said} |" for one, (clicks, said) in held.items()]
        text = _PAGE.read_text()
        before, _, rest = text.partition(_BEGIN)
        _PAGE.write_text(f"{before}{_BEGIN}\n\n" + "\n".join(lines) + f"\n\n{_END}{rest.partition(_END)[2]}")


@pytest.mark.parametrize("task", _RUN, ids=[re.sub(r"\W+", "-", task.question) for task in _RUN])
def test_task(
    browser: Browser, server: Server, two_weeks: Path, task: Task, results: dict[str, tuple[int, str]]
) -> None:
    browser.open(server.address, width=1400)
    analyst = Analyst(browser, server)
    for step in task.steps:
        analyst.do(step)
    shown = analyst.answer(task.answer)
    with px.open(two_weeks) as pdb:
        ((expected,),) = [tuple(row.values()) for row in pdb.sql(task.sql).arrow().to_pylist()]
    assert _agrees(shown, expected, task.factor), (shown, expected)
    assert analyst.clicks <= MOST_CLICKS
    assert browser.messages() == []
    asked = [url for url in browser.requests() if not url.startswith((server.address, "data:", "about:"))]
    assert asked == []
    results[task.question] = (analyst.clicks, shown.replace("|", "/"))


def test_there_are_thirty_and_the_documentation_has_them() -> None:
    assert len(TASKS) >= 30
    text = _PAGE.read_text()
    assert [task.question for task in TASKS if f"| {task.question} |" not in text] == []
