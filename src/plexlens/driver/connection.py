"""Connections to a server: new for each request, kept, or shared from a pool, with or without TLS."""

from __future__ import annotations

import contextlib
import queue
import socket
import ssl
import time
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any


class Style(StrEnum):
    """Use of connections by requests."""

    NEW = "new"
    PERSISTENT = "persistent"
    POOLED = "pooled"


@dataclass(frozen=True)
class Server:
    """A server and how it is reached; seconds.

    Attributes
    ----------
    ca
        File with the certificates that are trusted; None for those of the system.
    verify
        Whether the server's certificate is checked.
    resume
        Whether a new connection resumes the TLS session of one before.
    """

    host: str
    port: int
    tls: bool = False
    ca: Path | None = None
    verify: bool = True
    resume: bool = False
    connect_seconds: float = 10.0


@dataclass
class Connection:
    """A connection with what it took to make it; seconds."""

    socket: socket.socket
    connect_seconds: float = 0.0
    tls_seconds: float = 0.0
    resumed: bool = False
    used: int = 0

    def is_alive(self) -> bool:
        """Whether the server has neither closed the connection nor sent anything since the last response."""
        before = self.socket.gettimeout()
        try:
            self.socket.settimeout(0.0)
            # TLS has no peeking: a byte that is there has no request, so the connection is of no use either way.
            self.socket.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError):
            self.socket.settimeout(before)
            return True
        except (OSError, ValueError):
            return False
        return False

    def close(self) -> None:
        """Close it; what the server thinks of that is of no interest."""
        with contextlib.suppress(OSError):
            self.socket.close()


class Connector:
    """Makes connections to a server."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self._context: ssl.SSLContext | None = None
        self._session: ssl.SSLSession | None = None
        self._addresses: list[Any] | None = None
        if server.tls:
            self._context = ssl.create_default_context(cafile=None if server.ca is None else str(server.ca))
            if not server.verify:
                self._context.check_hostname = False
                self._context.verify_mode = ssl.CERT_NONE

    def connect(self) -> Connection:
        """A new connection.

        Raises
        ------
        OSError
            The server cannot be reached, or TLS fails (`ssl.SSLError`).
        """
        begun = time.perf_counter()
        plain = self._plain()
        connected = time.perf_counter()
        if self._context is None:
            return Connection(plain, connected - begun)
        session = self._session if self.server.resume else None
        try:
            secured = self._context.wrap_socket(plain, server_hostname=self.server.host, session=session)
        except BaseException:
            plain.close()
            raise
        done = time.perf_counter()
        return Connection(secured, connected - begun, done - connected, bool(secured.session_reused))

    def _plain(self) -> socket.socket:
        # A look-up for each connection would be part of its time, and of the driver's work.
        if self._addresses is None:
            self._addresses = socket.getaddrinfo(self.server.host, self.server.port, type=socket.SOCK_STREAM)
        last: OSError | None = None
        for family, kind, protocol, _, address in self._addresses:
            plain = socket.socket(family, kind, protocol)
            try:
                plain.settimeout(self.server.connect_seconds)
                plain.connect(address)
                plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            except OSError as error:
                last = error
                plain.close()
            except BaseException:
                plain.close()
                raise
            else:
                return plain
        raise last or OSError(f"{self.server.host} has no address")

    def keep_session(self, connection: Connection) -> None:
        """Keep the TLS session for the next connection; TLS 1.3 gives it with the first response."""
        if self.server.resume and isinstance(connection.socket, ssl.SSLSocket):
            self._session = connection.socket.session


@dataclass
class Connections:
    """The connections of one or of several clients, by a style.

    A client takes one for a request, and gives it back or drops it.

    Attributes
    ----------
    most
        Connections of a pool; a client waits while all are in use. None for no limit.
    """

    connector: Connector
    style: Style
    most: int | None = None
    _idle: list[Connection] = field(default_factory=list)
    _places: queue.Queue[None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        for _ in range(self.most or 0):
            self._places.put(None)

    def place(self) -> None:
        """Wait until a connection may be used."""
        if self.most is not None:
            self._places.get()

    def leave(self) -> None:
        """Let the next client have the place."""
        if self.most is not None:
            self._places.put(None)

    def take(self) -> tuple[Connection, str]:
        """A connection, and whether it is ``new``, ``reused``, or ``reopened`` since the server closed the idle one."""
        how = "new"
        while self._idle:
            connection = self._idle.pop()
            if connection.is_alive():
                return connection, "reused"
            connection.close()
            how = "reopened"
        return self.connector.connect(), how

    def give_back(self, connection: Connection, *, reusable: bool) -> None:
        """Keep the connection for the next request, or close it."""
        connection.used += 1
        self.connector.keep_session(connection)
        if reusable and self.style is not Style.NEW:
            self._idle.append(connection)
        else:
            connection.close()

    def close(self) -> None:
        """Close what is idle."""
        while self._idle:
            self._idle.pop().close()
