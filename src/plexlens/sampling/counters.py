"""CPU time as the Linux kernel counts it: of a process, a thread, a control group, and the machine.

Sources: clock_getcpuclockid(3); proc_pid_stat(5), proc_stat(5); the kernel's Documentation/scheduler/sched-stats.rst
(schedstat) and Documentation/admin-guide/cgroup-v2.rst (cpu.stat) and cgroup-v1/cpuacct.rst (cpuacct.usage).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
GROUPS = Path("/sys/fs/cgroup")
#: Files of a control group that hold its CPU time, with their units per second; version 2 of control groups first.
GROUP_COUNTERS = (("cpu.stat", 1e6), ("cpuacct.usage", 1e9))


@dataclass(frozen=True)
class Task:
    """A process or a thread.

    Attributes
    ----------
    number
        Process number, or thread number.
    name
        Name that the kernel has for it, at most 15 characters.
    started
        Clock ticks from the start of the system to the start of the process: with `number` it is unique.
    ticks
        CPU time in clock ticks, user and system.
    """

    number: int
    name: str
    started: int
    ticks: int


def cpu_of_process(number: int) -> float:
    """CPU seconds of a process so far, with all threads that it has or had.

    It is the counter behind ``utime`` and ``stime`` of ``/proc/PID/stat``, read by the process's clock
    (clock_getcpuclockid), which is not rounded to hundredths of a second.

    Raises
    ------
    OSError
        There is no such process.
    """
    # The number of the clock as the kernel makes it: the complement of the process, and 2 for time on a processor.
    return time.clock_gettime_ns((~number << 3) | 2) / 1e9


def tasks(folder: Path = PROC) -> Iterator[Task]:
    """The processes of the system, or the threads in ``/proc/PID/task``; those that end meanwhile are left out."""
    for entry in folder.iterdir():
        if entry.name.isdigit() and (task := task_in(entry)) is not None:
            yield task


def task_in(folder: Path) -> Task | None:
    """The process or thread of a folder of ``/proc``; None if there is none."""
    try:
        text = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # The name is in parentheses and may hold any character, parentheses too.
    name, _, rest = text.partition("(")[2].rpartition(")")
    fields = rest.split()
    # Fields 14, 15 and 22 of proc_pid_stat(5); the first after the name is field 3.
    return Task(int(folder.name), name, int(fields[19]), int(fields[11]) + int(fields[12]))


def cpu_of_thread(folder: Path, ticks: int) -> float:
    """CPU seconds of a thread: its run time in nanoseconds, or ``ticks`` where the kernel keeps no such statistics."""
    try:
        return int((folder / "schedstat").read_text(encoding="ascii").split()[0]) / 1e9
    except (OSError, ValueError, IndexError):
        return ticks / os.sysconf("SC_CLK_TCK")


def cpu_of_machine() -> float:
    """CPU seconds of all processors since the start of the system, without idle time, waits for I/O and steal."""
    fields = [int(field) for field in (PROC / "stat").read_text(encoding="ascii").splitlines()[0].split()[1:]]
    # user, nice, system, idle, iowait, irq, softirq, ...; guest time is in user time already.
    return (sum(fields[:3]) + sum(fields[5:7])) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ControlGroup:
    """A control group of the kernel; `counter` holds its CPU time, `scale` is the number of units per second."""

    folder: Path
    counter: Path
    scale: float

    @classmethod
    def of(cls, folder: Path) -> ControlGroup | None:
        """The group of a folder; None if it holds no CPU time."""
        for name, scale in GROUP_COUNTERS:
            if (folder / name).is_file():
                return cls(folder, folder / name, scale)
        return None

    def add(self, number: int) -> None:
        """Put a process into the group."""
        (self.folder / "cgroup.procs").write_text(str(number), encoding="ascii")

    def cpu(self) -> float:
        """CPU seconds of all processes that are or were in the group."""
        text = self.counter.read_text(encoding="ascii").split()
        return float(text[text.index("usage_usec") + 1] if "usage_usec" in text else text[0]) / self.scale
