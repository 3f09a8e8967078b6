"""Runs writers that are cut short: a process that imports once, then forks for each trial.

Reads a JSON object a line on standard input: `pdb`; the `verb` (an entry of `WRITERS`) with what it needs; and how it
is to end: killed `after` seconds or at file system step `step`, refused that step with the error `errno`, or left
alone.
It answers with one object: how the writer ended, and how many steps it took when it was left alone. The parent has no
threads, so that a fork is safe.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from plexlens.errors import PlexlensError
from plexlens.ingest import kinds as sources
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.upkeep.compact import compact
from plexlens.pdb.upkeep.expire import expire, purge
from plexlens.pdb.upkeep.rebuild import find, rebuild
from plexlens.pdb.upkeep.repair import repair
from plexlens.pdb.upkeep.undo import undo
from tests.pdb import fake_source


def _opened(command: dict[str, Any]) -> Pdb:
    return Pdb.open(command["pdb"])


def _rebuild(command: dict[str, Any]) -> None:
    pdb = _opened(command)
    failed = [one.reason for one in rebuild(pdb, find(pdb)) if not one.done]
    assert not failed, failed


#: Everything that writes into a PDB.
WRITERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "ingest": lambda command: ingest(command["paths"], _opened(command)),
    "compact": lambda command: compact(_opened(command)),
    "expire": lambda command: expire(_opened(command), today=date.fromisoformat(command["today"])),
    "purge": lambda command: purge(_opened(command)),
    "rebuild": _rebuild,
    "repair": lambda command: repair(Path(command["pdb"])),
    "undo": lambda command: undo(_opened(command)),
}


class Countdown:
    """Ends the process just before a file system step, with what the step had done by half already there.

    With an `error` the step is refused instead, once.
    """

    def __init__(self, step: int | None, error: int | None = None) -> None:
        self._step = step
        self._error = error
        self._lock = threading.Lock()
        self.taken = 0

    def wrap(self, owner: Any, name: str, half: Callable[..., None] | None = None) -> None:
        original = getattr(owner, name)

        def step(*args: Any, **kwargs: Any) -> Any:
            with self._lock:
                self.taken += 1
                if self.taken == self._step:
                    if half is not None:
                        half(*args, **kwargs)
                    if self._error is not None:
                        raise OSError(self._error, os.strerror(self._error))
                    os.kill(os.getpid(), signal.SIGKILL)
            return original(*args, **kwargs)

        setattr(owner, name, step)


def _half_text(path: Path, text: str, **options: Any) -> None:
    path.open("w", **options).write(text[: len(text) // 2])


def _half_table(table: pa.Table, path: Path, **options: Any) -> None:
    path.write_bytes(b"PAR1" + bytes(500))


def _write(command: dict[str, Any], report: int) -> None:
    countdown = Countdown(command.get("step"), command.get("errno"))
    if "after" not in command:
        # A kill takes nothing from the page cache: counted as a step, the wait for the device is left out.
        setattr(os, "fsync", lambda descriptor: None)  # noqa: B010
    for name in ("fsync", "ftruncate", "mkdir", "rename", "unlink", "rmdir"):
        countdown.wrap(os, name)
    countdown.wrap(Path, "write_text", _half_text)
    countdown.wrap(pq, "write_table", _half_table)
    countdown.wrap(pq.ParquetWriter, "write_table")
    try:
        WRITERS[command.get("verb", "ingest")](command)
    finally:
        os.write(report, str(countdown.taken).encode())


def _run(command: dict[str, Any]) -> dict[str, Any]:
    readable, report = os.pipe()
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            _write(command, report)
            code = 0
        except PlexlensError:
            code = 3
        finally:
            os._exit(code)
    os.close(report)
    if command.get("after") is not None:
        # The child is ours until it is waited for, so its number cannot have gone to another process.
        time.sleep(max(0.0, command["after"] - (time.perf_counter() - started)))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - started
    with os.fdopen(readable, "rb") as stream:
        taken = int(stream.read() or 0)
    code = None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    ending = {None: "killed", 0: "done", 3: "refused"}.get(code, "failed")
    return {"ending": ending, "steps": taken, "seconds": seconds}


def main() -> None:
    sources.SOURCES = (fake_source.KIND, *sources.SOURCES)
    pa.set_cpu_count(1)
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
