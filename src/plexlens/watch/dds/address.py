"""The address of a Distributed Data Server, and who asks it."""

from __future__ import annotations

import base64
import importlib
import importlib.util
import os
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass, field

from plexlens.errors import UsageError

#: Port on which the server listens unless its options (HTTP_PORT) say otherwise.
PORT = 8803

#: Where user and password come from; commands that findings are given to do not get them.
USER, PASSWORD = "PLEXLENS_DDS_USER", "PLEXLENS_DDS_PASSWORD"

_SCHEMES = ("http", "https")


@dataclass(frozen=True)
class Address:
    """The place of a server.

    Attributes
    ----------
    scheme
        ``http`` or ``https``.
    host, port
        Where it listens.
    path
        What stands before ``/gpm``, for a gateway; mostly empty.
    """

    scheme: str
    host: str
    port: int
    path: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def is_address(text: str) -> bool:
    """Whether a source is the address of a server and not a folder."""
    return "://" in text


def parse_address(text: str) -> Address:
    """Read an address.

    Parameters
    ----------
    text
        ``http://HOST``, ``https://HOST:PORT`` or one of these with a path before ``/gpm``.

    Raises
    ------
    UsageError
        It is not the address of a server, or holds a user or password.
    """
    shown = text.rpartition("@")[2] if "@" in text else text
    try:
        parts = urllib.parse.urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise _not_an_address(shown, str(error)) from error
    if "@" in parts.netloc:
        raise UsageError(
            file=shown,
            what="a user or password in the address can be read by everyone on this machine",
            remedy=f"leave it out, and set the variables {USER} and {PASSWORD}",
        )
    if parts.scheme not in _SCHEMES or not host:
        raise _not_an_address(shown, f"it begins with none of {', '.join(f'{name}://HOST' for name in _SCHEMES)}")
    if parts.query or parts.fragment:
        raise _not_an_address(shown, "it must end before reports and resources")
    path = parts.path.rstrip("/")
    return Address(parts.scheme, host, port or PORT, path.removesuffix("/gpm"))


def _not_an_address(text: str, why: str) -> UsageError:
    return UsageError(
        file=text,
        what=f"this is not the address of a Distributed Data Server: {why}",
        remedy=f"give an address such as https://sysplex.example:{PORT}, or a folder",
    )


@dataclass(frozen=True)
class Credentials:
    """User and password; neither is shown where the object is printed."""

    user: str
    password: str = field(repr=False)

    def header(self) -> str:
        """The value of the header Authorization (RFC 7617)."""
        both = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(both).decode('ascii')}"


def credentials_of(address: Address, environment: Mapping[str, str] = os.environ) -> Credentials | None:
    """User and password from the environment, or the password from the keyring of this user.

    The keyring is asked if the package `keyring` is installed: service ``plexlens HOST``.

    Parameters
    ----------
    address
        The server.
    environment
        The variables.

    Returns
    -------
    Credentials or None
        None if no user is set: the server is asked without.

    Raises
    ------
    UsageError
        A user without a password, or a password without a user.
    """
    user, password = environment.get(USER, ""), environment.get(PASSWORD, "")
    if user and not password:
        password = _from_keyring(f"plexlens {address.host}", user)
    if bool(user) != bool(password):
        missing, there = (USER, PASSWORD) if password else (PASSWORD, USER)
        or_keyring = "" if password else f", or `keyring set 'plexlens {address.host}' {user}` with the package keyring"
        raise UsageError(file="", what=f"{there} is set and {missing} is not", remedy=f"set {missing}{or_keyring}")
    if any(character in user + password for character in "\r\n\0") or ":" in user:
        raise UsageError(
            file="", what=f"{USER} or {PASSWORD} holds a line end, or the user a colon", remedy="set them without it"
        )
    return Credentials(user, password) if user else None


def _from_keyring(service: str, user: str) -> str:
    if importlib.util.find_spec("keyring") is None:
        return ""
    try:
        return importlib.import_module("keyring").get_password(service, user) or ""
    except Exception as error:  # a keyring without a desktop fails in the ways of its back end
        raise UsageError(
            file="", what=f"the keyring cannot be read: {error}", remedy=f"unlock it, or set {PASSWORD}"
        ) from error
