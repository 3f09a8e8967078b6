"""Locust in a process of its own that runs a plan, and the counts of its result file."""

from __future__ import annotations

import contextlib
import csv
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from plexlens.driver.outcome import Outcome
from plexlens.driver.plan import Plan
from plexlens.errors import NothingUsableError, UsageError
from plexlens.signals import ended_by_signals

#: Seconds that Locust has to start, and to write what is in flight after it was stopped.
START, STOP = 60.0, 15.0
#: Seconds by which the driver may be late for one request in a hundred before results carry a warning.
LATE = 0.005

#: Seconds of the test so far.
Tell = Callable[[float], None]


@dataclass(frozen=True)
class Driven:
    """A test that was run.

    Attributes
    ----------
    path
        The result file.
    requests, outcomes
        Lines of the file, in all and by outcome; a good response has the outcome `Outcome.GOOD`.
    seconds
        Length of the test; None if the driver did not live to say so.
    due
        Requests that the plan wanted until the end of the test; None as before.
    late
        Seconds by which the driver itself took requests up too late: median, 99th percentile, longest.
    connections, tls
        Requests by what they did with connections (new, reused, reopened), and new connections by TLS handshake.
    cpu_seconds
        CPU time of the driver during the test, by its own account.
    stopped
        Whether it was stopped before its end.
    """

    path: Path
    requests: int
    outcomes: dict[Outcome, int]
    seconds: float | None
    due: int | None
    late: tuple[float, float, float] | None
    connections: dict[str, int] = field(default_factory=dict)
    tls: dict[str, int] = field(default_factory=dict)
    cpu_seconds: float | None = None
    stopped: bool = False

    @property
    def failed(self) -> int:
        """Requests without a good response."""
        return self.requests - self.outcomes.get(Outcome.GOOD, 0)


def check() -> None:
    """See that Locust is there.

    Raises
    ------
    UsageError
        It is not; the message says how to install it.
    """
    if find_spec("locust") is None:
        raise UsageError(
            file="",
            what="Locust, which sends the requests, is not installed",
            remedy="install it with `pip install 'plexlens[load]'`",
        )


def command(plan: Plan, requests: Path, facts: Path, account: Path | None) -> list[str]:
    """The command line of Locust for a plan."""
    more = [] if account is None else ["--account", str(account)]
    return [
        sys.executable, "-m", "locust", "-f", str(Path(__file__).with_name("locustfile.py")), "--headless",
        "--only-summary", "--loglevel", "WARNING", "--plan", str(plan.path), "--requests", str(requests),
        "--facts", str(facts), *more,
    ]  # fmt: skip


@contextlib.contextmanager
def running(
    plan: Plan, requests: Path, facts: Path, errors: Path, account: Path | None
) -> Iterator[subprocess.Popen[bytes]]:
    """Locust, which is not there any more afterwards."""
    with errors.open("wb") as stream:
        process = subprocess.Popen(
            command(plan, requests, facts, account),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=stream,
            # Ctrl-C on the terminal reaches this process alone, which passes it on.
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(STOP)
            except subprocess.TimeoutExpired:
                process.kill()
        process.wait()


def drive(
    plan: Plan,
    requests: Path,
    tell: Tell = lambda seconds: None,
    *,
    account: Path | None = None,
    began: Callable[[int], None] = lambda number: None,
) -> Driven:
    """Run a plan, and write a line for each request.

    Ctrl-C and SIGTERM end the test early: what was measured is kept, and what is in flight gets its line.

    Parameters
    ----------
    plan
        The plan.
    requests
        The result file; it is written while the test runs.
    account
        File that gets the CPU time of the driver by its own account (`plexlens.driver.account`).
    began
        Called with the number of the driver's process.

    Raises
    ------
    UsageError
        Locust is not installed, or refuses.
    NothingUsableError
        No request was due, or the test was stopped before it began.
    """
    check()
    requests.unlink(missing_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        facts, errors = Path(folder, "facts.json"), Path(folder, "errors.txt")
        with running(plan, requests, facts, errors, account) as process:
            began(process.pid)
            stopped = _wait(process, plan, tell)
        messages = errors.read_text(encoding="utf-8", errors="replace")
        known: dict[str, Any] = {}
        with contextlib.suppress(OSError, ValueError):
            known = json.loads(facts.read_text(encoding="utf-8"))
    if not known and not stopped:
        lines = [line for line in messages.splitlines() if line.strip()]
        raise UsageError(
            file=str(plan.path),
            what=f"Locust ended with {process.returncode}: {lines[-1] if lines else 'it says nothing'}",
            remedy="correct that, and run the command again; lines that were written are in the result file",
        )
    if not requests.is_file():
        raise NothingUsableError(
            file=str(plan.path), what="the test was stopped before it began", remedy="run the command again"
        )
    driven = driven_of(requests, known, stopped=stopped)
    if not driven.requests and not stopped:
        raise NothingUsableError(
            file=str(plan.path), what="no request was due", remedy="give a longer test or a higher rate"
        )
    return driven


def _wait(process: subprocess.Popen[bytes], plan: Plan, tell: Tell) -> bool:
    """Wait for the end of the test; whether it was stopped."""
    signals: list[None] = []
    begun = time.monotonic()
    # Beyond this the driver hangs, which it never should.
    longest = START + plan.seconds + 2 * plan.timeout + STOP
    with ended_by_signals(lambda: signals.append(None)):
        passed_on = 0
        while process.poll() is None:
            if len(signals) > passed_on:
                passed_on = len(signals)
                process.terminate() if passed_on == 1 else process.kill()
            if time.monotonic() - begun > longest:
                process.kill()
            tell(time.monotonic() - begun)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
    return bool(signals)


def driven_of(path: Path, facts: dict[str, Any], *, stopped: bool = False) -> Driven:
    """The counts of a result file; `facts` are those of the driver, empty if it was killed."""
    outcomes: dict[Outcome, int] = {}
    connections: dict[str, int] = {}
    tls: dict[str, int] = {}
    late: list[float] = []
    with path.open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            if row["tls"] is None:
                # The end of a line that a killed driver did not write whole.
                continue
            outcome = Outcome(row["error"])
            outcomes[outcome] = outcomes.get(outcome, 0) + 1
            if row["connection"]:
                connections[row["connection"]] = connections.get(row["connection"], 0) + 1
            if row["tls"]:
                tls[row["tls"]] = tls.get(row["tls"], 0) + 1
            if row["late_seconds"]:
                late.append(float(row["late_seconds"]))
    begin, end = facts.get("begin"), facts.get("end")
    return Driven(
        path,
        sum(outcomes.values()),
        outcomes,
        None if begin is None or end is None else end - begin,
        facts.get("due"),
        None if not late else (float(np.median(late)), float(np.percentile(late, 99)), max(late)),
        connections,
        tls,
        facts.get("cpu_seconds"),
        stopped,
    )


def lines_of(driven: Driven) -> list[str]:
    """The result as lines of text."""
    length = "" if driven.seconds is None else f" in {driven.seconds:,.1f} s"
    lines = [f"{driven.path}: {driven.requests:,} requests{length}, {driven.failed:,} failed"]
    for outcome, number in sorted(driven.outcomes.items(), key=lambda pair: -pair[1]):
        lines.append(f"  {number:>10,}  {outcome.value or 'good'}")
    for words, counts in (("connections", driven.connections), ("TLS handshakes", driven.tls)):
        if counts:
            lines.append(f"{words}: " + ", ".join(f"{number:,} {name}" for name, number in sorted(counts.items())))
    if driven.late is not None:
        middle, high, longest = (value * 1e3 for value in driven.late)
        lines.append(f"driver late by: median {middle:,.1f} ms, 99 % {high:,.1f} ms, longest {longest:,.1f} ms")
    if driven.cpu_seconds is not None and driven.requests:
        lines.append(f"CPU of the driver: {driven.cpu_seconds / driven.requests * 1e3:,.3g} ms per request")
    if driven.due is not None and driven.due != driven.requests:
        lines.append(f"WARNING: {driven.due:,} requests were due, and {driven.requests:,} have a line")
    if driven.seconds is None:
        lines.append("WARNING: the driver was killed; requests that were in flight then have no line")
    if driven.late is not None and driven.late[1] > LATE:
        lines.append(
            "WARNING: the driver itself was late. Response times from the schedule contain that; lower the rate, or "
            "run the driver on a machine with more processor time"
        )
    return lines


def to_object(driven: Driven) -> dict[str, Any]:
    """The result as plain values for JSON; seconds."""
    late = None if driven.late is None else dict(zip(("median", "p99", "longest"), driven.late, strict=True))
    return {
        "file": str(driven.path),
        "requests": driven.requests,
        "failed": driven.failed,
        "outcomes": {outcome.value or "good": number for outcome, number in driven.outcomes.items()},
        "seconds": driven.seconds,
        "due": driven.due,
        "late": late,
        "connections": driven.connections,
        "tls": driven.tls,
        "driver_cpu_seconds": driven.cpu_seconds,
        "stopped": driven.stopped,
    }


__all__ = ["Driven", "check", "drive", "driven_of", "lines_of", "to_object"]
