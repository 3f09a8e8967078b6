"""Servers that answer well, wrongly, late, in part or not at all, and count what they did."""

from __future__ import annotations

import contextlib
import socket
import ssl
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path

from plexlens.driver.outcome import Outcome

ENVELOPE = "http://schemas.xmlsoap.org/soap/envelope/"


def http(body: bytes, status: str = "200 OK", *heads: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *heads, "", ""]
    return "\r\n".join(lines).encode() + body


def envelope(content: str) -> bytes:
    return f'<e:Envelope xmlns:e="{ENVELOPE}"><e:Body>{content}</e:Body></e:Envelope>'.encode()


def _reset(connection: socket.socket) -> None:
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _drip(connection: socket.socket) -> None:
    """A byte now and then: each read succeeds, and the response never ends."""
    with contextlib.suppress(OSError):
        for sign in b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 900:
            connection.sendall(bytes([sign]))
            time.sleep(0.05)


def _slow(connection: socket.socket) -> None:
    time.sleep(0.6)
    connection.sendall(http(b"hello", "200 OK", "Connection: close"))


#: Behaviour: what the server does with a request, and the outcome that it must have.
HTTP: dict[str, tuple[bytes | Callable[[socket.socket], None], Outcome]] = {
    "good": (http(b"hello"), Outcome.GOOD),
    "503": (http(b"", "503 Unavailable"), Outcome.STATUS),
    "wrong": (http(b"good bye"), Outcome.WRONG),
    "reset": (_reset, Outcome.RESET),
    "closed": (lambda connection: None, Outcome.CLOSED),
    "half": (http(b"hello")[:-2], Outcome.CLOSED),
    "garbage": (b"\x00\x01\x02 what?\r\n\r\n", Outcome.BROKEN),
    "slow": (_slow, Outcome.GOOD),
    "hang": (lambda connection: time.sleep(3), Outcome.TIMEOUT),
    "drip": (_drip, Outcome.TIMEOUT),
}


class Server:
    """A server on a port of this machine; each request gets the next of its behaviours.

    Attributes
    ----------
    done
        Requests by behaviour.
    """

    def __init__(self, *behaviours: str, context: ssl.SSLContext | None = None, framed: bool = False) -> None:
        self.done: Counter[str] = Counter()
        self.connections = 0
        self._next = cycle(behaviours)
        self._lock = threading.Lock()
        self._context = context
        self._framed = framed
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        self.connections += 1
        with contextlib.suppress(OSError):
            if self._context is not None:
                connection = self._context.wrap_socket(connection, server_side=True)
            with connection, connection.makefile("rb") as stream:
                while self._request(connection, stream):
                    pass

    def _request(self, connection: socket.socket, stream: object) -> bool:
        """Read a request and do what is next with it; whether the connection stays."""
        head = self._read(stream)
        if head is None:
            return False
        with self._lock:
            name = next(self._next)
            self.done[name] += 1
        if self._framed:
            connection.sendall(len(head).to_bytes(4, "big") + head)
            return True
        what, outcome = HTTP[name]
        if callable(what):
            what(connection)
            return False
        connection.sendall(what)
        return outcome in (Outcome.GOOD, Outcome.STATUS, Outcome.WRONG)

    def _read(self, stream: object) -> bytes | None:
        read = stream.read  # type: ignore[attr-defined]
        if self._framed:
            size = read(4)
            return read(int.from_bytes(size, "big")) if len(size) == 4 else None
        length = 0
        while line := stream.readline():  # type: ignore[attr-defined]
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
            if line == b"\r\n":
                read(length)
                return b""
        return None

    def close(self) -> None:
        # A thread that waits in accept is woken by this alone.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextlib.contextmanager
def serving(*behaviours: str, context: ssl.SSLContext | None = None, framed: bool = False) -> Iterator[Server]:
    server = Server(*behaviours, context=context, framed=framed)
    try:
        yield server
    finally:
        server.close()


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine, signed by itself, and its key."""
    crt, key = folder / "server.crt", folder / "server.key"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(crt)],
        check=True, capture_output=True, timeout=60,
    )  # fmt: skip
    return crt, key


def tls_context(crt: Path, key: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(crt, key)
    return context
