"""The test plan: a file in TOML that says which requests are sent to which server, when and over which connections."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from plexlens.driver.arrivals import Arrivals
from plexlens.driver.connection import Server, Style
from plexlens.driver.exchange import Expected, Framing, Protocol, Request
from plexlens.driver.think_time import Bactrian, Constant, Empirical, Exponential, ThinkTime
from plexlens.errors import UnreadableInputError
from plexlens.metrics.catalogue.document import read_document
from plexlens.metrics.catalogue.table import Entry, Table, alone

#: TLS and usual port by the scheme of a server's address.
_SCHEMES = {"tcp": (False, None), "tls": (True, None), "http": (False, 80), "https": (True, 443)}
_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD")
#: Requests per second of the highest rate: a process sends less than a hundredth, and each that is due gets a line.
_MOST_RATE = 100_000
_LESS = f"give at most {_MOST_RATE:,}; a process of the driver sends some 600 per second"
_TLS = ("full", "resumed")
_ENVELOPES = ("1.1", "1.2")
_THINKS = ("constant", "exponential", "bactrian", "empirical")
_MOST_USERS = 100_000


@dataclass(frozen=True)
class Users:
    """Closed load: users who think, send a request, wait for the response, and think again.

    Attributes
    ----------
    number
        Users.
    think
        Distribution of think times.
    seconds
        Length of the test.
    ramp_seconds
        Time over which the users begin.
    """

    number: int
    think: ThinkTime
    seconds: float
    ramp_seconds: float = 0.0


@dataclass(frozen=True)
class Plan:
    """A test plan.

    Attributes
    ----------
    path
        The file.
    server
        Where requests go.
    load
        Open arrivals, or users.
    style
        How requests use connections.
    most
        Connections of a pool; None for any number.
    requests
        What is sent.
    seed
        Seed of arrivals, think times and the choice of requests.
    timeout
        Seconds after which a request without a complete response is given up.
    """

    path: Path
    server: Server
    load: Arrivals | Users
    style: Style
    most: int | None
    requests: tuple[Request, ...]
    seed: int
    timeout: float

    @property
    def seconds(self) -> float:
        """Length of the test."""
        return self.load.seconds


def read_plan(path: Path) -> Plan:
    """Read a test plan.

    Raises
    ------
    CatalogueError
        It is not TOML, lacks a key, or has an unknown key or an impossible value; the message names file, line and key.
    UnreadableInputError
        There is no such file, or a file that it names cannot be read.
    """
    if not path.is_file():
        raise UnreadableInputError(
            file=str(path), what="there is no such test plan", remedy="give a file in TOML; docs/driver.md shows one"
        )
    document = read_document(path, shipped=False)
    top = Entry(dict(document.values), document, ()).table("server", "connection", "open", "users", "request", "seed")
    table = top.need("server", '[server] with url = "http://host:80"').table("url", "timeout_seconds", "ca", "verify")
    connection = top.get("connection")
    ways = Table({}, top.whole) if connection is None else connection.table("style", "pool", "tls")
    style = Style(_word(ways, "style", tuple(Style), "persistent"))
    timeout = _number(table.get("timeout_seconds"), 10.0)
    server, scheme = _server(table, _word(ways, "tls", _TLS, "full") == "resumed", timeout)
    if server.resume and not server.tls:
        raise ways.entries["tls"].wrong(f"the server is reached by {scheme}, without TLS", "use https or tls")
    requests = _requests(top, "http" if scheme.startswith("http") else "tcp")
    kind = alone(top, ("open", "users"), "[open] with rate and seconds, or [users] with number, think and seconds")
    load = _arrivals(top.entries[kind]) if kind == "open" else _users(top.entries[kind])
    pool = ways.get("pool")
    if (style is Style.POOLED) != (pool is not None):
        raise ways.whole.wrong(
            f"connections are {style}, and pool is {'missing' if pool is None else 'given'}",
            'give the number of connections of a pool with style = "pooled", and only there',
        )
    seed = top.get("seed")
    return Plan(
        path,
        server,
        load,
        style,
        None if pool is None else _whole(pool, 1, 100_000),
        requests,
        1 if seed is None else _whole(seed, 0, 2**63 - 1),
        timeout,
    )


def _word(table: Table, key: str, valid: tuple[str, ...], default: str) -> str:
    entry = table.get(key)
    return default if entry is None else entry.one_of(valid, key)


def _number(entry: Entry | None, default: float, *, least: float = 0.0, above: bool = True) -> float:
    if entry is None:
        return default
    value: Any = entry.value
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not usable or value < least or (above and value == least):
        raise entry.wrong(f"it is {value!r}", f"give a number {'above' if above else 'of at least'} {least:g}")
    return float(value)


def _whole(entry: Entry, least: int, most: int) -> int:
    value: Any = entry.value
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise entry.wrong(f"it is {value!r}", f"give a whole number from {least:,} to {most:,}")
    return value


def _server(table: Table, resume: bool, timeout: float) -> tuple[Server, str]:
    entry = table.need("url", 'url = "http://host:80"')
    try:
        parts = urlsplit(entry.text())
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise entry.wrong(f"it cannot be read as an address: {error}", 'write url = "https://host:443"') from error
    if parts.scheme not in _SCHEMES or not host or parts.path.strip("/") or parts.query:
        raise entry.wrong(
            f"{entry.value!r} is not the address of a server",
            f"write SCHEME://HOST:PORT with a scheme of {', '.join(_SCHEMES)}; paths stand with the requests",
        )
    tls, usual = _SCHEMES[parts.scheme]
    number = port or usual
    if number is None:
        raise entry.wrong("it has no port", f'write url = "{parts.scheme}://{host}:5000"')
    ca, verify = table.get("ca"), table.get("verify")
    file = None if ca is None else _file(ca)
    check = True if verify is None else verify.truth()
    return Server(host, number, tls, file, check, resume, timeout), parts.scheme


def _file(entry: Entry) -> Path:
    path = entry.document.path.parent / entry.text()
    if not path.is_file():
        raise entry.wrong(f"there is no file {path}", "name a file, relative to the folder of the plan")
    return path


def _arrivals(entry: Entry) -> Arrivals:
    table = entry.table("rate", "seconds", "profile", "arrivals")
    is_poisson = _word(table, "arrivals", ("poisson", "even"), "poisson") == "poisson"
    if "profile" not in table:
        rate = _number(table.need("rate", "rate = 50, or profile = [[0, 10], [60, 50]]"), 0.0)
        seconds = _number(table.need("seconds", "seconds = 300"), 0.0)
        if rate > _MOST_RATE:
            raise table.entries["rate"].wrong(f"it is {rate:g} requests per second", _LESS)
        return Arrivals(((0.0, rate), (seconds, rate)), is_poisson)
    for key in ("rate", "seconds"):
        if key in table:
            raise table.entries[key].wrong(f"{key} and profile cannot be combined", "keep one of them")
    profile = table.entries["profile"]
    points = [tuple(point) for point in profile.value] if _is_profile(profile.value) else []
    rising = len(points) > 1 and points[0][0] == 0 and all(left[0] <= right[0] for left, right in pairwise(points))
    if not rising or Arrivals(tuple(points)).expected() <= 0:
        raise profile.wrong(
            "it is not a profile of a rate",
            "write points of [seconds, requests per second] in rising order from second 0: [[0, 10], [60, 50]]",
        )
    if (highest := max(rate for _, rate in points)) > _MOST_RATE:
        raise profile.wrong(f"it has {highest:g} requests per second", _LESS)
    return Arrivals(tuple((float(second), float(rate)) for second, rate in points), is_poisson)


def _is_profile(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(point, list)
        and len(point) == 2
        and all(
            isinstance(part, int | float) and not isinstance(part, bool) and math.isfinite(part) and part >= 0
            for part in point
        )
        for point in value
    )


def _users(entry: Entry) -> Users:
    table = entry.table("number", "seconds", "ramp_seconds", "think")
    think = table.need("think", 'think = {distribution = "exponential", mean = 5}')
    return Users(
        _whole(table.need("number", "number = 50"), 1, _MOST_USERS),
        _think(think),
        _number(table.need("seconds", "seconds = 300"), 0.0),
        _number(table.get("ramp_seconds"), 0.0, above=False),
    )


def _think(entry: Entry) -> ThinkTime:
    table = entry.table("distribution", "mean", "short", "long", "short_share", "values", "file")
    kind = table.need("distribution", 'distribution = "exponential"').one_of(_THINKS, "distribution")
    keys = {"bactrian": ("short", "long", "short_share"), "empirical": ("values", "file")}.get(kind, ("mean",))
    for key, value in table.entries.items():
        if key not in ("distribution", *keys):
            raise value.wrong(f"a think time that is {kind} has no {key}", f"its keys are {', '.join(keys)}")
    if kind == "empirical":
        return _empirical(table)
    if kind == "bactrian":
        usual = Bactrian()
        share = table.get("short_share")
        short_share = _number(share, usual.short_share, above=False)
        if share is not None and short_share > 1:
            raise share.wrong(f"it is {short_share:g}", "give a share from 0 to 1")
        return Bactrian(_number(table.get("short"), usual.short), _number(table.get("long"), usual.long), short_share)
    mean = _number(table.need("mean", "mean = 5"), 0.0, above=kind == "exponential")
    return Exponential(mean) if kind == "exponential" else Constant(mean)


def _empirical(table: Table) -> Empirical:
    entry = table.entries[alone(table, ("values", "file"), "values = [1.5, 20.0]")]
    values: list[float] = []
    if "values" in table:
        raw = entry.value if isinstance(entry.value, list) else [None]
        values = [_number(Entry(value, entry.document, entry.place), 0.0, above=False) for value in raw]
    else:
        path = _file(entry)
        try:
            with path.open(encoding="utf-8", newline="") as stream:
                for line, row in enumerate(csv.reader(stream), 1):
                    values += [float(cell) for cell in row[:1]]
                    if values and not (math.isfinite(values[-1]) and values[-1] >= 0):
                        raise ValueError(f"{values[-1]} in line {line}")
        except (OSError, UnicodeDecodeError, ValueError, csv.Error) as error:
            raise entry.wrong(
                f"{path.name} is not a list of think times: {error}",
                "give a file with a number of seconds in each line",
            ) from error
    if not values:
        raise entry.wrong("it holds no think time", "give at least one number of seconds")
    return Empirical(tuple(values))


def _requests(top: Table, family: str) -> tuple[Request, ...]:
    entry = top.need("request", '[[request]] with name = "inquiry"')
    if not isinstance(entry.value, list):
        raise entry.wrong("it is not a list of tables", "write each request as [[request]]")
    requests = tuple(
        _request(Entry(value, entry.document, ("request", place)), family) for place, value in enumerate(entry.value)
    )
    names = [request.name for request in requests]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise Entry(name, entry.document, ("request", place, "name")).wrong(
                f"the request {name!r} is there twice", "give each request a name of its own"
            )
    if sum(request.weight for request in requests) <= 0:
        raise entry.wrong("all weights are zero", "give a weight above zero")
    return requests


def _request(entry: Entry, family: str) -> Request:
    table = entry.table(
        "name", "protocol", "weight", "method", "path", "headers", "body", "body_file", "body_bytes", "length_bytes",
        "length_counts_itself", "soap", "action", "expect",
    )  # fmt: skip
    valid = ("tcp",) if family == "tcp" else ("http", "rest", "soap")
    protocol = Protocol(_word(table, "protocol", valid, family))
    only = {
        "tcp": ("length_bytes", "length_counts_itself"),
        "soap": ("path", "headers", "soap", "action"),
    }.get(protocol, ("method", "path", "headers"))
    for key in ("method", "path", "headers", "soap", "action", "length_bytes", "length_counts_itself"):
        if key in table and key not in only:
            raise table.entries[key].wrong(f"{key} has no meaning for {protocol}", f"its keys are {', '.join(only)}")
    body = _sent(table, protocol)
    usual = "POST" if protocol is Protocol.SOAP or body else "GET"
    path = table.text("path") or "/"
    if not path.startswith("/") or any(sign.isspace() for sign in path):
        raise table.entries["path"].wrong(f"{path!r} is not a path", "begin it with /, without blanks")
    size = table.get("length_bytes")
    counts = table.get("length_counts_itself")
    width = 4 if size is None else _whole(size, 1, 8)
    framing = Framing(width, False if counts is None else counts.truth())
    if len(body) + width >= 1 << (8 * width):
        raise table.whole.wrong(
            f"{len(body):,} bytes do not fit a length of {width} bytes", "give a larger length_bytes"
        )
    return Request(
        table.need("name", 'name = "inquiry"').text(),
        protocol,
        _number(table.get("weight"), 1.0, above=False),
        _word(table, "method", _METHODS, usual),
        path,
        tuple(table.names("headers").items()),
        body,
        framing,
        _word(table, "soap", _ENVELOPES, "1.1"),
        table.text("action"),
        _expected(table),
    )


def _sent(table: Table, protocol: Protocol) -> bytes:
    keys = [key for key in ("body", "body_file", "body_bytes") if key in table]
    if not keys:
        return b""
    entry = table.entries[alone(table, ("body", "body_file", "body_bytes"), 'body = "..."')]
    if keys[0] == "body":
        return entry.text().encode()
    if keys[0] == "body_file":
        return _file(entry).read_bytes()
    filling = b"x" * _whole(entry, 1, 64 << 20)
    # As content of an envelope's body stands an element, and REST sends JSON.
    return {Protocol.SOAP: b"<data>%s</data>" % filling, Protocol.REST: b'"%s"' % filling}.get(protocol, filling)


def _expected(table: Table) -> Expected:
    entry = table.get("expect")
    if entry is None:
        return Expected()
    wanted = entry.table("status", "contains", "bytes", "echo")
    status, size, echo = wanted.get("status"), wanted.get("bytes"), wanted.get("echo")
    return Expected(
        None if status is None else _whole(status, 100, 599),
        wanted.text("contains").encode() or None,
        None if size is None else _whole(size, 0, 64 << 20),
        False if echo is None else echo.truth(),
    )
