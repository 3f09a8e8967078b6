"""Questions to a Distributed Data Server over HTTP: one at a time, within limits of time and size, no redirection."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import urllib.parse
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import Enum
from pathlib import Path

from plexlens.errors import PlexlensError, UsageError
from plexlens.watch.dds.address import PASSWORD, USER, Address, Credentials

#: Seconds that the server has for an answer, and bytes that one may have.
TIME_LIMIT, SIZE_LIMIT = 60.0, 64 << 20

_CHUNK = 1 << 16
_XML = ("text/xml", "application/xml")


class Trouble(Enum):
    """The consequence of an error for the next question."""

    AWAY = "away"
    """No server is there: every question would fail."""
    ANSWER = "answer"
    """This answer failed; another one may not."""
    REFUSED = "refused"
    """The user or password is not accepted: a system revokes users after some tries."""
    WRONG = "wrong"
    """What is there is none that may be trusted, or what is asked for can never be there."""
    ANOTHER = "another"
    """Another page came, as from another server, or from a gateway while the server is away."""


class DdsError(PlexlensError):
    """A question that got no answer."""

    def __init__(self, address: Address, what: str, remedy: str, trouble: Trouble) -> None:
        super().__init__(file=str(address), what=what, remedy=remedy)
        self.trouble = trouble


@dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes
    ----------
    body
        Its bytes, expanded.
    date
        The clock of the server, if the answer has it.
    """

    body: bytes
    date: datetime | None


class Client:
    """Asks a server.

    Parameters
    ----------
    address
        The server.
    credentials
        Who asks; None for a server without authentication.
    authorities
        File of certificates (PEM) that vouch for the server in place of those of the machine.
    seconds, largest
        Limits of an answer.

    Raises
    ------
    UsageError
        The file of certificates cannot be used.
    """

    def __init__(
        self,
        address: Address,
        credentials: Credentials | None = None,
        *,
        authorities: Path | None = None,
        seconds: float = TIME_LIMIT,
        largest: int = SIZE_LIMIT,
    ) -> None:
        self.address = address
        self._credentials = credentials
        self._seconds = seconds
        self._largest = largest
        self._context = _context(authorities) if address.scheme == "https" else None

    def get(self, document: str, **parameters: str) -> Reply:
        """Ask for a document below ``/gpm``.

        Parameters
        ----------
        document
            ``rmfm3.xml`` for example.
        parameters
            Parameters of the question.

        Raises
        ------
        DdsError
            There is no whole answer in XML.
        """
        target = f"{self.address.path}/gpm/{document}"
        if parameters:
            target += f"?{urllib.parse.urlencode(parameters)}"
        connection = self._connection()
        try:
            try:
                connection.connect()
                with _deadline(connection.sock, self._seconds) as expired:
                    connection.request("GET", target, headers=self._headers())
                    with closing(connection.getresponse()) as response:
                        reply = self._reply(response, document)
                    if not expired.is_set():
                        return reply
            except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
                raise self._failure(error, document) from error
        finally:
            connection.close()
        raise self._late(document)

    def _connection(self) -> http.client.HTTPConnection:
        host, port = self.address.host, self.address.port
        if self._context is not None:
            return http.client.HTTPSConnection(host, port, timeout=self._seconds, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=self._seconds)

    def _headers(self) -> dict[str, str]:
        headers = {
            "Accept": ", ".join(_XML),
            "Accept-Encoding": "gzip",
            "Connection": "close",
            "User-Agent": "plexlens",
        }
        if self._credentials is not None:
            headers["Authorization"] = self._credentials.header()
        return headers

    def _reply(self, response: http.client.HTTPResponse, document: str) -> Reply:
        self._check_status(response, document)
        kind = response.headers.get_content_type() if "Content-Type" in response.headers else ""
        if kind not in (*_XML, "") and not kind.endswith("+xml"):
            raise self._another(
                f"{document} is {kind} and not XML",
                "give the address of the Distributed Data Server, and check its port",
            )
        encoding = (response.getheader("Content-Encoding") or "").strip().lower()
        if encoding not in ("", "identity", "gzip"):
            raise self._failed(f"{document} came with the encoding {encoding!r}, which was not asked for")
        body = self._body(response, document, is_packed=encoding == "gzip")
        return Reply(body, _date(response.getheader("Date")))

    def _check_status(self, response: http.client.HTTPResponse, document: str) -> None:
        status = response.status
        if status == 200:
            return
        said = f"{document} was answered with {status} {response.reason}".rstrip()
        if status in (401, 403):
            if self._credentials is None:
                raise DdsError(self.address, f"{said}: it wants a user", f"set {USER} and {PASSWORD}", Trouble.REFUSED)
            raise DdsError(
                self.address,
                f"{said}: user {self._credentials.user} or the password is not accepted",
                f"check {USER} and {PASSWORD}, and whether the user may use the server",
                Trouble.REFUSED,
            )
        if 300 <= status < 400:
            to = urllib.parse.urlsplit(response.getheader("Location") or "")
            elsewhere = f"{to.scheme}://{to.hostname}" if to.hostname else "elsewhere"
            raise self._another(
                f"{said}: it leads to {elsewhere}, and redirections are not followed",
                "give the address that it leads to",
            )
        if status == 404:
            raise self._another(f"{said}: it has no such document", "check the address, its port and its path")
        raise self._failed(said)

    def _body(self, response: http.client.HTTPResponse, document: str, *, is_packed: bool) -> bytes:
        unpack = zlib.decompressobj(wbits=31) if is_packed else None
        pieces: list[bytes] = []
        size = packed = 0
        while chunk := response.read1(_CHUNK):
            packed += len(chunk)
            if unpack is not None:
                chunk = unpack.decompress(chunk, self._largest - size + 1)
            pieces.append(chunk)
            size += len(chunk)
            if max(size, packed) > self._largest:
                raise self._failed(f"{document} is larger than {self._largest >> 20} MiB")
        if response.length or (unpack is not None and not unpack.eof):
            raise self._failed(f"{document} broke off after {packed:,} bytes")
        return b"".join(pieces)

    def _failure(self, error: Exception, document: str) -> DdsError:
        if isinstance(error, ssl.SSLCertVerificationError):
            return self._wrong(
                f"its certificate is not accepted: {error.verify_message}",
                "give the certificate of the authority that signed it with --ca FILE",
            )
        if isinstance(error, TimeoutError):
            return self._late(document)
        if isinstance(error, ssl.SSLError):
            return self._wrong(
                f"no TLS connection: {error.reason or error}", "check the port, and whether it is one of TLS"
            )
        if isinstance(error, http.client.HTTPException | zlib.error | ValueError):
            return self._failed(f"{document} broke off or is not HTTP: {type(error).__name__}")
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return DdsError(
            self.address, f"there is no connection: {why}", "check the address, and that the server runs", Trouble.AWAY
        )

    def _late(self, document: str) -> DdsError:
        return self._failed(f"{document} was not answered within {self._seconds:g} s")

    def _failed(self, what: str) -> DdsError:
        return DdsError(self.address, what, "look at the messages of the server (GPMSERVE)", Trouble.ANSWER)

    def _wrong(self, what: str, remedy: str) -> DdsError:
        return DdsError(self.address, what, remedy, Trouble.WRONG)

    def _another(self, what: str, remedy: str) -> DdsError:
        return DdsError(self.address, what, remedy, Trouble.ANOTHER)


@contextmanager
def _deadline(connection: socket.socket, seconds: float) -> Iterator[threading.Event]:
    """Cut a connection when its time is over: a limit of the socket counts anew from byte to byte."""
    expired = threading.Event()

    def cut() -> None:
        expired.set()
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, cut)
    timer.daemon = True
    timer.start()
    try:
        yield expired
    except (OSError, http.client.HTTPException, zlib.error, ValueError) as error:
        if expired.is_set():
            raise TimeoutError from error
        raise
    except DdsError as error:
        if expired.is_set():
            raise TimeoutError from error
        raise
    finally:
        timer.cancel()


def _context(authorities: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if authorities is None else str(authorities))
    except (OSError, ssl.SSLError) as error:
        raise UsageError(
            file=str(authorities),
            what=f"no certificates can be read from it: {error.strerror or error}",
            remedy="give a file of certificates in PEM form",
        ) from error


def _date(text: str | None) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text) if text else None
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment is not None and moment.tzinfo is not None else None
