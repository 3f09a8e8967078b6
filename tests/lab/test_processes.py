"""CPU time of a process from outside against what the process says itself, with threads that have ended."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from plexlens.lab.processes import Sampler, control_group
from plexlens.sampling.counters import cpu_of_process

#: Uses CPU in its main thread and in threads that end, then says how much, and waits.
BUSY = """
import resource, sys, threading, time
def burn():
    end = time.thread_time() + 0.15
    while time.thread_time() < end:
        sum(range(1000))
for _ in range(3):
    thread = threading.Thread(target=burn); thread.start(); thread.join()
burn()
usage = resource.getrusage(resource.RUSAGE_SELF)
print(usage.ru_utime + usage.ru_stime, flush=True)
sys.stdin.read()
"""


def test_cpu_time_is_that_of_the_process_and_of_proc() -> None:
    with (
        control_group() as group,
        subprocess.Popen(
            [sys.executable, "-c", BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        sampler = Sampler(processes={"busy": process.pid, "gone": 2**22 - 1})
        before = 0.0
        if group is not None:
            group.add(process.pid)
            before = cpu_of_process(process.pid)
            sampler.groups["group"] = group
        own = float(process.stdout.readline())
        assert own > 0.6
        outside = cpu_of_process(process.pid)
        assert outside == pytest.approx(own, rel=0.01, abs=0.005)
        # Fields 14 and 15 of /proc/PID/stat: user and system time in clock ticks.
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        assert outside == pytest.approx(ticks, abs=0.03)
        with sampler.running():
            time.sleep(0.3)
        assert len(sampler.lines) >= 2
        assert all("gone" not in cpu for _, cpu in sampler.lines)
        _, last = sampler.lines[-1]
        assert last["busy"] == pytest.approx(own, rel=0.01, abs=0.01)
        if group is not None:
            assert last["group"] == pytest.approx(own - before, rel=0.02, abs=0.02)
        process.stdin.close()


def test_no_process() -> None:
    with pytest.raises(OSError):
        cpu_of_process(2**22 - 1)
