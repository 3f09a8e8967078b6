"""Running a program in a process of its own, with its time and its peak memory."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: Starts a command from a process of little memory: until it runs its own program, a process counts its parent's.
_RUNNER = """
import json, os, sys, time
began = time.perf_counter()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
seconds = time.perf_counter() - began
os.write(int(sys.argv[1]), json.dumps([seconds, usage.ru_maxrss, usage.ru_utime + usage.ru_stime]).encode())
sys.exit(os.waitstatus_to_exitcode(status) != 0)
"""


@dataclass(frozen=True)
class Run:
    """Time and memory of a run.

    Attributes
    ----------
    seconds
        Wall time as the run itself measured it (start of the process left out), or of the whole process.
    peak_bytes
        Peak resident memory of the process.
    answer
        What it found.
    cpu_seconds
        Processor time of a command, user and system, that of the processes it started included.
    """

    seconds: float
    peak_bytes: int
    answer: Any
    cpu_seconds: float = 0.0


def in_process(code: str, *words: str | Path, cores: int | None = None, python: Path | None = None) -> Run:
    """Run Python code in a fresh process.

    Parameters
    ----------
    code
        It sets ``answer`` (JSON types) between two calls of ``clock()``; ``words`` are in ``sys.argv[1:]``.
    words
        Its arguments.
    cores
        Cores it may use; None for all.
    python
        Another Python than this one.
    """
    frame = (
        "import json, resource, sys, time\n"
        "marks = []\n"
        "def clock(): marks.append(time.perf_counter())\n"
        f"{code}\n"
        "peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "print(json.dumps([marks[-1] - marks[0], peak, answer]))\n"
    )
    allowed = sorted(os.sched_getaffinity(0))

    def pin() -> None:
        if cores is not None:
            os.sched_setaffinity(0, allowed[-cores:])

    done = subprocess.run(
        [str(python or sys.executable), "-c", frame, *map(str, words)],
        check=True,
        capture_output=True,
        text=True,
        preexec_fn=pin,
    )
    seconds, peak, answer = json.loads(done.stdout.splitlines()[-1])
    return Run(seconds, peak, answer)


def command(*words: str | Path, environment: Mapping[str, str] | None = None, output: Path | None = None) -> Run:
    """Run a command to its end; the peak is that of the largest process.

    Parameters
    ----------
    words
        The command and its arguments.
    environment
        Its environment; None for that of this process.
    output
        File for what it prints; None lets go of it.
    """
    with Path(os.devnull if output is None else output).open("wb") as printed:
        read, write = os.pipe()
        runner = [sys.executable, "-I", "-S", "-c", _RUNNER, str(write), *map(str, words)]
        process = subprocess.Popen(runner, stdout=printed, stderr=subprocess.PIPE, env=environment, pass_fds=[write])
        os.close(write)
        problem = process.communicate()[1].decode()
        with os.fdopen(read) as told:
            measured = told.read()
    if process.returncode != 0:
        raise RuntimeError(f"{words[0]} failed: {problem}")
    seconds, peak, used = json.loads(measured)
    return Run(seconds, peak * 1024, None, used)


def best(runs: int, once: Any) -> Run:
    """The fastest of several runs, which was disturbed least. Peak memory is the highest of all runs."""
    made = [once() for _ in range(runs)]
    quickest = min(made, key=lambda run: run.seconds)
    return Run(quickest.seconds, max(run.peak_bytes for run in made), quickest.answer)


def machine() -> str:
    """The machine in one line."""
    model = platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
        memory = int(Path("/proc/meminfo").read_text().split()[1]) / 1024**2
    except OSError:
        return f"{model}, {os.cpu_count()} cores"
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB"
