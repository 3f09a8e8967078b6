"""Duration of each stage of ``make test``, as a Markdown table.

``make test-times`` (``python3 -m tools.stage_times``) clones the last commit into an empty folder, runs every stage
there (cold: nothing is installed or compiled; downloads of package managers are kept), and then again (warm), and
prints the table of docs/testing.md with the machine and the date. It takes twice as long as ``make test``: run it on a
quiet machine. ``--here`` times the stages once, in this folder as it is. Only the standard library is needed.
"""

from __future__ import annotations

import argparse
import datetime
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

#: Targets of the Makefile in the order in which `make test` needs them, and what each does.
STAGES = {
    ".build/venv": "Python packages",
    ".build/core": "compiled core, release",
    "lint": "format, lint, generated documents; cold: compiles for clippy",
    "types": "mypy",
    "tests": "tests of the product and of the crates (cold: compiles them), the stated part of fuzz; four at a time",
}


@dataclass(frozen=True)
class Took:
    """Seconds of a stage: on the clock, and of all processors."""

    wall: float
    cpu: float


def timed(target: str, folder: Path) -> Took:
    """Run a stage.

    Raises
    ------
    SystemExit
        The stage fails: times of a part would be taken for the whole.
    """
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["make", "--no-print-directory", target], cwd=folder, check=False, stdout=sys.stderr)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"make {target} failed with exit code {done.returncode}; no table is made of a part")
    return Took(time.monotonic() - begin, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def table(columns: dict[str, dict[str, Took]]) -> str:
    """The stages with a pair of columns for each run, and their sum."""
    heads = [f"{name}, {what}" for name in columns for what in ("wall", "CPU")]
    lines = [f"| stage | what it does | {' | '.join(heads)} |", "|---|---|" + "---:|" * len(heads)]
    for stage, what in STAGES.items():
        cells = [_minutes(seconds) for took in columns.values() for seconds in (took[stage].wall, took[stage].cpu)]
        lines.append(f"| `{stage}` | {what} | {' | '.join(cells)} |")
    sums = [
        _minutes(sum(getattr(took, kind) for took in each.values()))
        for each in columns.values()
        for kind in ("wall", "cpu")
    ]
    return "\n".join([*lines, f"| all | | {' | '.join(sums)} |"])


def _minutes(seconds: float) -> str:
    return f"{int(seconds + 0.5) // 60}:{int(seconds + 0.5) % 60:02d}"


def main(words: list[str]) -> int:
    """Time the stages and print the table."""
    parser = argparse.ArgumentParser(prog="python3 -m tools.stage_times", description="Time the stages of make test.")
    parser.add_argument("--here", action="store_true", help="time the stages once in this folder, without a clone")
    asked = parser.parse_args(words)
    columns: dict[str, dict[str, Took]] = {}
    if asked.here:
        columns["here"] = {stage: timed(stage, ROOT) for stage in STAGES}
    else:
        with tempfile.TemporaryDirectory(prefix="plexlens-times-") as name:
            clone = Path(name) / "clone"
            subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
            for run in ("cold", "warm"):
                columns[run] = {stage: timed(stage, clone) for stage in STAGES}
    when = datetime.datetime.now(datetime.UTC).date().isoformat()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    print(table(columns))
    print(
        f"\n{when}, {commit}, {os.cpu_count()} processors, {platform.system()} {platform.machine()}, minutes:seconds."
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
