"""What `plexlens sample` writes, against what processes say of themselves."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from plexlens.errors import NothingUsableError, OutputError, UsageError
from plexlens.sampling.counters import ControlGroup, cpu_of_machine, tasks
from plexlens.sampling.recording import COLUMNS, record, wanted
from plexlens.sampling.samples import read_samples
from tests.cli.command import run

#: Burns 0.3 s of CPU time in a thread named worker and 0.1 s in its main thread, says how much in all, and waits.
BUSY = """
import ctypes, resource, sys, threading, time
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        sum(range(1000))
def work():
    ctypes.CDLL(None).prctl(15, b"worker", 0, 0, 0)
    burn(0.3)
    done.set()
    held.wait()
done, held = threading.Event(), threading.Event()
print("there", flush=True)
sys.stdin.readline()
threading.Thread(target=work).start()
burn(0.1)
done.wait()
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, flush=True)
sys.stdin.readline()
held.set()
"""


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_processes_and_threads_have_the_cpu_time_that_they_say(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    with subprocess.Popen(
        [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        own: list[float] = []

        def burn() -> None:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write("\n")
            own.append(float(process.stdout.readline()))

        burning = threading.Thread(target=burn)
        samples_after: list[float] = []

        def tell(seconds: float) -> None:
            if not burning.ident:
                burning.start()
            if own:
                samples_after.append(seconds)
            if len(samples_after) == 2:
                os.kill(os.getpid(), signal.SIGINT)

        recorded = record(path, wanted((str(process.pid),), True, ()), 0.1, None, tell)
        assert recorded.stopped
        process.stdin.write("\n")
    rows = rows_of(path)
    assert tuple(rows[0]) == COLUMNS
    assert recorded.samples >= 3
    assert recorded.lines == len(rows)
    assert sum(recorded.seen.values()) == 1
    last = {(row["kind"], row["name"].rpartition("/")[2]): float(row["cpu_seconds"]) for row in rows}
    assert last["process", rows[1]["name"]] == pytest.approx(own[0], rel=0.02, abs=0.01)
    assert last["thread", "worker"] == pytest.approx(0.3, rel=0.05, abs=0.02)
    # Samples without a change have the machine's line alone.
    first = {row["time"] for row in rows if row["kind"] == "process"}
    assert len(first) < recorded.samples
    samples = read_samples(path)
    assert len(samples.times) == recorded.samples
    burnt = samples.cpu(samples.times[0], samples.times[-1])
    (begun,) = (
        float(row["cpu_seconds"]) for row in rows if row["kind"] == "process" and row["time"] == rows[0]["time"]
    )
    assert burnt["process", rows[1]["name"]] == pytest.approx(own[0] - begun, rel=0.02, abs=0.01)
    assert burnt["process", rows[1]["name"]] == pytest.approx(0.4, rel=0.1, abs=0.02)


def test_a_name_with_parentheses_and_spaces_is_read(tmp_path: Path) -> None:
    odd = tmp_path / "a) 1 (b"
    odd.symlink_to("/bin/sleep")
    with subprocess.Popen([odd, "30"]) as process:
        time.sleep(0.1)
        (found,) = (task for task in tasks() if task.number == process.pid)
        process.kill()
    assert found.name == "a) 1 (b"
    assert found.ticks < 100


def test_the_machine_counts_what_all_processes_use() -> None:
    begin = cpu_of_machine()
    end = time.thread_time() + 0.3
    while time.thread_time() < end:
        sum(range(1000))
    # Ticks of a hundredth of a second.
    assert cpu_of_machine() - begin >= 0.2


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [("cpu.stat", "usage_usec 2500000\nuser_usec 1\n", 2.5), ("cpuacct.usage", "1250000000\n", 1.25)],
)
def test_both_versions_of_control_groups(tmp_path: Path, name: str, text: str, expected: float) -> None:
    (tmp_path / name).write_text(text)
    group = ControlGroup.of(tmp_path)
    assert group is not None
    assert group.cpu() == expected
    assert ControlGroup.of(tmp_path / "none") is None


def test_ctrl_c_keeps_what_was_sampled(tmp_path: Path) -> None:
    path = tmp_path / "samples.csv"
    for words, code in (([], 0), (["--seconds", "60"], 130)):
        path.unlink(missing_ok=True)
        command = [sys.executable, "-m", "plexlens.cli", "sample", "-o", str(path), "--every", "0.1", *words]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            limit = time.monotonic() + 30
            while (not path.is_file() or path.read_text().count(",machine,") < 2) and time.monotonic() < limit:
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert process.returncode == code, err
        assert "Traceback" not in err
        assert "samples of" in out
        assert len(read_samples(path).times) >= 2


@pytest.mark.parametrize(
    ("words", "what", "remedy"),
    [
        (["-o", "s.txt"], "the result is a CSV file", "end the name in .csv"),
        (["-o", "s.csv", "--process", "4194303"], "there is no process 4194303", "ps -e"),
        (["-o", "s.csv", "--cgroup", "no/such"], "is not there", "cpu.stat"),
        (["-o", "no/such/s.csv"], "no/such", ""),
        (["-o", "s.csv", "--every", "0"], "0", ""),
    ],
)
def test_wrong_use(tmp_path: Path, words: list[str], what: str, remedy: str) -> None:
    done = run("sample", "--seconds", "0.2", *words, cwd=tmp_path)
    assert done.returncode == 2
    assert what in done.stderr
    assert remedy in done.stderr
    assert not (tmp_path / "s.csv").exists()


def test_a_name_that_no_process_has(tmp_path: Path) -> None:
    with pytest.raises(NothingUsableError, match="no process no-such-name or other was there") as caught:
        record(tmp_path / "s.csv", wanted(("no-such-name", "other"), False, ()), 0.1, 0.2)
    assert "ps -eo comm" in str(caught.value.remedy)


def test_a_full_disk_says_so() -> None:
    with pytest.raises(OutputError, match="No space left"):
        record(Path("/dev/full"), wanted((), False, ()), 0.1, 0.2)


def test_other_systems_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(UsageError, match="/proc of Linux"):
        wanted((), False, ())
