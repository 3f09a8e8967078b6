"""Plans run by Locust against servers of this machine: every request has its outcome, whatever the server does."""

from __future__ import annotations

import csv
import io
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from plexlens.driver import process
from plexlens.driver.outcome import Outcome
from plexlens.driver.plan import read_plan
from plexlens.driver.process import Driven, lines_of
from plexlens.errors import UsageError
from plexlens.ingest.load_test import read
from plexlens.load import run_of
from tests.driver.servers import HTTP, certificate, closed_port, serving, tls_context

HELLO = 'expect = {contains = "hello"}'


def plan_file(
    folder: Path, url: str, load: str, *, server: str = "", connection: str = "", request: str = HELLO
) -> Path:
    path = folder / "plan.toml"
    tables = [
        "seed = 3",
        f'[server]\nurl = "{url}"',
        server,
        load,
        connection,
        f'[[request]]\nname = "hello"\n{request}',
    ]
    path.write_text("\n".join(tables))
    return path


def driven(path: Path, folder: Path) -> tuple[Driven, list[dict[str, str]]]:
    result = process.drive(read_plan(path), folder / "requests.csv")
    with result.path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert result.due == result.requests == len(rows)
    return result, rows


@pytest.mark.usefixtures("locust")
def test_every_outcome_of_a_bad_server_is_counted(tmp_path: Path) -> None:
    """What the server did, by its own count, is what the driver says became of its requests."""
    behaviours = [name for name in HTTP if name != "slow"]
    with serving(*behaviours) as server:
        url = f"http://127.0.0.1:{server.port}"
        path = plan_file(tmp_path, url, "[open]\nrate = 40\nseconds = 2", server="timeout_seconds = 1")
        begun = time.monotonic()
        result, rows = driven(path, tmp_path)
        assert time.monotonic() - begun < 30
    wanted: Counter[Outcome] = Counter()
    for name, number in server.done.items():
        wanted[HTTP[name][1]] += number
    assert result.outcomes == dict(wanted)
    assert len(result.outcomes) == 7
    assert result.requests == sum(server.done.values()) >= 50
    late = [float(row["response_seconds"]) for row in rows if row["error"] == Outcome.TIMEOUT]
    assert all(1.0 <= seconds < 1.5 for seconds in late)
    # `plexlens run` reads the same failures.
    table = read(result.path).requests
    assert table is not None
    assert (table.num_rows, sum(table["is_error"].to_pylist())) == (result.requests, result.failed)


@pytest.mark.usefixtures("locust")
def test_users_think_as_the_plan_says(tmp_path: Path) -> None:
    """From the end of a response to the next due time: exponential with mean 0.1 s; a connection for each user."""
    with serving("good") as server:
        path = plan_file(
            tmp_path, f"http://127.0.0.1:{server.port}",
            '[users]\nnumber = 20\nseconds = 4\nthink = {distribution = "exponential", mean = 0.1}',
        )  # fmt: skip
        result, rows = driven(path, tmp_path)
        assert server.connections == 20 == result.connections["new"]
    assert result.outcomes == {Outcome.GOOD: result.requests}
    test = read(result.path)
    assert test.scheduled
    assert test.requests is not None
    by_user: dict[str, list[tuple[float, float]]] = {}
    for row in test.requests.to_pylist():
        ended = row["started"].timestamp() + row["response_seconds"]
        by_user.setdefault(row["client"], []).append((row["scheduled"].timestamp(), ended))
    assert len(by_user) == 20
    thoughts = [
        later[0] - earlier[1]
        for requests in by_user.values()
        for earlier, later in zip(sorted(requests), sorted(requests)[1:], strict=False)
    ]
    # A think time that begins shortly before the end is longer than what is left, and is not seen: 20 of 600 or more.
    assert len(thoughts) > 300
    assert stats.kstest(np.array(thoughts), stats.expon(scale=0.1).cdf).statistic < 0.09
    assert len(rows) == result.requests


@pytest.mark.usefixtures("locust")
@pytest.mark.parametrize("tls", ["full", "resumed"])
def test_tls_with_and_without_resumption(tls: str, tmp_path: Path) -> None:
    """The server's own count of resumed sessions; users resume their own session only."""
    crt, key = certificate(tmp_path)
    context = tls_context(crt, key)
    with serving("good", context=context, framed=True) as server:
        path = plan_file(
            tmp_path, f"tls://127.0.0.1:{server.port}",
            '[users]\nnumber = 3\nseconds = 2\nthink = {distribution = "constant", mean = 0.1}',
            server=f'ca = "{crt.name}"', connection=f'[connection]\nstyle = "new"\ntls = "{tls}"',
            request="body_bytes = 500\nexpect = {echo = true}",
        )  # fmt: skip
        result, _ = driven(path, tmp_path)
    assert result.outcomes == {Outcome.GOOD: result.requests}
    assert result.requests > 30
    hits = context.session_stats()["hits"]
    assert hits == (result.requests - 3 if tls == "resumed" else 0)
    assert result.tls == ({"full": 3, "resumed": hits} if hits else {"full": result.requests})


@pytest.mark.usefixtures("locust")
def test_response_counts_from_the_intended_start(tmp_path: Path) -> None:
    """20 even arrivals per second, one connection, and a first response after 0.6 s.

    The requests due at 0.05, 0.10, ... wait for it: the second for 0.55 s, and so on. Counted from the late start,
    nobody but the first waited.
    """
    with serving("slow", *["good"] * 1000) as server:
        path = plan_file(
            tmp_path, f"http://127.0.0.1:{server.port}", '[open]\nrate = 20\nseconds = 1.2\narrivals = "even"',
            connection='[connection]\nstyle = "pooled"\npool = 1',
        )  # fmt: skip
        result, _ = driven(path, tmp_path)
    assert result.requests == 24
    test = read(result.path)
    assert test.requests is not None
    rows = test.requests.sort_by("scheduled").to_pylist()
    waits = [(row["started"] - row["scheduled"]).total_seconds() for row in rows]
    for place in range(1, 10):
        assert waits[place] == pytest.approx(0.6 - 0.05 * place, abs=0.12)
    assert max(waits[14:]) < 0.12
    line = run_of(test, warm_up_seconds=0, until=rows[-1]["started"] + timedelta(minutes=1)).whole
    assert line.requests == 24
    assert line.percentiles[90.0] < 0.1
    assert line.from_schedule[90.0] > 0.4


@pytest.mark.usefixtures("locust")
def test_nobody_listens(tmp_path: Path) -> None:
    path = plan_file(tmp_path, f"http://127.0.0.1:{closed_port()}", "[open]\nrate = 50\nseconds = 1")
    result, _ = driven(path, tmp_path)
    assert result.outcomes == {Outcome.NO_CONNECTION: result.requests}


def started(path: Path, output: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "plexlens.cli", "drive", str(path), "-o", str(output)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def wait_for_lines(output: Path, number: int) -> None:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if output.is_file() and output.read_bytes().count(b"\n") > number:
            return
        time.sleep(0.1)
    raise AssertionError(f"no {number} lines in {output}")


@pytest.mark.usefixtures("locust")
def test_ctrl_c_keeps_what_was_measured(tmp_path: Path) -> None:
    """Half of the requests hang; the test would last for ten minutes."""
    with serving("good", "hang") as server:
        path = plan_file(tmp_path, f"http://127.0.0.1:{server.port}", "[open]\nrate = 30\nseconds = 600")
        output = tmp_path / "requests.csv"
        with started(path, output) as running:
            wait_for_lines(output, 20)
            begun = time.monotonic()
            running.send_signal(signal.SIGINT)
            told, errors = running.communicate(timeout=30)
            assert time.monotonic() - begun < 12
        assert running.returncode == 130
    with output.open(newline="") as stream:
        counts = Counter(row["error"] for row in csv.DictReader(stream))
    assert counts["in flight when the test ended"] >= 5
    assert set(counts) <= {"", "in flight when the test ended", "closed before the response was complete"}
    assert f"{counts['']:,}  good" in told
    assert "were due" not in told
    assert "killed" not in told
    assert f"{output} holds what was measured" in errors
    # The server counted a request for each line, up to those that were on their way.
    assert abs(sum(server.done.values()) - sum(counts.values())) <= 2
    assert read(output).requests is not None


@pytest.mark.usefixtures("locust")
def test_a_killed_driver_leaves_its_lines(tmp_path: Path) -> None:
    with serving("good") as server:
        path = plan_file(tmp_path, f"http://127.0.0.1:{server.port}", "[open]\nrate = 50\nseconds = 600")
        output = tmp_path / "requests.csv"
        with started(path, output) as running:
            wait_for_lines(output, 30)
            children = Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
            for child in children:
                os.kill(int(child), signal.SIGKILL)
            _, errors = running.communicate(timeout=30)
        assert running.returncode == 2
    assert "Locust ended with -9" in errors
    assert "Traceback" not in errors
    test = read(output)
    assert test.requests is not None
    assert test.requests.num_rows >= 30


def test_without_locust_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(process, "find_spec", lambda name: None)
    path = plan_file(tmp_path, "http://127.0.0.1:1", "[open]\nrate = 50\nseconds = 1")
    with pytest.raises(UsageError, match=r"Locust.*not installed; install it with `pip install 'plexlens\[load\]'`"):
        process.drive(read_plan(path), tmp_path / "requests.csv")
    assert not (tmp_path / "requests.csv").exists()


def test_a_cut_line_is_not_a_request(tmp_path: Path) -> None:
    from plexlens.driver.request_log import Clock, RequestLog

    path = tmp_path / "requests.csv"
    log = RequestLog(path, Clock())
    flight = log.begin("a", "", None)
    flight.started = log.clock.now()
    log.end(flight, Outcome.GOOD)
    log.begin("b", "", log.clock.now() - 2.0)
    log.close()
    whole = process.driven_of(path, {})
    assert whole.outcomes == {Outcome.GOOD: 1, Outcome.NOT_SENT: 1}
    assert "WARNING: the driver was killed" in "\n".join(lines_of(whole))
    with path.open(newline="") as stream:
        rows = list(csv.DictReader(stream))
    # It never had a connection: its time counts from when it was due.
    assert 2.0 <= float(rows[1]["response_seconds"]) < 3.0
    path.write_bytes(path.read_bytes()[:-20])
    assert process.driven_of(path, {}).outcomes == {Outcome.GOOD: 1}


def test_a_full_disk_is_told_at_the_next_flush(tmp_path: Path) -> None:
    from plexlens.driver.request_log import Clock, RequestLog

    errors: list[OSError] = []
    log = RequestLog(tmp_path / "requests.csv", Clock(), errors.append)
    log.close()

    class Full(io.StringIO):
        def flush(self) -> None:
            raise OSError(28, "No space left on device")

        def write(self, text: str) -> int:
            raise OSError(28, "No space left on device")

    log._stream = Full()
    log._writer = csv.writer(log._stream)
    log.flush()
    log.end(log.begin("a", "", None), Outcome.GOOD)
    assert [error.strerror for error in errors] == ["No space left on device"] * 2
