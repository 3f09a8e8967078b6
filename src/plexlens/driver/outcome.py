"""Outcomes of requests: each request has exactly one."""

from __future__ import annotations

import http.client
import ssl
from enum import StrEnum


class Outcome(StrEnum):
    """Outcome of a request; the values stand in the column `error` of the result file, empty for a good response."""

    GOOD = ""
    STATUS = "status of a failure"
    WRONG = "wrong response"
    FAULT = "SOAP fault"
    NO_CONNECTION = "no connection"
    TLS = "TLS failed"
    RESET = "connection reset"
    CLOSED = "closed before the response was complete"
    BROKEN = "response that breaks the protocol"
    TIMEOUT = "no response in time"
    CUT = "in flight when the test ended"
    NOT_SENT = "not sent before the test ended"
    DRIVER = "the driver failed"


class ProtocolError(Exception):
    """Bytes that the protocol does not allow."""


#: Outcome of an error with a connection, and without: the first line of its kind holds.
_OUTCOMES: tuple[tuple[tuple[type[BaseException], ...], Outcome, Outcome], ...] = (
    ((TimeoutError,), Outcome.TIMEOUT, Outcome.NO_CONNECTION),
    ((ssl.SSLEOFError, ssl.SSLZeroReturnError), Outcome.CLOSED, Outcome.TLS),
    ((ssl.SSLError,), Outcome.TLS, Outcome.TLS),
    ((EOFError, http.client.IncompleteRead, http.client.RemoteDisconnected), Outcome.CLOSED, Outcome.CLOSED),
    ((http.client.HTTPException, ProtocolError, ValueError), Outcome.BROKEN, Outcome.BROKEN),
    ((OSError,), Outcome.RESET, Outcome.NO_CONNECTION),
)


def outcome_of(error: BaseException, *, connected: bool) -> tuple[Outcome, str]:
    """Outcome and detail of a request that has no complete response.

    Parameters
    ----------
    error
        The error.
    connected
        Whether there was a connection when it happened.
    """
    detail = str(error) or type(error).__name__
    for kinds, with_connection, without in _OUTCOMES:
        if isinstance(error, kinds):
            return (with_connection if connected else without), detail
    return Outcome.DRIVER, f"{type(error).__name__}: {detail}"
