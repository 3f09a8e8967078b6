"""Runs writers that are cut short: a process that imports once, then forks for each trial.

Reads a JSON object per line on standard input: what is to run, and how it is to end. To run is the `verb` of an entry
of `WRITERS` with its `pdb` and what else it needs, or the `words` of a command line with its folder `cwd`. It is killed
`after` seconds, or killed at its system call number `step` among those that change files below `pdb` or `cwd`, or
refused that call with the error `errno`, or left alone (`faults.c` counts the calls).
It answers with one object: how the writer ended, what it said, and the names of the calls that it made when it was left
alone. The parent has no threads, so that a fork is safe.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

import plexlens
from plexlens.cli.without_pandas import leave_out
from plexlens.errors import PlexlensError
from plexlens.findings import load_rules
from plexlens.ingest import kinds as sources
from plexlens.pdb import Pdb, ingest
from plexlens.pdb.opening import DumpReading
from plexlens.pdb.upkeep.compact import compact
from plexlens.pdb.upkeep.expire import expire, purge
from plexlens.pdb.upkeep.rebuild import find, rebuild
from plexlens.pdb.upkeep.repair import repair
from plexlens.pdb.upkeep.undo import undo
from plexlens.watch.judging import Judge
from plexlens.watch.passing_on import Receivers
from plexlens.watch.settling import Folders
from plexlens.watch.watcher import Watcher
from tests.pdb import fake_source

#: Modules that need packages of an extra.
_OF_EXTRAS = ("plexlens.spark", "plexlens.pdb.object_views")


def _opened(command: dict[str, Any]) -> Pdb:
    return Pdb.open(command["pdb"])


def _rebuild(command: dict[str, Any]) -> None:
    pdb = _opened(command)
    failed = [one.reason for one in rebuild(pdb, find(pdb)) if not one.done]
    assert not failed, failed


def _watch(command: dict[str, Any]) -> None:
    pdb = _opened(command)
    folders = Folders([Path(command["folder"])], _unheard)
    judge, receivers = Judge(pdb, load_rules()), Receivers(_unheard, _unheard)
    Watcher(folders, pdb, judge, receivers, reading=DumpReading(), tell=_unheard).run(
        0.01, threading.Event(), once=True
    )


def _unheard(text: str) -> None:
    pass


#: Everything that writes into a PDB.
WRITERS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "ingest": lambda command: ingest(command["paths"], _opened(command)),
    "compact": lambda command: compact(_opened(command)),
    "expire": lambda command: expire(_opened(command), today=date.fromisoformat(command["today"])),
    "purge": lambda command: purge(_opened(command)),
    "rebuild": _rebuild,
    "repair": lambda command: repair(Path(command["pdb"])),
    "undo": lambda command: undo(_opened(command)),
    "watch": _watch,
}


def _cli(command: dict[str, Any]) -> int:
    """A command of the command line, in the folder `cwd`; its exit code."""
    from plexlens.cli import main

    os.chdir(command["cwd"])
    sys.argv = ["plexlens", *command["words"]]
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else bool(ended.code)
    return 0


def _write(command: dict[str, Any], report: int) -> int:
    faults = ctypes.CDLL(None)
    if "after" not in command:
        below = command.get("cwd") or command["pdb"]
        faults.faults_arm(os.fsencode(below), ctypes.c_long(command.get("step", 0)), command.get("errno", 0))
    try:
        if "words" in command:
            return _cli(command)
        WRITERS[command.get("verb", "ingest")](command)
        return 0
    finally:
        faults.faults_disarm()
        faults.faults_name.restype = ctypes.c_char_p
        names = [faults.faults_name(ctypes.c_long(step)).decode() for step in range(1, faults.faults_taken() + 1)]
        os.write(report, json.dumps(names).encode())


def _child(command: dict[str, Any], report: int, told: int) -> None:
    code = 1
    try:
        if "words" in command:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.dup2(told, 2)
        code = _write(command, report)
        sys.stderr.flush()
    except PlexlensError as error:
        os.write(told, str(error).encode())
        code = 3
    except BaseException:
        os.write(told, traceback.format_exc().encode())
        raise
    finally:
        os._exit(code)


def _run(command: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryFile() as told:
        return _ended(command, told)


def _ended(command: dict[str, Any], told: IO[bytes]) -> dict[str, Any]:
    readable, report = os.pipe()
    started = time.perf_counter()
    child = os.fork()
    if child == 0:
        _child(command, report, told.fileno())
    os.close(report)
    if command.get("after") is not None:
        # The child is ours until it is waited for, so its number cannot have gone to another process.
        time.sleep(max(0.0, command["after"] - (time.perf_counter() - started)))
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    seconds = time.perf_counter() - started
    with os.fdopen(readable, "rb") as stream:
        names = json.loads(stream.read() or "[]")
    told.seek(0)
    code = None if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    ending = {None: "killed", 0: "done", 2: "refused", 3: "refused"}.get(code, "failed")
    return {
        "ending": ending,
        "steps": len(names),
        "names": names,
        "seconds": seconds,
        "told": told.read().decode(errors="replace"),
    }


#: Modules that need an extra: Spark, what runs within Locust, and object storage.
_OF_EXTRAS = ("plexlens.spark", "plexlens.driver.locustfile", "plexlens.driver.users", "plexlens.pdb.object_views")


def prepared() -> None:
    """Import what commands import late, so that each fork has it."""
    import duckdb  # noqa: F401

    from plexlens.metrics import GRAINS

    for module in pkgutil.walk_packages(plexlens.__path__, "plexlens."):
        if not module.name.endswith("__main__") and not module.name.startswith(_OF_EXTRAS):
            importlib.import_module(module.name)
    GRAINS["cpu_system"]
    # A collection in a child would write to every page that it shares with this process.
    gc.collect()
    gc.freeze()


def main() -> None:
    sources.SOURCES = (fake_source.KIND, *sources.SOURCES)
    pa.set_cpu_count(1)
    # As commands do; else each fork would load it for its first array.
    leave_out()
    prepared()
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
