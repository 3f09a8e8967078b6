"""Test plans: what a file says, and what is refused with line, key and remedy."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.driver import Arrivals, Bactrian, Constant, Empirical, Exponential, read_plan
from plexlens.driver.connection import Style
from plexlens.driver.exchange import Protocol
from plexlens.driver.plan import Users
from plexlens.errors import PlexlensError, UnreadableInputError

WHOLE = """seed = 11
[server]
url = "https://perf.example:8443"
timeout_seconds = 5
[users]
number = 40
seconds = 600
ramp_seconds = 30
think = {distribution = "bactrian"}
[connection]
style = "pooled"
pool = 8
tls = "resumed"
[[request]]
name = "inquiry"
weight = 3
path = "/inquiry?id=1"
expect = {status = 200, contains = "balance"}
[[request]]
name = "order"
protocol = "soap"
action = "urn:order"
body = "<order/>"
headers = {X-Test = "1"}
"""


def plan(text: str, folder: Path) -> Path:
    path = folder / "plan.toml"
    path.write_text(text)
    return path


def test_a_whole_plan(tmp_path: Path) -> None:
    read = read_plan(plan(WHOLE, tmp_path))
    assert (read.server.host, read.server.port, read.server.tls, read.server.resume) == (
        "perf.example",
        8443,
        True,
        True,
    )
    assert read.load == Users(40, Bactrian(), 600.0, 30.0)
    assert (read.style, read.most, read.seed, read.timeout) == (Style.POOLED, 8, 11, 5.0)
    inquiry, order = read.requests
    assert (inquiry.protocol, inquiry.method, inquiry.weight, inquiry.body) == (Protocol.HTTP, "GET", 3.0, b"")
    assert (order.protocol, order.method, order.headers) == (Protocol.SOAP, "POST", (("X-Test", "1"),))
    assert b"<s:Body><order/></s:Body>" in order.payload()


@pytest.mark.parametrize(("think", "expected"), [
    ('{distribution = "exponential", mean = 2}', Exponential(2.0)),
    ('{distribution = "constant", mean = 0}', Constant(0.0)),
    ('{distribution = "bactrian", short = 1, long = 9, short_share = 0.25}', Bactrian(1.0, 9.0, 0.25)),
    ('{distribution = "empirical", values = [1, 2.5]}', Empirical((1.0, 2.5))),
    ('{distribution = "empirical", file = "thoughts.txt"}', Empirical((0.5, 4.0))),
])  # fmt: skip
def test_think_times(think: str, expected: object, tmp_path: Path) -> None:
    (tmp_path / "thoughts.txt").write_text("0.5\n4\n")
    load = read_plan(plan(WHOLE.replace('{distribution = "bactrian"}', think), tmp_path)).load
    assert isinstance(load, Users)
    assert load.think == expected


def test_open_arrivals(tmp_path: Path) -> None:
    users = WHOLE[WHOLE.index("[users]") : WHOLE.index("[connection]")]
    rate = plan(WHOLE.replace(users, "[open]\nrate = 50\nseconds = 60\n"), tmp_path)
    assert read_plan(rate).load == Arrivals(((0.0, 50.0), (60.0, 50.0)))
    profile = plan(WHOLE.replace(users, '[open]\nprofile = [[0, 1], [9, 5]]\narrivals = "even"\n'), tmp_path)
    assert read_plan(profile).load == Arrivals(((0.0, 1.0), (9.0, 5.0)), False)
    assert read_plan(profile).seconds == 9.0


@pytest.mark.parametrize(("body", "protocol", "sent"), [
    ("body_bytes = 3", "http", b"xxx"),
    ("body_bytes = 3", "rest", b'"xxx"'),
    ("body_bytes = 3", "soap", b"<data>xxx</data>"),
    ('body_file = "body.bin"', "http", b"\x00\x01"),
])  # fmt: skip
def test_bodies(body: str, protocol: str, sent: bytes, tmp_path: Path) -> None:
    (tmp_path / "body.bin").write_bytes(b"\x00\x01")
    text = WHOLE[: WHOLE.index("[[request]]")] + f'[[request]]\nname = "a"\nprotocol = "{protocol}"\n{body}\n'
    (request,) = read_plan(plan(text, tmp_path)).requests
    assert (request.body, request.method) == (sent, "POST")


@pytest.mark.parametrize(("before", "after", "line", "what"), [
    ('"https://perf.example:8443"', '"perf.example:8443"', 3, "is not the address of a server"),
    ('"https://perf.example:8443"', '"ftp://perf.example"', 3, "http, https"),
    ('"https://perf.example:8443"', '"https://perf.example:8443/path"', 3, "paths stand with the requests"),
    ('"https://perf.example:8443"', '"https://perf.example:99999"', 3, "as an address"),
    ('"https://perf.example:8443"', '"http://perf.example"', 13, "reached by http, without TLS"),
    ("timeout_seconds = 5", "timeout_seconds = 0", 4, "give a number above 0"),
    ("timeout_seconds = 5", 'ca = "none.pem"', 4, "there is no file"),
    ("number = 40", "number = 0", 6, "from 1 to 100,000"),
    ("number = 40", "number = 40.5", 6, "whole number"),
    ("seconds = 600", "second = 600", 7, "did you mean seconds"),
    ('{distribution = "bactrian"}', '{distribution = "normal"}', 9, "there is no distribution 'normal'"),
    ('{distribution = "bactrian"}', '{distribution = "bactrian", mean = 4}', 9, "has no mean"),
    ('{distribution = "bactrian"}', '{distribution = "bactrian", short_share = 2}', 9, "from 0 to 1"),
    ('{distribution = "bactrian"}', '{distribution = "exponential"}', 9, "the key mean is missing"),
    ('{distribution = "bactrian"}', '{distribution = "empirical", values = []}', 9, "no think time"),
    ('{distribution = "bactrian"}', '{distribution = "empirical", values = [-1]}', 9, "at least 0"),
    ('{distribution = "bactrian"}', '{distribution = "empirical", file = "plan.toml"}', 9, "not a list of think times"),
    ("[users]", "[open]\nrate = 4\nseconds = 5\n[users]", None, "cannot be combined"),
    ('style = "pooled"', 'style = "shared"', 11, "there is no style 'shared'"),
    ("pool = 8\n", "", 10, "pool is missing"),
    ('style = "pooled"', 'style = "new"', 10, "pool is given"),
    ("weight = 3", "weight = -1", 16, "at least 0"),
    ('path = "/inquiry?id=1"', 'path = "inquiry"', 17, "begin it with /"),
    ('path = "/inquiry?id=1"', 'path = "/in quiry"', 17, "is not a path"),
    ('path = "/inquiry?id=1"', "length_bytes = 2", 17, "has no meaning for http"),
    ('name = "order"', 'name = "inquiry"', 20, "is there twice"),
    ('protocol = "soap"', 'protocol = "tcp"', 21, "there is no protocol 'tcp'"),
    ('body = "<order/>"', 'body = "<order/>"\nbody_bytes = 4', None, "cannot be combined"),
    ("seed = 11", "seed = -1", 1, "whole number"),
    ("seed = 11", "seed = ", 1, "not TOML"),
])  # fmt: skip
def test_what_is_wrong_is_named_with_its_line(
    before: str, after: str, line: int | None, what: str, tmp_path: Path
) -> None:
    assert before in WHOLE
    path = plan(WHOLE.replace(before, after, 1), tmp_path)
    with pytest.raises(PlexlensError) as caught:
        read_plan(path)
    assert what in str(caught.value)
    assert str(path) in str(caught.value)
    assert caught.value.line == line or line is None


@pytest.mark.parametrize("profile", ["[[0, 5]]", "[[1, 5], [2, 5]]", "[[0, 5], [9, 5], [8, 5]]", "[[0, 0], [9, 0]]",
                                     "[[0, 5], [9]]", "[[0, -5], [9, 5]]", "5"])  # fmt: skip
def test_a_profile_that_is_none(profile: str, tmp_path: Path) -> None:
    users = WHOLE[WHOLE.index("[users]") : WHOLE.index("[connection]")]
    with pytest.raises(PlexlensError, match="not a profile"):
        read_plan(plan(WHOLE.replace(users, f"[open]\nprofile = {profile}\n"), tmp_path))


@pytest.mark.parametrize("load", ["rate = 1e12\nseconds = 4", "profile = [[0, 5], [9, 1000000]]"])
def test_a_rate_that_no_driver_sends(load: str, tmp_path: Path) -> None:
    users = WHOLE[WHOLE.index("[users]") : WHOLE.index("[connection]")]
    with pytest.raises(PlexlensError, match="give at most 100,000"):
        read_plan(plan(WHOLE.replace(users, f"[open]\n{load}\n"), tmp_path))


def test_no_plan(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInputError, match="no such test plan"):
        read_plan(tmp_path / "none.toml")
