"""A request and its response over plain sockets: each way to fail has its own outcome."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from plexlens.driver.connection import Connection, Connections, Connector, Server, Style
from plexlens.driver.exchange import Expected, Framing, Protocol, Request, Response, exchange
from plexlens.driver.outcome import Outcome, outcome_of
from tests.driver.servers import HTTP, certificate, closed_port, envelope, http, serving, tls_context

HELLO = Request("hello", Protocol.HTTP, expected=Expected(contains=b"hello"))


def sent(connections: Connections, request: Request) -> tuple[Outcome, str, str]:
    """Outcome, detail and use of the connection of one request, as the driver finds them."""
    connection: Connection | None = None
    try:
        connection, how = connections.take()
        keep = connections.style is not Style.NEW
        response = exchange(connection, request, connections.connector.server, keep=keep)
        connections.give_back(connection, reusable=response.reusable)
        return response.outcome, response.detail, how
    except Exception as error:
        if connection is not None:
            connection.close()
        return *outcome_of(error, connected=connection is not None), ""


@pytest.mark.parametrize("behaviour", [name for name in HTTP if name not in ("drip", "slow")])
def test_each_behaviour_has_its_outcome(behaviour: str) -> None:
    with serving(behaviour) as server:
        connections = Connections(Connector(Server("127.0.0.1", server.port, connect_seconds=0.5)), Style.PERSISTENT)
        outcome, detail, _ = sent(connections, HELLO)
        assert outcome is HTTP[behaviour][1]
        assert bool(detail) is (behaviour != "good")
        assert server.done == {behaviour: 1}
        connections.close()


def test_nobody_listens() -> None:
    connections = Connections(Connector(Server("127.0.0.1", closed_port())), Style.NEW)
    assert sent(connections, HELLO)[0] is Outcome.NO_CONNECTION
    nowhere = Connections(Connector(Server("no-such-host.invalid", 80)), Style.NEW)
    assert sent(nowhere, HELLO)[0] is Outcome.NO_CONNECTION


@pytest.mark.parametrize(("style", "expected", "made"), [
    (Style.NEW, ["new", "new", "new"], 3),
    (Style.PERSISTENT, ["new", "reused", "reused"], 1),
    (Style.POOLED, ["new", "reused", "reused"], 1),
])  # fmt: skip
def test_connections_by_style(style: Style, expected: list[str], made: int) -> None:
    with serving("good") as server:
        connections = Connections(Connector(Server("127.0.0.1", server.port)), style, 2)
        assert [sent(connections, HELLO)[2] for _ in range(3)] == expected
        assert server.connections == made
        connections.close()


def test_a_failure_that_is_a_complete_response_keeps_the_connection() -> None:
    with serving("503", "wrong", "good") as server:
        connections = Connections(Connector(Server("127.0.0.1", server.port)), Style.PERSISTENT)
        done = [sent(connections, HELLO) for _ in range(3)]
        assert [outcome for outcome, _, _ in done] == [Outcome.STATUS, Outcome.WRONG, Outcome.GOOD]
        assert [how for _, _, how in done] == ["new", "reused", "reused"]
        connections.close()


@contextmanager
def answering(data: bytes, *, then: str = "close") -> Iterator[int]:
    """A server that reads something, sends these bytes, and closes, or leaves the connection open."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        kept: list[socket.socket] = []

        def serve() -> None:
            connection, _ = listener.accept()
            kept.append(connection)
            connection.recv(65536)
            connection.sendall(data)
            if then == "close":
                connection.close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield listener.getsockname()[1]
        thread.join(5)
        for connection in kept:
            connection.close()


def answered(data: bytes, request: Request, *, then: str = "close") -> tuple[Outcome, str, str]:
    with answering(data, then=then) as port:
        return sent(Connections(Connector(Server("127.0.0.1", port, connect_seconds=0.5)), Style.NEW), request)


def test_a_connection_that_the_server_closed_while_idle_is_opened_again() -> None:
    with answering(http(b"hello")) as port:
        connections = Connections(Connector(Server("127.0.0.1", port)), Style.PERSISTENT)
        assert sent(connections, HELLO)[0] is Outcome.GOOD
        idle = connections._idle[0]
        idle.socket.settimeout(2)
        # The end of the connection arrives; looking at it must not wait.
        idle.socket.recv(1, socket.MSG_PEEK)
        assert not idle.is_alive()
        with serving("good") as other:
            connections.connector = Connector(Server("127.0.0.1", other.port))
            assert sent(connections, HELLO)[::2] == (Outcome.GOOD, "reopened")
            connections.close()


FOUR = Framing()


def framed(framing: Framing = FOUR, **expected: object) -> Request:
    wanted = Expected(**expected)  # type: ignore[arg-type]
    return Request("framed", Protocol.TCP, body=b"hello", framing=framing, expected=wanted)


@pytest.mark.parametrize(("request_", "data", "outcome"), [
    (framed(echo=True), b"\0\0\0\5hello", Outcome.GOOD),
    (framed(echo=True), b"\0\0\0\5HELLO", Outcome.WRONG),
    (framed(size=4), b"\0\0\0\5HELLO", Outcome.WRONG),
    (framed(size=0), b"\0\0\0\0", Outcome.GOOD),
    # Closed after three of five bytes, and within the length.
    (framed(), b"\0\0\0\5HEL", Outcome.CLOSED),
    (framed(), b"\0\0", Outcome.CLOSED),
    # More than 64 MiB: not read.
    (framed(), b"\xff\0\0\0", Outcome.BROKEN),
    # The length counts its own two bytes, so 7 is five of a body, and 1 is impossible.
    (framed(framing=Framing(2, True), size=5), b"\0\7HELLO", Outcome.GOOD),
    (framed(framing=Framing(2, True)), b"\0\1", Outcome.BROKEN),
])  # fmt: skip
def test_length_framing(request_: Request, data: bytes, outcome: Outcome) -> None:
    assert answered(data, request_)[0] is outcome


def test_frames_by_hand() -> None:
    assert Framing().frame(b"abc") == b"\0\0\0\3abc"
    assert Framing(2, True).frame(b"abc") == b"\0\5abc"


REST = Request("rest", Protocol.REST, method="POST", body=b'{"a": 1}')
SOAP = Request("soap", Protocol.SOAP, method="POST", body=b"<q/>", action="urn:q")


@pytest.mark.parametrize(("request_", "data", "outcome", "detail"), [
    (REST, http(b'{"b": 2}'), Outcome.GOOD, ""),
    (REST, http(b"<html>"), Outcome.WRONG, "the body is not JSON"),
    (REST, http(b"", "404 Not Found"), Outcome.STATUS, "404 Not Found"),
    (SOAP, http(envelope("<r/>")), Outcome.GOOD, ""),
    (SOAP, http(envelope("<e:Fault><faultcode>e:Server</faultcode><faultstring>no stock</faultstring></e:Fault>"),
                "500 Internal Server Error"), Outcome.FAULT, "e:Server no stock"),
    (SOAP, http(b"sorry", "500 Internal Server Error"), Outcome.STATUS, "500"),
    (SOAP, http(b"sorry"), Outcome.WRONG, "the body is not XML"),
    (SOAP, http(b"<html/>"), Outcome.WRONG, "the root is html"),
    (HELLO, http(b"hello there"), Outcome.GOOD, ""),
    (Request("created", Protocol.HTTP, expected=Expected(status=201)), http(b"", "200 OK"), Outcome.STATUS, "200"),
    (Request("absent", Protocol.HTTP, expected=Expected(status=404)), http(b"", "404 No"), Outcome.GOOD, ""),
    # Chunks: whole, and cut.
    (HELLO, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Outcome.GOOD, ""),
    (HELLO, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", Outcome.CLOSED, ""),
    (HELLO, b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", Outcome.BROKEN, ""),
    (HELLO, b"HTTP/1.1 two OK\r\n\r\n", Outcome.BROKEN, ""),
])  # fmt: skip
def test_http_rest_and_soap(request_: Request, data: bytes, outcome: Outcome, detail: str) -> None:
    found, words, _ = answered(data, request_)
    assert found is outcome, words
    assert words.startswith(detail)


def test_what_rest_and_soap_send() -> None:
    """The heads and bodies as RFC 9110 and the notes on SOAP 1.1 and 1.2 want them."""
    received: list[bytes] = []
    for request in (REST, SOAP, Request("12", Protocol.SOAP, method="POST", soap="1.2", body=b"<q/>", action="urn:q")):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            connection = Connector(Server("127.0.0.1", listener.getsockname()[1], connect_seconds=2)).connect()
            other, _ = listener.accept()
            with other:
                other.sendall(http(b"{}"))
                exchange(connection, request, Server("127.0.0.1", 80), keep=False)
                received.append(other.recv(65536))
            connection.close()
    rest, first, second = received
    assert rest.startswith(b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
    assert b"Connection: close\r\n" in rest
    assert b"Content-Type: application/json\r\n" in rest
    assert rest.endswith(b'\r\n\r\n{"a": 1}')
    assert b'SOAPAction: "urn:q"\r\n' in first
    assert b"Content-Type: text/xml; charset=utf-8\r\n" in first
    assert b'<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><q/></s:Body>' in first
    assert b'Content-Type: application/soap+xml; charset=utf-8; action="urn:q"\r\n' in second
    assert b"SOAPAction" not in second


@pytest.mark.parametrize(("resume", "expected"), [(True, [False, True, True]), (False, [False, False, False])])
def test_tls_is_resumed_only_if_asked(resume: bool, expected: list[bool], tmp_path: Path) -> None:
    """Both sides say whether a session was resumed."""
    crt, key = certificate(tmp_path)
    context = tls_context(crt, key)
    with serving("good", context=context) as server:
        connector = Connector(Server("127.0.0.1", server.port, True, crt, resume=resume))
        connections = Connections(connector, Style.NEW)
        resumed = []
        for _ in range(3):
            connection, _ = connections.take()
            resumed.append(connection.resumed)
            assert exchange(connection, HELLO, connector.server, keep=False).outcome is Outcome.GOOD
            connections.give_back(connection, reusable=False)
    assert resumed == expected
    assert context.session_stats()["hits"] == sum(expected)


def test_a_certificate_that_is_not_trusted(tmp_path: Path) -> None:
    crt, key = certificate(tmp_path)
    with serving("good", context=tls_context(crt, key)) as server:
        trusting = Server("127.0.0.1", server.port, True, verify=False)
        assert sent(Connections(Connector(trusting), Style.NEW), HELLO)[0] is Outcome.GOOD
        doubting = Server("127.0.0.1", server.port, True)
        outcome, detail, _ = sent(Connections(Connector(doubting), Style.NEW), HELLO)
        assert outcome is Outcome.TLS
        assert "certificate" in detail


def test_a_server_that_does_not_speak_tls() -> None:
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        outcome, _, _ = sent(Connections(Connector(Server("127.0.0.1", port, True, verify=False)), Style.NEW), HELLO)
    assert outcome is Outcome.TLS


def test_every_error_has_an_outcome() -> None:
    assert outcome_of(ssl.SSLEOFError(8, "EOF"), connected=True)[0] is Outcome.CLOSED
    assert outcome_of(ConnectionResetError(), connected=True) == (Outcome.RESET, "ConnectionResetError")
    assert outcome_of(KeyError("x"), connected=True) == (Outcome.DRIVER, "KeyError: 'x'")
    assert outcome_of(TimeoutError("slow"), connected=False) == (Outcome.NO_CONNECTION, "slow")


def test_a_response_says_its_sizes() -> None:
    with serving("good") as server:
        connector = Connector(Server("127.0.0.1", server.port))
        connection = connector.connect()
        response: Response = exchange(connection, HELLO, connector.server, keep=False)
        connection.close()
    assert (response.status, response.sent, response.received) == ("200", 0, 5)
