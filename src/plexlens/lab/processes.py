"""CPU time of processes as the kernel counts it, sampled from outside, and of the control group that holds them."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_GROUPS = Path("/sys/fs/cgroup")


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


@dataclass(frozen=True)
class ControlGroup:
    """A control group of the kernel; `counter` holds its CPU time, `scale` is the number of units per second."""

    folder: Path
    counter: Path
    scale: float

    def add(self, number: int) -> None:
        """Put a process into the group."""
        (self.folder / "cgroup.procs").write_text(str(number), encoding="ascii")

    def cpu(self) -> float:
        """CPU seconds of all processes that are or were in the group."""
        text = self.counter.read_text(encoding="ascii").split()
        return float(text[text.index("usage_usec") + 1] if "usage_usec" in text else text[0]) / self.scale


@contextlib.contextmanager
def control_group() -> Iterator[ControlGroup | None]:
    """A control group of its own; None where the system gives none to this user."""
    group: ControlGroup | None = None
    for parent, counter, scale in ((_GROUPS / "cpuacct", "cpuacct.usage", 1e9), (_GROUPS, "cpu.stat", 1e6)):
        folder = parent / f"plexlens-lab-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            if (folder / counter).is_file() and (folder / "cgroup.procs").is_file():
                group = ControlGroup(folder, folder / counter, scale)
                break
            folder.rmdir()
    try:
        yield group
    finally:
        if group is not None:
            with contextlib.suppress(OSError):
                group.folder.rmdir()


@dataclass
class Sampler:
    """Samples CPU times until it is stopped.

    Attributes
    ----------
    lines
        Seconds since 1970 and CPU seconds by name; a name is missing while its process is not there.
    """

    period: float = 0.05
    processes: dict[str, int] = field(default_factory=dict)
    groups: dict[str, ControlGroup] = field(default_factory=dict)
    lines: list[tuple[float, dict[str, float]]] = field(default_factory=list)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Sample in a thread."""
        ended = threading.Event()
        thread = threading.Thread(target=self._run, args=(ended,), daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _run(self, ended: threading.Event) -> None:
        while not ended.wait(self.period):
            self.lines.append((time.time(), self._now()))

    def _now(self) -> dict[str, float]:
        seconds = {}
        for name, number in list(self.processes.items()):
            with contextlib.suppress(OSError):
                seconds[name] = cpu_of_process(number)
        for name, group in list(self.groups.items()):
            with contextlib.suppress(OSError, ValueError):
                seconds[name] = group.cpu()
        return seconds
