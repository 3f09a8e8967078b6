"""Every number of a page of the report leads to its own page, which shows the same number."""

from __future__ import annotations

import pytest
from lxml import html
from starlette.types import ASGIApp

from plexlens.report.pages import PAGES
from tests.serve.client import ask

#: Numbers of evidence are of the intervals in which a condition holds; their links lead to the object at all times.
_OTHERS = ("findings", "read", "rmf_reports")


def _whole(app: ASGIApp, href: str) -> str:
    """The number at the top of the page of a grain, as written."""
    answer = ask(app, href)
    assert answer.status == 200, (href, answer.words)
    (value,) = answer.page.xpath("//section[@id='whole-number']//dd[@class='value'][1]")
    return str(value.xpath("string(text()|./a/text())")).strip()


@pytest.mark.parametrize("name", [page.id for page in PAGES if page.id not in _OTHERS])
def test_a_number_leads_to_the_same_number(app: ASGIApp, name: str) -> None:
    """Of each table every third number of the first row, and every key figure."""
    page = ask(app, f"/page/{name}").page
    links: list[html.HtmlElement] = page.xpath("//dd[@class='value']/a")
    for table in page.xpath("//table"):
        links += table.xpath("./tbody/tr[1]/td/a[@class='n']")[::3]
    for link in links:
        assert _whole(app, link.get("href")) == link.text_content().strip(), link.get("href")


@pytest.mark.parametrize("name", [page.id for page in PAGES if page.id not in _OTHERS])
def test_no_number_of_a_table_is_without_a_link(app: ASGIApp, name: str) -> None:
    """Known numbers of tables; those of heat maps are hours of a day, and the map leads to its number."""
    page = ask(app, f"/page/{name}").page
    bare = [
        (table.get("id"), cell.text_content().strip())
        for table in page.xpath("//*[starts-with(@id, 'table-') and not(contains(@id, '_hours_'))]")
        for cell in table.xpath(".//td[contains(@class, 'num') and not(contains(@class, 'null'))]")
        if not cell.xpath("./a")
    ]
    assert bare == []
    charts = page.xpath("//figure[contains(@class, 'chart')][not(.//p[contains(@class, 'ways-in')]/a)]/@id")
    assert [one for one in charts if "_hours_" not in one] == []


def test_the_selection_goes_along(app: ASGIApp) -> None:
    page = ask(app, "/page/coupling?system=SYS1&from=1996-05-29").page
    links = page.xpath("//a[@class='n' or @class='lead']/@href | //p[contains(@class, 'ways-in')]/a/@href")
    assert links
    assert all("system=SYS1" in one and "from=1996-05-29" in one for one in links)


def test_a_condition_of_a_table_is_a_chip_that_can_be_taken_away(app: ASGIApp) -> None:
    """The table of lock structures is of lock structures; its number over all structures is another one."""
    page = ask(app, "/grain/coupling_structure?part=coupling_locks&by=structure_type").page
    assert [one.text_content() for one in page.xpath("//*[@id='table-rows']//tbody/tr/th")] == ["lock"]
    (chip,) = page.xpath("//ul[@class='chips']/li/a")
    page = ask(app, chip.get("href")).page
    assert len(page.xpath("//*[@id='table-rows']//tbody/tr")) > 1
    assert page.xpath("//ul[@class='chips']") == []


def test_chips_of_the_selection(app: ASGIApp) -> None:
    page = ask(app, "/page/coupling?system=SYS1&system=SYS2&from=1996-05-29&to=1996-05-29").page
    chips = page.xpath("//ul[@class='chips']/li/a")
    assert [" ".join(one.text_content().split()[:-1]) for one in chips] == [
        "Time 1996-05-29", "System SYS1", "System SYS2",
    ]  # fmt: skip
    assert chips[1].get("href") == "/page/coupling?system=SYS2&from=1996-05-29&to=1996-05-29"


@pytest.mark.parametrize(
    ("query", "title", "href"),
    [
        ("from=2024-05-15T13:00&to=2024-05-15T14:00", "a day before", "from=2024-05-14T13%3A00&to=2024-05-14T14%3A00"),
        ("from=2024-05-15T13:00&to=2024-05-15T14:00", "a week before", "from=2024-05-08T13%3A00&to=2024-05-08T14%3A00"),
        ("from=2024-05-15T13:00&to=2024-05-15T14:00", "earlier", "from=2024-05-15T12%3A00&to=2024-05-15T13%3A00"),
        ("from=2024-05-15&to=2024-05-15", "later", "from=2024-05-16T00%3A00&to=2024-05-17T00%3A00"),
        ("from=2024-05-15T13:00Z&to=2024-05-15T14:00Z", "later", "from=2024-05-15T14%3A00%3A00Z&to=2024-05-15T15%3A00"
         "%3A00Z"),
        ("", "all", "/page/read"),
    ],
)  # fmt: skip
def test_other_times_are_a_link_away(app: ASGIApp, query: str, title: str, href: str) -> None:
    from datetime import datetime

    from starlette.datastructures import QueryParams

    from plexlens.metrics.selection.extent import Extent, SystemExtent
    from plexlens.serve.address import selecting, selection_of
    from plexlens.serve.times import steps

    last = datetime(2024, 5, 15, 13, 45)
    extent = Extent((SystemExtent("SYS1", (0.0,), last, last, (0.0,), last, last),), ())
    params = QueryParams(query.replace("+", "%2B"))
    selection, pairs = selection_of(params), selecting(params)
    listed = steps("/page/read", extent, selection, pairs, [], last_interval=(last, datetime(2024, 5, 15, 14)))
    found = {one.title: one.href for one in listed}
    assert found[title].endswith(href)
    assert found["last hour"].endswith("from=2024-05-15T13%3A00&to=2024-05-15T14%3A00")
    assert found["last interval"].endswith("from=2024-05-15T13%3A45&to=2024-05-15T14%3A00")
    assert found["last day"].endswith("from=2024-05-15T00%3A00&to=2024-05-16T00%3A00")


@pytest.mark.parametrize("query", ["from=0001-01-01&to=0001-01-01", "from=9999-12-31T22:00&to=9999-12-31T23:00"])
def test_the_ends_of_the_calendar_have_no_neighbours(app: ASGIApp, query: str) -> None:
    assert ask(app, f"/page/cpu?{query}").status == 404
    assert ask(app, f"/?{query}").status == 404
    assert ask(app, f"/findings?{query}").status == 200
