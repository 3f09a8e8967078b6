"""The laboratory in short: its servers, and both accounts of a real run."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from plexlens.driver import account
from plexlens.driver.account import read_account
from plexlens.driver.connection import Connector, Server
from plexlens.driver.exchange import Expected, Protocol, Request, exchange
from plexlens.driver.outcome import Outcome
from plexlens.errors import NothingUsableError
from plexlens.lab import WAYS, measure
from plexlens.lab import measure as package
from plexlens.lab.agreement import agreements
from plexlens.lab.way import KINDS

REQUESTS = {
    "socket": Request("a", Protocol.TCP, body=b"12345", expected=Expected(echo=True)),
    "http": Request("a", Protocol.HTTP, method="POST", body=b"12345", expected=Expected(echo=True)),
    "soap": Request("a", Protocol.SOAP, method="POST", body=b"<q>12345</q>", expected=Expected(contains=b">12345<")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_echoes_counts_and_ends_with_its_input(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "server.account"
    command = [sys.executable, "-m", "plexlens.lab.server", kind, "--account", str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        connector = Connector(Server("127.0.0.1", int(process.stdout.readline())))
        connection = connector.connect()
        for _ in range(7):
            assert exchange(connection, REQUESTS[kind], connector.server, keep=True).outcome is Outcome.GOOD
        connection.close()
        time.sleep(0.5)
        process.stdin.close()
        assert process.wait(10) == 0
    lines = read_account(path)
    assert [requests for _, _, requests in lines][-1] == 7
    assert lines == sorted(lines)
    assert 0 < lines[-1][1] < 30


def test_a_cut_account_ends_with_its_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "account"
    path.write_text("1.5 0.25 3\n2.5 0.5 6\n3.5 0.7")
    assert read_account(path) == [(1.5, 0.25, 3), (2.5, 0.5, 6)]
    assert account.cpu_seconds() > 0


@pytest.mark.usefixtures("locust")
def test_the_short_form(tmp_path: Path) -> None:
    """A plain and a TLS way, 8 s each: both accounts agree within 3 % in the mean, and 6 % in a window of 3.4 s."""
    ways = [way for way in WAYS if way.id in ("http-plain-persistent", "socket-tls-resumed-new")]
    lab = measure(ways, 1, 8.0)
    assert lab.left_out == ()
    compared = agreements(lab, tmp_path)
    assert len(compared) == 8
    assert all(entry.largest < 0.06 for entry in compared), compared
    assert abs(sum(entry.difference for entry in compared)) / len(compared) < 0.03
    for run in lab.runs:
        assert run.driven.outcomes == {Outcome.GOOD: run.driven.requests}
        half, whole = (window.rate for window in run.windows)
        assert whole / half == pytest.approx(2.0, rel=0.5)
    resumed = next(run for run in lab.runs if run.way.security == "resumed")
    assert resumed.driven.tls["resumed"] > 0.9 * resumed.driven.requests


def test_a_run_that_fails_is_listed_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(way: object, repeat: int, *rest: object) -> object:
        if repeat == 2:
            raise NothingUsableError(file="", what="3 of 9 requests failed", remedy="again")
        if repeat == 3:
            raise KeyboardInterrupt
        return repeat

    monkeypatch.setattr(sys.modules[package.__module__], "_run", fails)
    ways = [way for way in WAYS if way.id == "socket-plain-new"]
    lab = measure(ways, 4, 5.0)
    assert lab.runs == (1,)  # type: ignore[comparison-overlap]
    assert lab.stopped
    assert lab.left_out == (
        ("socket-plain-new, run 2", "3 of 9 requests failed"),
        ("socket-plain-new, run 3", "stopped by Ctrl-C"),
        ("socket-plain-new, run 4", "stopped by Ctrl-C"),
    )
