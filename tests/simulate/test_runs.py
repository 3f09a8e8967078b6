"""Runs as they go on: ended by Ctrl-C, refused before memory is asked for, several at the same time."""

from __future__ import annotations

import json
import os
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from plexlens.errors import PlexlensError
from plexlens.simulate import (
    ScenarioFileError,
    parse_scenario,
    read_scenario,
    replications,
    run_scenario,
    run_scenarios,
    simulate_to_smf,
)
from plexlens.simulate.asked import Asked
from tests.in_any_order import in_any_order
from tests.simulate.conftest import TWO_MEMBERS

TEXT = TWO_MEMBERS.read_text(encoding="utf-8")

#: Seconds until an interrupted run has ended: less than one on a machine that does nothing else.
SOON = 3.0


def _command(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("plexlens")), "simulate", *arguments]


def _seconds_to_end(arguments: list[str], *, after: float) -> float:
    """Seconds from Ctrl-C to the end of a command that would run for hours."""
    # Tests that run in the background ignore interrupts, and so would what they start.
    run = subprocess.Popen(
        arguments,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,  # noqa: PLW1509 - no threads here
    )
    try:
        time.sleep(after)
        assert run.poll() is None, run.stderr.read() if run.stderr else ""
        sent = time.monotonic()
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=30)
        taken = time.monotonic() - sent
    finally:
        run.kill()
    assert run.returncode == 130
    assert "Traceback" not in said
    return taken


@pytest.mark.parametrize("options", [[], ["--transactions"], ["--page-trace"], ["--replications", "3", "--jobs", "2"]])
def test_an_interrupt_ends_a_run_soon_and_leaves_no_file(tmp_path: Path, options: list[str]) -> None:
    """A run of days: it would go on for hours. Of eight tries one counts, since other work may delay any of them."""
    dump = tmp_path / "long.smf"
    arguments = _command(str(TWO_MEMBERS), "-o", str(dump), "--seconds", "300000", *options)
    taken = []
    while not taken or (min(taken) >= SOON and len(taken) < 8):
        taken.append(_seconds_to_end(arguments, after=5.0))
        assert list(tmp_path.iterdir()) == []
    assert min(taken) < SOON, taken


def _on_a_terminal(arguments: list[str], folder: Path, *, after: float) -> tuple[int, list[str]]:
    """Exit code and lines of a command on a terminal of its own, on which Ctrl-C is typed after so many seconds."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(folder)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.environ.update(TERM="xterm", COLUMNS="120", LINES="30")
        os.execv(arguments[0], arguments)
    said, began, typed = b"", time.monotonic(), False
    while time.monotonic() - began < after + 30:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                said += os.read(terminal, 65536)
            except OSError:
                # Linux says so when the other end has closed the terminal.
                break
        if not typed and time.monotonic() - began > after:
            os.write(terminal, b"\x03")
            typed = True
    else:
        os.kill(child, signal.SIGKILL)
    os.close(terminal)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), [line for line in re.split(r"[\r\n]+", text) if line]


def test_a_terminal_shows_simulated_seconds_and_the_time_left(tmp_path: Path) -> None:
    """300,000 seconds and 5 of warm-up: the bar counts simulated seconds, never bytes, and tells the time left."""
    code, lines = _on_a_terminal(_command(str(TWO_MEMBERS), "-o", "x.smf", "--seconds", "300000"), tmp_path, after=8.0)
    bars = [line for line in lines if line.startswith("simulating")]
    done = [
        int(found[1].replace(",", ""))
        for line in bars
        if (found := re.search(r" ([0-9,]+) of 300,005 simulated s .*left: +[0-9-]+:", line))
    ]
    assert len(done) > 10 and done == sorted(done) and done[-1] > 100
    assert re.search(r"left: +[0-9]+:[0-9]{2}:[0-9]{2}", bars[-1]), bars[-1]
    assert (code, list(tmp_path.iterdir())) == (130, [])
    assert not any("Traceback" in line for line in lines)


_NETWORK = """
from plexlens._core import run_network
stations = [("A", "queue", 1, [0.5]), ("B", "queue", 1, [0.8])]
run_network(stations, [("OPEN", 1.0, 0, 0.0, 0, 1.0)], seed=1, warm_up=0.0, seconds=1e8)
"""


def test_an_interrupt_ends_the_run_of_a_network_within_a_second() -> None:
    """What a careful plan runs: a hundred million seconds of one transaction each."""
    taken = []
    guarded = f"try:\n{textwrap.indent(_NETWORK, '    ')}\nexcept KeyboardInterrupt:\n    raise SystemExit(130)"
    while not taken or (min(taken) >= SOON and len(taken) < 8):
        taken.append(_seconds_to_end([sys.executable, "-c", guarded], after=3.0))
    assert min(taken) < SOON, taken


def test_what_progress_raises_ends_the_run() -> None:
    heard = []

    class EnoughError(Exception):
        pass

    def tell(done: float, total: float) -> None:
        heard.append((done, total))
        if len(heard) == 2:
            raise EnoughError

    began = time.monotonic()
    with pytest.raises(EnoughError):
        run_scenario(read_scenario(TWO_MEMBERS).with_run(seconds=1e6), tell=tell)
    assert time.monotonic() - began < 10
    warm_up = read_scenario(TWO_MEMBERS).values["run"]["warm_up"]
    assert all(total == 1e6 + warm_up and 0 <= done < total for done, total in heard)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("rate = 100.0", "rate = 1e9", "class[0].rate: 1000000000 is not possible; give 0 to 1000000"),
        ("db2_cpu = 0.01", "db2_cpu = 1e12", "class[2].db2_cpu: 1000000000000 is not possible; give 0 to 86400"),
        ("engines = 2", "engines = 1_000_000_000", "cec[0].engines: 1000000000 is not possible; give 0 to 256"),
        ("pages = 500", "pages = 9_000_000_000_000", "db2[0].page_set[1].pages: 9000000000000 is not possible"),
        ("users = 3", "users = 4_000_000_000", "class[2].users: 4000000000 is not possible; give 0 to 1000000"),
        ("goal = 0.05", "goal = 1e12", "class[0].goal: 1000000000000 is not possible; give 0.001 to 86400"),
        ("goal = 0.05", "goal = 1e-9", "class[0].goal: 1e-9 is not possible; give 0.001 to 86400"),
        ("lock_avoidance = 0.5", "deadlock_cycle = 1e-12", "db2[0].deadlock_cycle: 1e-12 is not possible"),
        ("interval = 20.0", "interval = 1e-7", "run.interval: 60 s in intervals of 0.0000001 s are too many"),
    ],
)
def test_what_no_machine_could_hold_is_refused_with_its_place(old: str, new: str, key: str) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    with pytest.raises(ScenarioFileError) as caught:
        run_scenario(parse_scenario(text, file="s.toml"))
    line = next(number for number, line in enumerate(text.splitlines(), 1) if new in line)
    assert str(caught.value).startswith(f"s.toml: line {line}: {key}")
    assert time.process_time() - began < 5
    # Kilobytes.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


_CIRCLE = """
[[cec]]
name = "C1"
engines = 4

[[system]]
name = "SYS1"
cec = "C1"

[[region]]
name = "AOR1"
system = "SYS1"

[[class]]
name = "A"
rate = 1.0
regions = ["AOR1"]
cpu = 0.0001
starts = [{class = "B", number = 1.0}]

[[class]]
name = "B"
regions = ["AOR1"]
cpu = 0.0001
starts = [{class = "A", number = NUMBER}]
"""


@pytest.mark.parametrize("number", ["1.0", "1e9"])
def test_starts_that_never_come_to_an_end_are_refused(number: str) -> None:
    with pytest.raises(ScenarioFileError, match=r"class\[\d\]\.starts: .*does not come to an end; break the circle"):
        run_scenario(parse_scenario(_CIRCLE.replace("NUMBER", number), file="s.toml"))


def test_starts_in_a_circle_that_become_fewer_are_none_of_it() -> None:
    """Of one A come one B and half an A, in all 1 + 1/2 + 1/4 ... = 2 of each."""
    run = run_scenario(parse_scenario(_CIRCLE.replace("NUMBER", "0.5")).with_run(seconds=2000.0))
    counts = {one["class"]: one["count"] for one in run.results["responses"]}
    assert counts["A"] == pytest.approx(4000, rel=0.1)
    assert counts["B"] == pytest.approx(4000, rel=0.1)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("x = " + "[" * 100 + "]" * 100, 1),
        ("x = " + "[" * 5000 + "]" * 5000, 1),
        ("a = '[[['\n\nx = [\n" + "[\n" * 40 + "]\n" * 41, 35),
        ('s = """\n[[[[\n"""\n# [[[[\n' + ".".join("k" * 40) + " = 1", 5),
        ("y = [[1], [2]]\n[" + ".".join("t" * 20) + "]\nu = 2\n" + ".".join("k" * 20) + " = 1", 4),
    ],
)
def test_deep_nesting_is_refused_with_its_line(text: str, line: int) -> None:
    """Of the third: `x` opens the first array on line 3, each further line one more, so line 35 the 33rd."""
    with pytest.raises(PlexlensError, match="are nested more than 32 levels deep") as caught:
        parse_scenario(text, file="s.toml")
    assert str(caught.value).startswith(f"s.toml: line {line}: ")


def test_a_crowd_that_memory_cannot_hold_ends_the_run() -> None:
    """A million arrivals per second of a second of work each: two million are inside after two seconds."""
    text = _CIRCLE.replace('starts = [{class = "A", number = NUMBER}]', "").replace("rate = 1.0", "rate = 1e6")
    text = text.replace("cpu = 0.0001", "cpu = 1.0")
    with pytest.raises(ScenarioFileError, match=r"class\[0\]: after \d s more than 2000000 transactions are on their"):
        run_scenario(parse_scenario(text, file="s.toml"))


def test_runs_at_the_same_time_are_the_runs_one_by_one() -> None:
    scenarios = replications(read_scenario(TWO_MEMBERS).with_run(seconds=5.0), 4)
    seeds = [one.values["run"]["seed"] for one in scenarios]
    assert seeds == list(range(seeds[0], seeds[0] + 4))
    told: list[tuple[float, float]] = []
    together = run_scenarios(scenarios, jobs=2, tell=lambda done, total: told.append((done, total)))
    assert [run.results for run in together] == [run_scenario(one).results for one in scenarios]
    assert all(done <= total for done, total in told)
    assert len({json.dumps(run.results) for run in together}) == 4


def test_runs_elsewhere_are_joined_in_the_order_of_seeds() -> None:
    """Executors here are this process with the pieces and results pickled, in another order than they are given."""
    scenarios = replications(read_scenario(TWO_MEMBERS).with_run(seconds=5.0), 4)
    told: list[tuple[float, float]] = []

    def tell(done: float, total: float) -> None:
        told.append((done, total))

    found = run_scenarios(scenarios, executors=in_any_order, tell=tell)
    assert found == run_scenarios(scenarios, jobs=2)
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    runs, records = Asked(runs=4, elsewhere=True).run(scenarios[0], tell, in_any_order)
    assert (runs, records) == (found, None)
    # An error has its file and line also after it was pickled.
    bad = parse_scenario(TEXT.replace("rate = 100.0", "rate = -1.0"), file="s.toml")
    with pytest.raises(ScenarioFileError, match=r"^s.toml: line \d+: .*rate: -1 is not possible"):
        run_scenarios([scenarios[0], bad], executors=in_any_order)


def test_one_refused_scenario_ends_all() -> None:
    good = read_scenario(TWO_MEMBERS).with_run(seconds=300_000.0)
    bad = parse_scenario(TEXT.replace("rate = 100.0", "rate = -1.0"), file="s.toml")
    began = time.monotonic()
    with pytest.raises(ScenarioFileError, match="rate: -1 is not possible"):
        run_scenarios([good, bad], jobs=2)
    assert time.monotonic() - began < 10


def test_replications_on_the_command_line(tmp_path: Path) -> None:
    """The table has the mean of the runs; the dump is that of the first."""
    options = [str(TWO_MEMBERS), "--seconds", "5", "--seed", "7"]
    one, several = tmp_path / "one.smf", tmp_path / "several.smf"
    subprocess.run(_command(*options, "-o", str(one)), check=True, capture_output=True)
    done = subprocess.run(
        _command(*options, "-o", str(several), "--replications", "3", "--json"), check=True, capture_output=True
    )
    assert one.read_bytes() == several.read_bytes()
    answer = json.loads(done.stdout)
    assert [one["seed"] for one in answer["replications"]] == [7, 8, 9]
    refused = subprocess.run(
        _command(*options, "-o", str(several), "--replications", "3", "--transactions"),
        check=False,
        capture_output=True,
    )
    assert refused.returncode == 2
    assert b"--replications makes several" in refused.stderr


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="one core")
def test_a_dump_written_as_the_run_goes_on_tells_how_far_it_is(tmp_path: Path) -> None:
    told: list[tuple[float, float]] = []
    scenario = read_scenario(TWO_MEMBERS).with_run(seconds=10.0)
    simulate_to_smf(
        scenario, tmp_path / "two.smf", transactions=True, tell=lambda done, total: told.append((done, total))
    )
    assert told
    assert all(0 <= done <= total == 10.0 + scenario.values["run"]["warm_up"] for done, total in told)
