"""The server as a process: its address, its certificate, its token, and its end."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import ssl
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from plexlens.errors import UnreadableInputError, UsageError

#: Environment variable with the token; a random one is made at each start otherwise.
VARIABLE = "PLEXLENS_SERVE_TOKEN"

#: Characters of a token at least.
SHORTEST = 16

_TLS = (
    "other machines can reach this address, so pages and token need TLS: give --certificate and --key; "
    "or leave --host out and forward the port (ssh -L); or, behind a proxy that does TLS, add --no-tls"
)


@dataclass(frozen=True)
class Place:
    """The address of the server and its protection.

    Attributes
    ----------
    host, port
        The address; port 0 takes a free one.
    names
        Further host names under which it answers.
    certificate, key
        Files of TLS in PEM form.
    asks_token
        Whether it asks for a token on the machine's own address too.
    without_tls
        Whether it may listen on another address without TLS.
    """

    host: str = "127.0.0.1"
    port: int = 8711
    names: Sequence[str] = ()
    certificate: Path | None = None
    key: Path | None = None
    asks_token: bool = False
    without_tls: bool = False

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        return self.host in ("localhost", "127.0.0.1", "::1")

    def check(self) -> None:
        """Refuse what would be unsafe or cannot work.

        Raises
        ------
        UsageError
            Half of a certificate; an address that others reach, without TLS; a token that can be guessed.
        UnreadableInputError
            The certificate or its key cannot be used.
        """
        if (self.certificate is None) != (self.key is None):
            given, other = ("--key", "--certificate") if self.certificate is None else ("--certificate", "--key")
            raise UsageError(file="", what=f"{given} is given without {other}", remedy=f"add {other} FILE")
        if self.certificate is not None and self.key is not None:
            try:
                ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                    self.certificate, self.key, password=lambda: ""
                )
            except (OSError, ValueError) as error:
                raise UnreadableInputError(
                    file=str(self.certificate),
                    what=f"this certificate and its key cannot be used: {error}",
                    remedy="give both in PEM form, the key without a password",
                ) from error
        elif not self.is_loopback and not self.without_tls:
            raise UsageError(file="", what=f"--host {self.host} without TLS", remedy=_TLS)
        given = os.environ.get(VARIABLE, "")
        if given and (len(given) < SHORTEST or not given.isascii()):
            raise UsageError(
                file="", what=f"{VARIABLE} is not a valid token", remedy=f"give at least {SHORTEST} ASCII characters"
            )

    def token(self) -> str:
        """The required token; empty if only this machine reaches the server and no token is requested."""
        given = os.environ.get(VARIABLE, "")
        if given or self.asks_token or not self.is_loopback:
            return given or secrets.token_urlsafe(32)
        return ""


def run(
    database: Path,
    place: Place,
    *,
    memory_limit: str,
    threads: int | None,
    prices: Path | None,
    tell: Callable[[str], None],
    seconds: float | None = None,
) -> None:
    """Serve a database until the process gets a signal to end.

    Parameters
    ----------
    database
        The performance database.
    place
        Where to listen.
    memory_limit, threads
        What the engine may use.
    prices
        The site's price file, for the page of cost; read once.
    tell
        Is told the address once the server listens.
    seconds
        Time that an answer may take; None for the usual ones.

    Raises
    ------
    PlexlensError
        The database cannot be opened, the price file is wrong, or the server cannot listen there.
    """
    import uvicorn

    from plexlens.cost.prices import read_prices
    from plexlens.serve.app import application
    from plexlens.serve.guard import Door, names_of
    from plexlens.serve.workspace import Workspace

    place.check()
    paid = read_prices(prices) if prices is not None else None
    listening = _listening(place)
    with listening:
        workspace = Workspace(database, memory_limit, threads, seconds)
        port = int(listening.getsockname()[1])
        door = Door(
            names_of(place.host, place.names),
            place.token(),
            port,
            place.certificate is not None,
            any_address=place.host in ("0.0.0.0", "::"),
        )
        config = uvicorn.Config(
            application(workspace, door, prices=paid),
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="off",
            log_level="error",
            access_log=False,
            server_header=False,
            proxy_headers=False,
            limit_concurrency=100,
            timeout_keep_alive=30,
            timeout_graceful_shutdown=3,
            ssl_certfile=place.certificate,
            ssl_keyfile=place.key,
        )
        server = uvicorn.Server(config)
        # uvicorn raises the signal again that ended it, for the handlers that were there before.
        before = {entry: signal.signal(entry, lambda *_: None) for entry in (signal.SIGINT, signal.SIGTERM)}
        try:
            tell(address_of(place, port, door.token))
            server.run(sockets=[listening])
        finally:
            for name, handler in before.items():
                signal.signal(name, handler)


def _listening(place: Place) -> socket.socket:
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    try:
        return socket.create_server((place.host, place.port), family=family, backlog=64)
    except (OSError, OverflowError) as error:
        raise UsageError(
            file="",
            what=f"the server cannot listen on {place.host} port {place.port}: {error}",
            remedy="give another --port (0 takes a free one), or an address of this machine as --host",
        ) from error


def address_of(place: Place, port: int, token: str) -> str:
    """The address to open, with the token."""
    scheme = "http" if place.certificate is None else "https"
    host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(place.host, place.host)
    if place.names:
        host = place.names[0]
    named = f"[{host}]" if ":" in host else host
    return f"{scheme}://{named}:{port}/{f'?token={quote(token)}' if token else ''}"
