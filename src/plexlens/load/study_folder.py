"""A study folder of the user: a row per load test with the CPU time of each address space and server process."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from plexlens.errors import UnreadableInputError, UsageError
from plexlens.load.cost import Costs
from plexlens.load.criteria import Outcome, Validity
from plexlens.load.run import Run
from plexlens.sampling.recording import PROCESS
from plexlens.whole_file import is_part

RUN, RATE, RESPONSE, TOTAL = "run", "ETR", "RESP (ms)", "TOTAL ms CPU per transaction"
#: Column with the criteria that a run was judged by, and the word before those that it breaks; `plexlens compare` reads
#: both.
CRITERIA, BROKEN = "criteria", "broken"
#: Ends the heads of columns with the share of a processor that an address space or a process uses.
PERCENT = " CPU%"


def study_files(folder: Path, run: Run, costs: Costs, name: str, validity: Validity | None = None) -> dict[Path, str]:
    """The files of a study folder with the row of a load test added, or replaced if a row has its name.

    Parameters
    ----------
    folder
        The study; created by this command, or not there yet.
    run, costs
        The load test, and SMF or samples of the same minutes.
    name
        Of the row.
    validity
        Answers to criteria; None if none were named.

    Returns
    -------
    dict
        Text by file.

    Raises
    ------
    UsageError
        The folder holds another study.
    UnreadableInputError
        A file of the folder cannot be read.
    """
    table, definition = folder / "runs.csv", folder / "study.toml"
    rows: list[dict[str, str]] = []
    begun = table.is_file() or (folder.is_dir() and all(is_part(path) for path in folder.iterdir()))
    if folder.exists() and not begun:
        raise UsageError(
            file=str(folder),
            what="this is not a study that plexlens run began",
            remedy="name a new folder with --study",
        )
    if table.is_file():
        rows = _held(table)
    used = [(space.name, space.cp_seconds + space.specialty_seconds) for space in costs.spaces]
    used += [(share.name, share.seconds) for share in costs.servers if share.kind == PROCESS]
    row = {RUN: name, RATE: f"{costs.requests / costs.seconds:.4f}", RESPONSE: f"{costs.response * 1e3:.4f}"}
    busy: dict[str, float] = {}
    for part, seconds in used:
        if seconds > 0:
            busy[_column(part)] = busy.get(_column(part), 0.0) + seconds / costs.seconds * 100
    row |= {head: f"{value:.4f}" for head, value in busy.items()}
    if validity is not None:
        row[CRITERIA] = _judgement(validity)
    rows = [earlier for earlier in rows if earlier[RUN] != name] + [row]
    columns = sorted({head for earlier in rows for head in earlier if head.endswith(PERCENT)})
    for earlier in rows:
        total = sum(float(earlier.get(head) or 0.0) for head in columns)
        earlier[TOTAL] = f"{total * 10 / float(earlier[RATE]):.4f}"
        earlier.update({head: earlier.get(head) or "0" for head in columns})
    text = io.StringIO()
    judged = [CRITERIA] if any(earlier.get(CRITERIA) for earlier in rows) else []
    writer = csv.DictWriter(
        text, [RUN, RATE, RESPONSE, *columns, TOTAL, *judged], lineterminator="\n", extrasaction="ignore"
    )
    writer.writeheader()
    writer.writerows(rows)
    # The table is first: a folder that has it is known as a study, whatever stopped the command after it.
    return {table: text.getvalue(), definition: _definition(folder, run, costs, columns)}


def _judgement(validity: Validity) -> str:
    """The name of the criteria and what they found: ``cb84: broken (Processors are busy)``."""
    broken = [answer.criterion.title for answer in validity.of(Outcome.BROKEN)]
    if broken:
        return f"{validity.criteria.name}: {BROKEN} ({'; '.join(broken)})"
    open_ones = len(validity.answers) - len(validity.of(Outcome.MET))
    return f"{validity.criteria.name}: none broken" + (f", {open_ones} not judged" if open_ones else "")


def _column(job: str) -> str:
    return f"{job or '(no name)'}{PERCENT}"


def _held(table: Path) -> list[dict[str, str]]:
    try:
        with table.open(encoding="utf-8", newline="") as stream:
            rows = [{name: value or "" for name, value in row.items() if name} for row in csv.DictReader(stream)]
        for row in rows:
            if not row.get(RUN) or float(row[RATE]) <= 0:
                raise ValueError(f"row {row.get(RUN, '')!r} has no rate")
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, ValueError) as error:
        raise UnreadableInputError(
            file=str(table),
            what=f"it is not a table of plexlens run: {error}",
            remedy="mend the file, or name a new folder with --study",
        ) from error
    return rows


def _definition(folder: Path, run: Run, costs: Costs, columns: list[str]) -> str:
    quoted = json.dumps
    counted = ["SMF 30"] * bool(costs.spaces) + ["samples of Linux servers"] * bool(costs.servers)
    return f"""# Written by plexlens run; each run of it with this folder adds or replaces a row of runs.csv.
name = {quoted(folder.resolve().name or "runs")}
title = "Load tests and the CPU time of their requests"
source = {quoted(f"{run.test.tool} and {' and '.join(counted) or 'SMF 72-3'} of the same minutes")}

[[tables]]
id = "runs"
file = "runs.csv"
title = "Load tests"

[[tables.derived]]
column = {quoted(TOTAL)}
formula = "cpu_ms_per_transaction"
arguments = {{ rate = "{RATE}", cpu_percent = {quoted(columns)} }}
"""
