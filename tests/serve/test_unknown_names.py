"""Addresses that name what is not there: no page answers as if it had been named rightly."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
from starlette.types import ASGIApp

from tests.serve.client import ask

#: An address of each kind, and the parameters that it has beside those of the selection.
PAGES = {
    "/": (),
    "/page/coupling": (),
    "/page/coupling/tables.csv": (),
    "/grain/coupling_structure": ("metric", "by", "where"),
    "/grain/coupling_structure/rows.csv": ("metric", "by", "where"),
    "/records/coupling_structure": ("metric", "by", "where"),
    "/findings": (),
    "/find?q=sync": (),
    "/report.html": (),
    "/api/v1/views/coupling_structure/rows": ("metric", "by", "where", "every"),
}

#: A value that cannot be right, its status, and a word of the remedy.
WRONG = {
    "system": ("NOSYSTEM", 404, "SYS1"),
    "class": ("NOCLASS", 404, ""),
    "from": ("2031-02-30", 400, "2008-09-03"),
    "to": ("yesterday", 400, "2008-09-03"),
    "shift": ("noon", 400, "mon-fri"),
    "metric": ("no_such_metric", 400, "sync_service_time"),
    "by": ("no_such_key", 400, "structure"),
    "where": ("no_such_key=1", 400, "structure"),
    "every": ("fortnight", 400, "hour"),
}

_CASES = [(page, name) for page, names in PAGES.items() for name in ("system", "class", "from", "to", "shift", *names)]


@pytest.mark.parametrize(("page", "name"), _CASES)
def test_a_name_that_is_not_there(app: ASGIApp, page: str, name: str) -> None:
    value, status, remedy = WRONG[name]
    answer = ask(app, f"{page}{'&' if '?' in page else '?'}{urlencode({name: value})}")
    said = json.dumps(json.loads(answer.text)["error"]) if page.startswith("/api") else answer.words
    assert answer.status == status, said
    assert value.partition("=")[0] in said
    assert remedy in said


@pytest.mark.parametrize("page", PAGES)
def test_a_time_without_data_is_said(app: ASGIApp, page: str) -> None:
    answer = ask(app, f"{page}{'&' if '?' in page else '?'}from=2031-01-01")
    if page == "/findings":
        assert answer.status == 200
        assert "no day with data" in answer.words
    else:
        assert answer.status == 404
        assert "nothing matches" in answer.text.lower()


@pytest.mark.parametrize(
    "page",
    ["/page/nothing", "/grain/nothing", "/records/nothing", "/api/v1/views/nothing", "/api/v1/views/nothing/rows"],
)
def test_a_page_that_is_not_there(app: ASGIApp, page: str) -> None:
    answer = ask(app, page)
    assert answer.status == 404
    assert "nothing" in answer.text
