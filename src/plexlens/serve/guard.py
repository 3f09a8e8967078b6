"""Checks of each request before anything else sees it, and the headers of each answer.

A page in a browser can make that browser send requests to any address, this server's included. A request is answered
only under a name of this server (or else another name could be made to point here), changes of state only from its own
pages, and on addresses that others can reach only with a token.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, urlencode, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Names by which a browser reaches a server on its own machine.
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})

#: Bytes of a query string, and of the body of a request, at most.
LONGEST_QUERY, LONGEST_BODY = 8192, 65536

#: Scripts and styles come from this server alone. Style attributes place marks of charts: they hold numbers only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

#: Without any referrer a browser would hide the origin of a form from this server too; other servers see none.
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "private, no-cache",
}

_METHODS = ("GET", "HEAD", "POST")


@dataclass(frozen=True)
class Door:
    """The clients that may come in.

    Attributes
    ----------
    names
        Host names under which the server answers, in small letters.
    token
        The secret that a browser shows once; empty for none.
    port
        Port of the server: it is in the name of the cookie, since several servers on a machine share their cookies.
    is_encrypted
        Whether requests come over TLS.
    any_address
        Whether a numeric address is a name of the server, as where it listens on all of a machine's addresses.
    """

    names: frozenset[str] = LOOPBACK
    token: str = ""
    port: int = 0
    is_encrypted: bool = False
    any_address: bool = False

    def knows(self, host: str) -> bool:
        """Whether a ``Host`` header names this server."""
        name = host_name(host)
        return name in self.names or (self.any_address and _is_address(name))

    @property
    def cookie(self) -> str:
        """Name of the cookie that replaces the token."""
        return f"plexlens-{self.port}"

    @property
    def pass_(self) -> str:
        """Value of the cookie: it follows from the token, and the token does not follow from it."""
        return hmac.new(self.token.encode(), b"plexlens cookie", sha256).hexdigest()


def host_name(host: str) -> str:
    """The name in a ``Host`` header, without port and brackets, in small letters; empty if the header is malformed.

    Examples
    --------
    >>> host_name("LocalHost:8711"), host_name("[::1]:8711"), host_name("a:b:c")
    ('localhost', '::1', '')
    """
    try:
        parts = urlsplit(f"//{host}")
        _ = parts.port
    except ValueError:
        return ""
    if parts.username is not None or parts.path or parts.query or parts.fragment:
        return ""
    return (parts.hostname or "").lower()


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


class Guard:
    """The checks around an application.

    Parameters
    ----------
    app
        The application.
    door
        Who may come in.
    """

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app = app
        self.door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        request = Request(scope)
        answer = self._refused(request) or self._unknown(request)
        if answer is not None:
            await answer(scope, receive, guarded)
            return
        await self.app(scope, _limited(receive), guarded)

    def _refused(self, request: Request) -> Response | None:
        """The refusal of a request, independent of who sends it; None if there is no reason to refuse."""
        if request.method not in _METHODS:
            return refusal(405, f"{request.method} is not supported", "use GET", {"allow": ", ".join(_METHODS)})
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self.door.knows(hosts[0]):
            return refusal(
                421,
                "this server does not answer to the name in the request's Host header",
                "use the address that plexlens serve printed; --name adds another name",
            )
        if len(request.scope["query_string"]) > LONGEST_QUERY:
            return refusal(414, f"the address has more than {LONGEST_QUERY:,} characters", "leave out filters")
        if request.method == "POST":
            return self._foreign(request, hosts[0]) or _too_long(request.headers)
        if _is_embedded(request.headers):
            return refusal(403, "the request comes from a page of another site", "open the address directly")
        return None

    def _foreign(self, request: Request, host: str) -> Response | None:
        """The answer to a form of another site."""
        scheme = "https" if self.door.is_encrypted else "http"
        if request.headers.getlist("origin") == [f"{scheme}://{host}"]:
            return None
        return refusal(403, "the request does not come from a page of this server", "use the form on the page itself")

    def _unknown(self, request: Request) -> Response | None:
        """The answer to a request without the token; the first one with it is sent on to its address without it."""
        door = self.door
        if not door.token:
            return None
        try:
            content = SimpleCookie("; ".join(request.headers.getlist("cookie"))).get(door.cookie)
        except CookieError:
            content = None
        if content is not None and _same(content.value, door.pass_):
            return None
        # Programs have no cookies. A browser never sends this header for a page of another site.
        shown = request.headers.getlist("authorization")
        if len(shown) == 1 and shown[0][:7].lower() == "bearer " and _same(shown[0][7:].strip(), door.token):
            return None
        pairs = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in pairs if name == "token"]
        if request.method == "GET" and len(given) == 1 and _same(given[0], door.token):
            rest = urlencode([pair for pair in pairs if pair[0] != "token"])
            # A path of two slashes would be the address of another server.
            path = "/" + request.url.path.lstrip("/\\")
            answer = RedirectResponse(f"{path}?{rest}" if rest else path, 303)
            answer.set_cookie(
                door.cookie, door.pass_, path="/", httponly=True, samesite="strict", secure=door.is_encrypted
            )
            return answer
        what = "the token in the address is not valid for this server" if given else "this server asks for a token"
        return refusal(
            401, what, "open the address that plexlens serve printed; once is enough for a browser", again=True
        )


def _same(given: str, secret: str) -> bool:
    """Whether two texts are the same, in a time that does not depend on where they differ."""
    return hmac.compare_digest(given.encode(), secret.encode())


def _is_embedded(headers: Headers) -> bool:
    """Whether another site's page asks, other than by a link to this server."""
    if headers.get("sec-fetch-site", "none") not in ("cross-site", "same-site"):
        return False
    return headers.get("sec-fetch-mode") != "navigate" or headers.get("sec-fetch-dest") != "document"


def _too_long(headers: Headers) -> Response | None:
    stated = headers.get("content-length", "")
    if stated.isascii() and stated.isdigit() and int(stated[:12]) <= LONGEST_BODY:
        return None
    return refusal(413, f"the request has more than {LONGEST_BODY:,} bytes, or does not say how many", "send less")


def _limited(receive: Receive) -> Receive:
    """The body of a request, cut off where it is longer than it may be."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        return {"type": "http.disconnect"} if taken > LONGEST_BODY else message

    return limited


def refusal(
    status: int, what: str, remedy: str, headers: dict[str, str] | None = None, *, again: bool = False
) -> HTMLResponse:
    """A page that says what is wrong and what to do, without style and script.

    Parameters
    ----------
    status
        HTTP status.
    what, remedy
        As in `plexlens.errors.PlexlensError`.
    headers
        Further headers.
    again
        Whether to offer the same address once more: a browser keeps the cookie back when a link on another site leads
        here, and sends it from a page of this server.
    """
    link = '<p><a href="">Open this address again</a>, if this browser has used the token before.</p>' if again else ""
    text = (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Plexlens: not answered</title></head>'
        f"<body><main><h1>Not answered</h1><p>{escape(_sentence(what))}</p><p>{escape(_sentence(remedy))}</p>{link}"
        "</main></body></html>"
    )
    return HTMLResponse(text, status, headers)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def names_of(host: str, more: Iterable[str]) -> frozenset[str]:
    """The names under which a server on this address answers.

    Parameters
    ----------
    host
        The address it listens on.
    more
        Names that the user gives it.
    """
    return LOOPBACK | {host.lower(), *(name.lower() for name in more)}
