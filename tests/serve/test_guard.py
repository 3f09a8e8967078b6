"""Requests that the guard refuses, and headers that every answer has."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import Receive, Scope, Send

from plexlens.serve.guard import LONGEST_BODY, Door, Guard
from tests.serve.client import Answer, ask

TOKEN = "correct-horse-battery-staple"


async def _echo(scope: Scope, receive: Receive, send: Send) -> None:
    """Answers with the path and what was sent."""
    body = await Request(scope, receive).body()
    response: Response = PlainTextResponse(f"{scope['path']} {body.decode()}")
    await response(scope, receive, send)


OPEN = Guard(_echo, Door(port=8711))
CLOSED = Guard(_echo, Door(names=frozenset({"zos.example", "localhost"}), token=TOKEN, port=8711))
TLS = Guard(_echo, Door(names=frozenset({"zos.example"}), token=TOKEN, port=8711, is_encrypted=True))


def _ask(app: Guard, address: str = "/", host: str = "127.0.0.1:8711", **more: str) -> Answer:
    return ask(
        app, address, headers=[("host", host), *((name.replace("_", "-"), value) for name, value in more.items())]
    )


def _post(app: Guard, headers: Sequence[tuple[str, str]], body: bytes = b"query=x") -> Answer:
    length = ("content-length", str(len(body)))
    return ask(app, "/", method="POST", headers=[("host", "127.0.0.1:8711"), length, *headers], body=body)


@pytest.mark.parametrize("host", ["127.0.0.1:8711", "localhost", "LOCALHOST:1", "[::1]:8711"])
def test_a_name_of_the_machine_is_answered(host: str) -> None:
    assert _ask(OPEN, host=host).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example", "evil.example:8711", "127.0.0.1.evil.example", "localhost.evil.example:8711", "192.0.2.7:8711",
        "evil@127.0.0.1", "127.0.0.1@evil.example", "127.0.0.1:8711/evil", "127.0.0.1:x", "[::1", "",
        "127.0.0.1#evil.example",
    ],
)  # fmt: skip
def test_a_foreign_name_is_refused(host: str) -> None:
    """A name that an attacker points to this machine (DNS rebinding) is not a name of this server."""
    answer = _ask(OPEN, host=host)
    assert answer.status == 421
    assert "does not answer to the name" in answer.words


def test_no_host_and_two_hosts_are_refused() -> None:
    assert ask(OPEN, "/", headers=[]).status == 421
    assert ask(OPEN, "/", headers=[("host", "127.0.0.1"), ("host", "evil.example")]).status == 421


def test_numeric_addresses_are_names_only_where_all_are_listened_on() -> None:
    assert _ask(Guard(_echo, Door(any_address=True)), host="192.0.2.7:8711").status == 200
    assert _ask(Guard(_echo, Door(any_address=True)), host="evil.example:8711").status == 421


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "get", "BREW"])
def test_other_methods_are_refused(method: str) -> None:
    answer = ask(OPEN, "/", method=method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, HEAD, POST"


def test_every_answer_has_the_headers() -> None:
    for answer in (_ask(OPEN), _ask(OPEN, host="evil.example"), _ask(CLOSED, host="localhost")):
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "script-src 'self';" in policy
        assert "style-src 'self';" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe-eval" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["x-frame-options"] == "DENY"
        assert "access-control-allow-origin" not in answer.headers


def test_a_form_of_this_server_is_taken() -> None:
    answer = _post(OPEN, [("origin", "http://127.0.0.1:8711")])
    assert (answer.status, answer.text) == (200, "/ query=x")


@pytest.mark.parametrize(
    "origins",
    [
        [], ["null"], ["http://evil.example"], ["http://127.0.0.1"], ["http://127.0.0.1:9"], ["https://127.0.0.1:8711"],
        ["http://localhost:8711"], ["http://127.0.0.1:8711.evil.example"], ["http://127.0.0.1:8711", "http://evil.example"],
    ],
)  # fmt: skip
def test_a_form_of_another_site_is_refused(origins: list[str]) -> None:
    answer = _post(OPEN, [("origin", origin) for origin in origins])
    assert answer.status == 403
    assert "does not come from a page of this server" in answer.words


def test_a_link_of_another_site_is_followed_and_nothing_else() -> None:
    assert _ask(OPEN, sec_fetch_site="cross-site", sec_fetch_mode="navigate", sec_fetch_dest="document").status == 200
    assert _ask(OPEN, sec_fetch_site="same-origin", sec_fetch_mode="cors", sec_fetch_dest="empty").status == 200
    assert _ask(OPEN, sec_fetch_site="cross-site", sec_fetch_mode="no-cors", sec_fetch_dest="image").status == 403
    assert _ask(OPEN, sec_fetch_site="cross-site", sec_fetch_mode="navigate", sec_fetch_dest="iframe").status == 403
    assert _ask(OPEN, sec_fetch_site="same-site", sec_fetch_mode="cors", sec_fetch_dest="empty").status == 403


def test_long_addresses_and_bodies_are_refused() -> None:
    assert _ask(OPEN, "/?a=" + "x" * 8191).status == 414
    own = ("origin", "http://127.0.0.1:8711")
    assert _post(OPEN, [own], b"x" * LONGEST_BODY).status == 200
    assert _post(OPEN, [own], b"x" * (LONGEST_BODY + 1)).status == 413
    for length in ("", "-1", "1e3", "²", "9" * 5000):
        answer = ask(OPEN, "/", method="POST", headers=[("host", "127.0.0.1:8711"), own, ("content-length", length)])
        assert answer.status == 413


def test_a_body_longer_than_it_says_is_cut_off() -> None:
    """The client says 7 bytes and sends 70,000: what is beyond the limit is never read."""
    headers = [("host", "127.0.0.1:8711"), ("origin", "http://127.0.0.1:8711"), ("content-length", "7")]
    with pytest.raises(Exception, match=r"^$"):
        ask(OPEN, "/", method="POST", headers=headers, body=b"x" * 70_000)


def test_without_the_token_nothing_is_shown() -> None:
    for address in ("/", "/page/cpu", "/?token=", "/?token=wrong", f"/?token={TOKEN}x", f"/?token=x&token={TOKEN}"):
        answer = _ask(CLOSED, address, host="localhost")
        assert answer.status == 401
        assert TOKEN not in answer.text
        assert "set-cookie" not in answer.headers


def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    answer = _ask(CLOSED, f"/grain/x?by=system&token={TOKEN}&where=a%26b%3Dc", host="localhost")
    assert answer.status == 303
    assert answer.headers["location"] == "/grain/x?by=system&where=a%26b%3Dc"
    cookie = answer.headers["set-cookie"]
    assert TOKEN not in cookie
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Secure" not in cookie
    kept = cookie.partition(";")[0]
    assert _ask(CLOSED, "/page", host="localhost", cookie=f"other=1; {kept}").text == "/page "
    assert _ask(CLOSED, "/page", host="localhost", cookie=kept[:-1]).status == 401
    assert _ask(CLOSED, "/page", host="localhost", cookie=f"plexlens-8711={TOKEN}").status == 401


def test_the_cookie_of_tls_is_secure() -> None:
    assert "Secure" in _ask(TLS, f"/?token={TOKEN}", host="zos.example").headers["set-cookie"]


def test_the_token_leads_to_no_other_server() -> None:
    for path in ("//evil.example/", "/\\evil.example/", "///evil.example"):
        location = _ask(CLOSED, f"{path}?token={TOKEN}", host="localhost").headers["location"]
        assert location.startswith("/")
        assert not location.startswith(("//", "/\\"))


def test_a_token_does_not_open_a_form_of_another_site() -> None:
    headers = [("host", "localhost"), ("content-length", "1"), ("origin", "http://evil.example")]
    assert ask(CLOSED, f"/?token={TOKEN}", method="POST", headers=headers, body=b"x").status == 403


def test_a_foreign_name_learns_nothing_of_the_token() -> None:
    assert _ask(CLOSED, f"/?token={TOKEN}", host="evil.example").status == 421
