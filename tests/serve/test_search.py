"""Search of the catalogue: by title, name and field; what is there and what is not."""

from __future__ import annotations

import pytest
from starlette.types import ASGIApp

from plexlens.metrics import GRAINS
from tests.draws import SOAK
from tests.serve.client import ask


def _found(app: ASGIApp, words: str) -> list[str]:
    names: list[str] = ask(app, f"/find?q={words}").page.xpath("//ul[@class='found']/li/code/text()")
    return names


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ("coupling_structure.sync_service_time", "coupling_structure.sync_service_time"),
        ("performance+index", "workload_period.performance_index"),
        ("coupling+facilities", "coupling"),
        ("DB2+POOL", "db2_pool"),
    ],
)
def test_the_nearest_is_first(app: ASGIApp, words: str, first: str) -> None:
    assert _found(app, words)[0] == first


def test_a_field_finds_what_is_made_of_it(app: ASGIApp) -> None:
    """R744SSTM is the time of synchronous requests: a fact, and metrics whose formula has it."""
    found = _found(app, "r744sstm")
    assert "coupling_structure.sync_service_time" in found
    for name in found:
        grain, _, number = name.partition(".")
        column = GRAINS[grain].column(number)
        assert "R744SSTM" in getattr(column, "words", "") + column.source


@pytest.mark.drawn
def test_each_metric_is_found_by_its_name(app: ASGIApp) -> None:
    from plexlens.serve.search import found

    # A search looks at every number there is: one grain of four in make test, all in a soak.
    for grain in list(GRAINS.values())[:: 1 if SOAK else 4]:
        for metric in grain.metrics:
            names = [one.name for one in found(metric.name, lambda name: True)]
            assert f"{grain.name}.{metric.name}" in names[:40], metric.name


def test_what_the_catalogue_has_and_the_database_has_not(app: ASGIApp) -> None:
    words = ask(app, "/find?q=zzzz").words
    assert "No page or number with data has zzzz" in words
    assert "comes from" not in words
    words = ask(app, "/find?q=message+put+per+second+queue").words
    assert "comes from SMF 116" in words or "comes from SMF 115" in words


@pytest.mark.parametrize("query", ["", "q=", "q=%20", "q=%27%22%3C", "q=" + "x" * 200])
def test_odd_words(app: ASGIApp, query: str) -> None:
    assert ask(app, f"/find?{query}").status == 200


@pytest.mark.parametrize("query", ["q=" + "x" * 201, "q=a&q=b", "words=x", "q=%00"])
def test_wrong_parameters(app: ASGIApp, query: str) -> None:
    assert ask(app, f"/find?{query}").status == 400


def test_the_selection_goes_along(app: ASGIApp) -> None:
    page = ask(app, "/find?q=performance+index&system=SYS1").page
    assert all("system=SYS1" in one for one in page.xpath("//ul[@class='found']//a/@href"))
    page = ask(app, "/page/cpu?system=SYS1").page
    assert page.xpath("//form[@role='search']/input[@name='system']/@value") == ["SYS1"]
