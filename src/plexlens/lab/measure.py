"""Runs of the laboratory: a server, a driver, the CPU time of both from outside and by their own accounts."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pyarrow as pa

from plexlens.driver import process, read_plan
from plexlens.driver.account import read_account
from plexlens.driver.process import Driven
from plexlens.errors import NothingUsableError, PlexlensError, UsageError
from plexlens.ingest.load_test import read
from plexlens.lab.processes import Sampler, control_group
from plexlens.lab.way import Way

#: Processes of a run.
SERVER, DRIVER = "server", "driver"
#: Name of the server's control group among samples.
GROUP = "control group"
#: Seconds left out at each end of a window.
EDGE = 0.3
#: Seconds that a server has to start.
START = 30.0

#: Runs done, all runs, and the name of the present way.
Tell = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Part:
    """A process in a window.

    Attributes
    ----------
    busy
        Share of a processor that it used, sampled from outside.
    own
        CPU seconds per request by its own account (getrusage, and its own count of requests).
    group
        CPU seconds per request by its control group; None where there is none.
    """

    busy: float
    own: float
    group: float | None = None


@dataclass(frozen=True)
class Window:
    """A length of time at a constant rate.

    Attributes
    ----------
    rate
        Requests per second that the driver's file has in it.
    response
        Their mean response time in seconds.
    """

    rate: float
    response: float
    server: Part
    driver: Part


@dataclass(frozen=True)
class Measured:
    """A run of a way: its windows in rising order of rate."""

    way: Way
    repeat: int
    driven: Driven
    windows: tuple[Window, ...]


@dataclass(frozen=True)
class Lab:
    """All runs, and the ways without a run with the reason."""

    runs: tuple[Measured, ...]
    left_out: tuple[tuple[str, str], ...]
    seconds: float
    started: datetime
    stopped: bool = False


class _StoppedRunError(Exception):
    """Ctrl-C during a run, which the driver has ended."""


def check(ways: Sequence[Way]) -> None:
    """See that what the laboratory needs for these ways is there.

    Raises
    ------
    UsageError
        Locust or OpenSSL's program is missing, or this is not Linux.
    """
    process.check()
    if not sys.platform.startswith("linux"):
        raise UsageError(file="", what="the laboratory reads CPU times of Linux", remedy="run it on Linux")
    if any(way.security != "none" for way in ways) and shutil.which("openssl") is None:
        raise UsageError(
            file="",
            what="openssl, which makes the certificate of the servers, is not on the path",
            remedy="install OpenSSL, or name ways without TLS with --way",
        )


def measure(ways: Sequence[Way], repeats: int, seconds: float, tell: Tell = lambda done, of, name: None) -> Lab:
    """Measure ways, all of them once before any of them again, so that a disturbance does not hit only one way.

    Parameters
    ----------
    ways
        What to measure.
    repeats
        Runs of each way, with other seeds.
    seconds
        Length of a run.
    """
    started = datetime.now(UTC)
    runs: list[Measured] = []
    left_out: list[tuple[str, str]] = []
    stopped = False
    places = [(repeat, way) for repeat in range(1, repeats + 1) for way in ways]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        certificate = _certificate(folder) if any(way.security != "none" for way in ways) else None
        for done, (repeat, way) in enumerate(places):
            tell(done, len(places), f"{way.id}, run {repeat}")
            try:
                runs.append(_run(way, repeat, seconds, folder, certificate))
            except PlexlensError as error:
                left_out.append((f"{way.id}, run {repeat}", error.what))
            except BaseException as error:
                # Ctrl-C keeps the runs so far, wherever it comes; a defect does not.
                if isinstance(error, Exception) and not isinstance(error, _StoppedRunError):
                    raise
                left_out += [(f"{other.id}, run {number}", "stopped by Ctrl-C") for number, other in places[done:]]
                stopped = True
                break
    return Lab(tuple(runs), tuple(left_out), seconds, started, stopped)


def _certificate(folder: Path) -> tuple[Path, Path]:
    """A certificate of this machine, signed by itself, and its key; only this run knows them."""
    certificate, key = folder / "server.crt", folder / "server.key"
    command = [
        "openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1",
        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate),
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise UsageError(
            file="",
            what=f"openssl makes no certificate: {done.stderr.strip().splitlines()[-1:]}",
            remedy="install OpenSSL 1.1.1 or later, or name ways without TLS with --way",
        )
    return certificate, key


@contextlib.contextmanager
def _server(way: Way, account: Path, certificate: tuple[Path, Path] | None) -> Iterator[tuple[int, int]]:
    """A server that runs: number of its process, and its port."""
    command = [sys.executable, "-m", "plexlens.lab.server", way.kind, "--account", str(account)]
    if certificate is not None:
        command += ["--certificate", str(certificate[0]), "--key", str(certificate[1])]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        try:
            port = running.stdout.readline().strip()
            if not port.isdigit():
                raise NothingUsableError(
                    file="", what=f"the {way.kind} server does not start", remedy="run the command again"
                )
            yield running.pid, int(port)
        finally:
            running.stdin.close()
            try:
                running.wait(5)
            except subprocess.TimeoutExpired:
                running.kill()


def _run(way: Way, repeat: int, seconds: float, folder: Path, certificate: tuple[Path, Path] | None) -> Measured:
    secured = certificate if way.security != "none" else None
    accounts = {name: folder / f"{name}.account" for name in (SERVER, DRIVER)}
    plan_file, requests = folder / "plan.toml", folder / "requests.csv"
    sampler = Sampler()
    with control_group() as group, _server(way, accounts[SERVER], secured) as (number, port):
        sampler.processes[SERVER] = number
        if group is not None:
            with contextlib.suppress(OSError):
                group.add(number)
                sampler.groups[GROUP] = group
        plan_file.write_text(way.plan(port, seconds, None if secured is None else secured[0], repeat), encoding="utf-8")
        plan = read_plan(plan_file)

        def began(driver: int) -> None:
            sampler.processes[DRIVER] = driver

        with sampler.running():
            driven = process.drive(plan, requests, account=accounts[DRIVER], began=began)
    if driven.stopped:
        raise _StoppedRunError
    if driven.failed:
        raise NothingUsableError(
            file="",
            what=f"{driven.failed:,} of {driven.requests:,} requests failed: "
            + ", ".join(f"{count:,} {outcome.value}" for outcome, count in driven.outcomes.items() if outcome),
            remedy="run the command again on a quieter machine",
        )
    table = read(requests).requests
    assert table is not None
    begin = float(np.min(table["scheduled"].cast(pa.int64()).to_numpy())) / 1e6
    windows = (
        _window(begin + EDGE, begin + seconds / 2 - EDGE, table, sampler, accounts),
        _window(begin + seconds / 2 + EDGE, begin + seconds - EDGE, table, sampler, accounts),
    )
    if not windows[0].rate < windows[1].rate:
        raise NothingUsableError(
            file="", what="the higher rate was not reached", remedy="run the command again on a quieter machine"
        )
    return Measured(way, repeat, driven, windows)


def _window(begin: float, end: float, table: pa.Table, sampler: Sampler, accounts: dict[str, Path]) -> Window:
    started = table["started"].cast(pa.int64()).to_numpy() / 1e6
    response = table["response_seconds"].to_numpy()
    lines = [(time, cpu) for time, cpu in sampler.lines if begin <= time <= end and {SERVER, DRIVER} <= cpu.keys()]
    if len(lines) < 2:
        raise _empty("samples of CPU time")
    (first, at_first), (last, at_last) = lines[0], lines[-1]
    inside = (started + response >= first) & (started + response < last)
    requests = int(inside.sum())
    if not requests:
        raise _empty("requests")
    rate = requests / (last - first)
    parts = {}
    for name, path in accounts.items():
        account = read_account(path)
        # The account's lines that are nearest to the ends of the window.
        own = [min(account, key=lambda line: abs(line[0] - at)) for at in (first, last)] if account else []
        if not own or own[1][2] <= own[0][2]:
            raise _empty(f"requests in the account of the {name}")
        by_group = None
        if name == SERVER and GROUP in at_first and GROUP in at_last:
            by_group = (at_last[GROUP] - at_first[GROUP]) / requests
        parts[name] = Part(
            (at_last[name] - at_first[name]) / (last - first),
            (own[1][1] - own[0][1]) / (own[1][2] - own[0][2]),
            by_group,
        )
    return Window(rate, float(response[inside].mean()), parts[SERVER], parts[DRIVER])


def _empty(what: str) -> NothingUsableError:
    return NothingUsableError(file="", what=f"a window has no {what}", remedy="give a longer run with --seconds")
