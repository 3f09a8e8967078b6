"""Attacks on the addresses for other programs, findings by day, search, and conditions of the report's blocks."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest
from starlette.types import ASGIApp

from plexlens.serve.app import application
from plexlens.serve.guard import Door
from plexlens.serve.workspace import Workspace
from tests.serve.client import Answer, ask
from tests.serve.test_attack import POISONS, STRUCTURE, hostile, is_harmless

__all__ = ["hostile"]

ROWS = "/api/v1/views/coupling_structure/rows"
PATHS = ("/api/v1", "/api/v1/views", "/api/v1/views/coupling_structure", ROWS, "/metrics", "/findings", "/find")
HOST = ("host", "127.0.0.1:8711")
TOKEN = "a token of one's own"


def _says_what_and_what_to_do(answer: Answer) -> bool:
    """Whether a refusal has words for a program or a reader."""
    kind = answer.headers["content-type"]
    if kind.startswith("application/json"):
        error = json.loads(answer.text)["error"]
        return bool(error["what"] and error["remedy"] and error["status"] == answer.status)
    if kind.startswith("text/html"):
        return is_harmless(answer) and len(answer.words) > 40
    return ";" in answer.text


@pytest.mark.parametrize("poison", POISONS, ids=range(len(POISONS)))
def test_every_parameter_takes_poison(app: ASGIApp, poison: str) -> None:
    """Refused or found nowhere, in words: never a defect, a script, or a row that another value would not give."""
    value = quote(poison, safe="", errors="surrogatepass")
    names = ("by", "metric", "where", "every", "limit", "from", "to", "system", "shift", "class", "grain", "timestamps")
    for path in PATHS:
        for name in (*names, "token", value):
            answer = ask(app, f"{path}?{name}={value}")
            # The search hands a selection on to what it finds; findings by day say that they leave classes aside.
            handed_on = name == "class" or (path == "/find" and name == "system")
            if handed_on and path in ("/find", "/findings") and answer.status == 200:
                assert is_harmless(answer)
                continue
            assert answer.status in (400, 404, 414), (path, name, answer.status, answer.text[:300])
            assert _says_what_and_what_to_do(answer), (path, name, answer.text[:300])
            assert "root:" not in answer.text
    for name in ("part", "where"):
        answer = ask(app, f"/grain/coupling_structure?{name}={value}")
        assert answer.status in (400, 414), (name, answer.status)
        assert is_harmless(answer)


@pytest.mark.parametrize("poison", POISONS, ids=range(len(POISONS)))
def test_a_value_of_a_filter_is_a_text(app: ASGIApp, poison: str) -> None:
    """No value opens the condition that it stands in: there is no such structure, and so no row."""
    value = quote(f"structure={poison}", safe="", errors="surrogatepass")
    answer = ask(app, f"{ROWS}?where={value}")
    if answer.status == 200:
        assert json.loads(answer.text)["rows"] == []
    else:
        assert answer.status in (400, 414)
        assert _says_what_and_what_to_do(answer)


@pytest.mark.parametrize("poison", POISONS, ids=range(len(POISONS)))
def test_words_to_search_for_are_shown_and_never_run(app: ASGIApp, poison: str) -> None:
    answer = ask(app, f"/find?q={quote(poison, safe='', errors='surrogatepass')}")
    assert answer.status in (200, 400, 414)
    assert is_harmless(answer)
    assert "<script>alert" not in answer.text


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "FOO"])
def test_methods_that_change_are_refused(app: ASGIApp, method: str) -> None:
    for path in PATHS:
        answer = ask(app, path, method=method)
        assert answer.status == 405
        assert "root:" not in answer.text


def test_nothing_is_sent_to_them(app: ASGIApp) -> None:
    own = (HOST, ("origin", "http://127.0.0.1:8711"), ("content-length", "14"))
    for path in PATHS:
        answer = ask(app, path, method="POST", headers=own, body=b"query=select+1")
        assert answer.status == 405
        assert "defect" not in answer.text


def test_another_site_and_another_name_are_refused(app: ASGIApp) -> None:
    for path in PATHS:
        assert ask(app, path, headers=(("host", "evil.example"),)).status == 421
        assert ask(app, path, headers=()).status in (400, 421)
        assert ask(app, path, headers=(HOST, ("sec-fetch-site", "cross-site"))).status == 403
        foreign = (HOST, ("origin", "https://evil.example"))
        assert ask(app, path, method="POST", headers=foreign).status == 403
        # No other site may read an answer, whatever it asks for.
        assert "access-control-allow-origin" not in ask(app, path, headers=(*foreign,)).headers


def test_nobody_comes_in_without_the_token(workspace: Workspace, tmp_path: Path) -> None:
    app = application(workspace, Door(token=TOKEN, port=8711), tmp_path)
    for path in PATHS:
        for headers in (
            (HOST,),
            (HOST, ("authorization", f"Bearer {TOKEN} ")),
            (HOST, ("authorization", f"Bearer {TOKEN[:-1]}")),
            (HOST, ("authorization", f"bearer\t{TOKEN}")),
            (HOST, ("authorization", "Bearer \xff\xfe")),
            (HOST, ("cookie", "plexlens=; token=x")),
        ):
            answer = ask(app, path, headers=headers)
            if answer.status == 200:
                # Blanks around a header's value are no part of it.
                assert headers[1][1].strip() == f"Bearer {TOKEN}"
                continue
            assert answer.status == 401, (path, headers)
            assert "coupling" not in answer.text
            assert TOKEN not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/views/..%2f..%2f..%2fetc%2fpasswd", "/api/v1/views/../../../etc/passwd",
        "/api/v1/views/..%2fmanifest.json/rows", "/api/v1/views/coupling_structure/rows/../../..", "/api/v1/views/%00",
        "/api/v1/views/coupling_structure%00/rows", "/api/v1/views/\\..\\..", "/api/v1/views//etc/passwd/rows",
        "/api/v1/views/'; drop table smf_record; --/rows", "/api/v1/views/smf_record/rows", "/api//v1", "/api/v1/../..",
        "/metrics/..%2f..%2fetc%2fpasswd", "/metrics/x", "/findings/..%2f..%2fetc%2fpasswd", "/findings/2024-10-26.js",
        "/find/../../etc/passwd", "/api/v1/views/\ud800/rows",
    ],
)  # fmt: skip
def test_no_path_reaches_a_file(app: ASGIApp, path: str) -> None:
    answer = ask(app, quote(path, safe="/%", errors="surrogatepass"))
    assert answer.status in (400, 404), answer.text
    assert _says_what_and_what_to_do(answer)
    assert "root:" not in answer.text


def test_names_of_records_stay_text(hostile: ASGIApp) -> None:
    """In JSON they stand as they are, typed as JSON; in HTML they are escaped."""
    answer = ask(hostile, f"{ROWS}?where={quote_plus(f'structure={STRUCTURE}')}")
    assert {row["structure"] for row in json.loads(answer.text)["rows"]} == {STRUCTURE}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for path in ("/findings", "/find?q=coupling"):
        page = ask(hostile, path)
        assert page.status == 200
        assert "<img" not in page.text
        assert is_harmless(page)
