"""A request and its response over a connection: length-framed TCP, HTTP, REST and SOAP."""

from __future__ import annotations

import http.client
import json
import socket
import time
from dataclasses import dataclass, field
from enum import StrEnum
from xml.etree import ElementTree

from plexlens.driver.connection import Connection, Server
from plexlens.driver.outcome import Outcome, ProtocolError

#: Longest response that is read: a server that never ends one is stopped here.
LONGEST = 64 << 20
_PIECE = 1 << 16
_ENVELOPES = {
    "1.1": ("http://schemas.xmlsoap.org/soap/envelope/", "text/xml; charset=utf-8"),
    "1.2": ("http://www.w3.org/2003/05/soap-envelope", "application/soap+xml; charset=utf-8"),
}


class Protocol(StrEnum):
    """Protocol of a request."""

    TCP = "tcp"
    HTTP = "http"
    REST = "rest"
    SOAP = "soap"


@dataclass(frozen=True)
class Framing:
    """Length in front of each message of TCP.

    Attributes
    ----------
    size
        Bytes of the length, big-endian.
    counts_itself
        Whether the length includes these bytes, as LLLL of IMS Connect does.
    """

    size: int = 4
    counts_itself: bool = False

    def frame(self, body: bytes) -> bytes:
        """The message with its length."""
        return (len(body) + self.size * self.counts_itself).to_bytes(self.size, "big") + body


@dataclass(frozen=True)
class Expected:
    """Marks of a right response; None where anything is right.

    Attributes
    ----------
    status
        Status of HTTP; without it, 400 and above are failures.
    contains
        Bytes in it.
    size
        Length of the body.
    echo
        Whether it equals the request's body.
    """

    status: int | None = None
    contains: bytes | None = None
    size: int | None = None
    echo: bool = False

    def wrong(self, body: bytes, sent: bytes) -> str:
        """The difference from what is expected, in words; empty if there is none."""
        if self.size is not None and len(body) != self.size:
            return f"{len(body):,} bytes, not {self.size:,}"
        if self.contains is not None and self.contains not in body:
            return f"{self.contains[:40]!r} is not in the {len(body):,} bytes"
        if self.echo and body != sent:
            return f"the {len(body):,} bytes are not those of the request"
        return ""


@dataclass(frozen=True)
class Request:
    """A request of a test plan.

    Attributes
    ----------
    weight
        Share of all requests, relative to the other weights.
    body
        What is sent. SOAP: content of the envelope's body.
    """

    name: str
    protocol: Protocol
    weight: float = 1.0
    method: str = "GET"
    path: str = "/"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    framing: Framing = Framing()
    soap: str = "1.1"
    action: str = ""
    expected: Expected = field(default_factory=Expected)

    def payload(self) -> bytes:
        """The bytes that are sent as the body."""
        if self.protocol is not Protocol.SOAP:
            return self.body
        space, _ = _ENVELOPES[self.soap]
        return b'<s:Envelope xmlns:s="%s"><s:Body>%s</s:Body></s:Envelope>' % (space.encode(), self.body)


@dataclass
class Response:
    """A complete response.

    Attributes
    ----------
    status
        Of HTTP; empty for others.
    sent, received
        Bytes of the bodies.
    first_byte
        Seconds from the begin of sending.
    reusable
        Whether the connection can take another request.
    outcome, detail
        What is wrong with it.
    """

    status: str
    sent: int
    received: int
    first_byte: float
    reusable: bool
    outcome: Outcome
    detail: str


def exchange(connection: Connection, request: Request, server: Server, *, keep: bool) -> Response:
    """Send a request and read its response.

    Parameters
    ----------
    connection
        Over which; after an error it is of no use.
    request
        What to send.
    server
        Named in the head of HTTP.
    keep
        Whether the connection is kept; if not, HTTP says so to the server.

    Raises
    ------
    OSError, EOFError, ProtocolError, http.client.HTTPException
        There is no complete response.
    """
    if request.protocol is Protocol.TCP:
        return _framed(connection.socket, request)
    return _http(connection, request, server, keep)


def _framed(plain: socket.socket, request: Request) -> Response:
    begun = time.perf_counter()
    framing = request.framing
    plain.sendall(framing.frame(request.body))
    head = _exactly(plain, framing.size)
    first = time.perf_counter() - begun
    length = int.from_bytes(head, "big") - framing.size * framing.counts_itself
    if not 0 <= length <= LONGEST:
        raise ProtocolError(f"a length of {length:,} in front of the response")
    body = _exactly(plain, length)
    wrong = request.expected.wrong(body, request.body)
    return Response("", len(request.body), length, first, True, Outcome.WRONG if wrong else Outcome.GOOD, wrong)


def _exactly(plain: socket.socket, count: int) -> bytes:
    pieces = []
    left = count
    while left:
        piece = plain.recv(min(left, _PIECE))
        if not piece:
            raise EOFError(f"the server closed after {count - left:,} of {count:,} bytes")
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _http(connection: Connection, request: Request, server: Server, keep: bool) -> Response:
    client = http.client.HTTPConnection(server.host, server.port)
    client.auto_open = 0
    client.sock = connection.socket
    payload = request.payload()
    begun = time.perf_counter()
    client.request(request.method, request.path, payload or None, _headers(request, keep))
    answer = client.getresponse()
    first = time.perf_counter() - begun
    body = _body(answer)
    client.sock = None
    outcome, detail = _judged(answer, body, payload, request)
    return Response(str(answer.status), len(payload), len(body), first, not answer.will_close, outcome, detail)


def _judged(answer: http.client.HTTPResponse, body: bytes, payload: bytes, request: Request) -> tuple[Outcome, str]:
    status, wanted = answer.status, request.expected.status
    failed = status != wanted if wanted is not None else status >= 400
    if request.protocol is Protocol.SOAP:
        wrong, is_fault = _soap(body, request.soap)
        # A fault has status 500, and says more than that.
        if is_fault or (wrong and not failed):
            return (Outcome.FAULT if is_fault else Outcome.WRONG), wrong
    if failed:
        return Outcome.STATUS, f"{status} {answer.reason}".strip()
    if request.protocol is Protocol.REST and body:
        try:
            json.loads(body)
        except (ValueError, RecursionError) as error:
            return Outcome.WRONG, f"the body is not JSON: {error}"
    wrong = request.expected.wrong(body, payload)
    return (Outcome.WRONG if wrong else Outcome.GOOD), wrong


def _headers(request: Request, keep: bool) -> dict[str, str]:
    headers = {} if keep else {"Connection": "close"}
    if request.protocol is Protocol.REST:
        headers["Accept"] = "application/json"
        if request.body:
            headers["Content-Type"] = "application/json"
    elif request.protocol is Protocol.SOAP:
        _, kind = _ENVELOPES[request.soap]
        headers["Content-Type"] = kind
        if request.soap == "1.1":
            headers["SOAPAction"] = f'"{request.action}"'
        elif request.action:
            headers["Content-Type"] = f'{kind}; action="{request.action}"'
    return headers | dict(request.headers)


def _body(answer: http.client.HTTPResponse) -> bytes:
    pieces = []
    length = 0
    while piece := answer.read(_PIECE):
        length += len(piece)
        if length > LONGEST:
            raise ProtocolError(f"a response of more than {LONGEST:,} bytes")
        pieces.append(piece)
    # http.client does not say that a body ended before its Content-Length when it is read in pieces.
    if answer.length:
        raise EOFError(f"the server closed after {length:,} of {length + answer.length:,} bytes")
    return b"".join(pieces)


def _soap(body: bytes, version: str) -> tuple[str, bool]:
    """The fault of an envelope in words, empty if there is none, and whether it is a SOAP fault."""
    space, _ = _ENVELOPES[version]
    try:
        root = ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        return f"the body is not XML: {error}", False
    if root.tag != f"{{{space}}}Envelope":
        return f"the root is {root.tag[:60]}, not a SOAP {version} envelope", False
    fault = root.find(f"{{{space}}}Body/{{{space}}}Fault")
    if fault is None:
        return "", False
    return " ".join(text.strip() for text in fault.itertext() if text.strip())[:200], True
