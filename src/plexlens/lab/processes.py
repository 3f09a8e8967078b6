"""CPU time of processes, sampled from outside, and a control group that holds them."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from plexlens.sampling.counters import GROUPS, ControlGroup, cpu_of_process


@contextlib.contextmanager
def control_group() -> Iterator[ControlGroup | None]:
    """A control group of its own; None where the system gives none to this user."""
    group: ControlGroup | None = None
    for parent in (GROUPS / "cpuacct", GROUPS):
        folder = parent / f"plexlens-lab-{os.getpid()}"
        with contextlib.suppress(OSError):
            folder.mkdir()
            group = ControlGroup.of(folder)
            if group is not None and (folder / "cgroup.procs").is_file():
                break
            group = None
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
