"""The CPU time of a process by its own account, with the requests that it has served or sent so far."""

from __future__ import annotations

import resource
import time
from pathlib import Path
from typing import TextIO


def cpu_seconds() -> float:
    """CPU time of this process so far, user and system, of all its threads (getrusage)."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Account:
    """A file with a line of time, CPU time and requests, all since the start of the process."""

    def __init__(self, path: Path) -> None:
        self._stream: TextIO = path.open("w", encoding="utf-8", buffering=1)

    def note(self, requests: int) -> None:
        """Write a line now."""
        self._stream.write(f"{time.time():.6f} {cpu_seconds():.6f} {requests}\n")


def read_account(path: Path) -> list[tuple[float, float, int]]:
    """Lines of an account: seconds since 1970, CPU seconds, requests; a line that was cut is left out."""
    lines = []
    for line in path.read_text(encoding="utf-8").splitlines(keepends=True):
        cells = line.split()
        if line.endswith("\n") and len(cells) == 3:
            lines.append((float(cells[0]), float(cells[1]), int(cells[2])))
    return lines
