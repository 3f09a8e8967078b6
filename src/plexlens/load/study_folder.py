"""A study folder of the user: a row per load test with the CPU time of each address space and server process."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomli

from plexlens.errors import NothingUsableError, UnreadableInputError, UsageError
from plexlens.load.cost import Costs
from plexlens.load.criteria import Outcome, Validity
from plexlens.load.run import Run
from plexlens.sampling.recording import PROCESS
from plexlens.whole_file import is_part

RUN, RATE, RESPONSE, TOTAL = "run", "ETR", "RESP (ms)", "TOTAL ms CPU per transaction"
#: Column with the criteria that a run was judged by, and the word before those that it breaks; `plexlens compare` reads
#: both.
CRITERIA, BROKEN = "criteria", "broken"
#: Ends the heads of columns with the share of a processor that an address space or a process uses: on general
#: processors, and on specialty engines.
PERCENT, SPECIALTY = " CPU%", " specialty CPU%"
#: Table of the tests for which no way is named.
RUNS = "runs"
#: Begins a ``study.toml`` that this module wrote.
_WRITTEN = "# Written by plexlens run"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}\Z")
_REMEDY = "mend the file, or name a new folder with --study"


@dataclass(frozen=True)
class Way:
    """The way into the server that a test used, for `plexlens ways-in`.

    Attributes
    ----------
    name
        Of the way and of its table.
    payload
        Bytes in, and as many out.
    connection, security
        In the words of `plexlens ways-in`.
    """

    name: str
    payload: int
    connection: str
    security: str

    def __post_init__(self) -> None:
        if not _NAME.match(self.name) or self.name.lower() == RUNS:
            raise UsageError(
                file="",
                what=f"{self.name!r} cannot name a way",
                remedy=f"use letters, digits, - and _, at most 64, and not {RUNS!r}",
            )


def study_files(
    folder: Path,
    run: Run,
    costs: Costs,
    name: str,
    *,
    validity: Validity | None = None,
    way: Way | None = None,
) -> dict[Path, str]:
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
    way
        The way that the test used: it has a table of its own, which `plexlens ways-in` reads.

    Returns
    -------
    dict
        Text by file.

    Raises
    ------
    UsageError
        The folder holds another study, or the way with another payload, connection or security.
    UnreadableInputError
        A file of the folder cannot be read.
    NothingUsableError
        No address space and no process has CPU time.
    """
    table, definition, ways_in = (
        folder / f"{RUNS if way is None else way.name}.csv", folder / "study.toml", folder / "ways_in.toml",
    )  # fmt: skip
    if folder.exists() and not _begun(folder, table, definition):
        raise UsageError(
            file=str(folder),
            what="this is not a study that plexlens run began",
            remedy="name a new folder with --study",
        )
    ways = _ways(ways_in)
    if way is not None:
        if (before := ways.get(way.name, way)) != way:
            raise UsageError(
                file=str(ways_in),
                what=f"way {way.name} has {before.payload:,} bytes, {before.connection} connections and security "
                f"{before.security}",
                remedy="give --way the same, or another name",
            )
        ways[way.name] = way
    rows = [earlier for earlier in _held(table) if earlier[RUN] != name] if table.is_file() else []
    rows.append(_row(folder, costs, name, validity))
    columns = _columns(rows)
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
    tables = {
        path.stem: _columns(_held(path))
        for path in (folder / f"{known}.csv" for known in (RUNS, *ways))
        if path != table and path.is_file()
    }
    tables[table.stem] = columns
    # The table is first: a folder that has it is known as a study, whatever stopped the command after it.
    files = {table: text.getvalue(), definition: _definition(folder, run, costs, tables)}
    return {**files, ways_in: _ways_definition(ways, tables)} if ways else files


def _begun(folder: Path, table: Path, definition: Path) -> bool:
    """Whether a folder is a study of this command, or what a stopped command left of a study."""
    if not folder.is_dir():
        return False
    if definition.is_file():
        try:
            return definition.read_text(encoding="utf-8").startswith(_WRITTEN)
        except (OSError, UnicodeDecodeError) as error:
            raise UnreadableInputError(
                file=str(definition), what=f"it cannot be read: {error}", remedy=_REMEDY
            ) from error
    return all(path == table or is_part(path) for path in folder.iterdir())


def _row(folder: Path, costs: Costs, name: str, validity: Validity | None) -> dict[str, str]:
    used = [(_column(space.name, PERCENT), space.cp_seconds) for space in costs.spaces]
    used += [(_column(space.name, SPECIALTY), space.specialty_seconds) for space in costs.spaces]
    used += [(_column(share.name, PERCENT), share.seconds) for share in costs.servers if share.kind == PROCESS]
    busy: dict[str, float] = {}
    for head, seconds in used:
        if seconds > 0:
            busy[head] = busy.get(head, 0.0) + seconds / costs.seconds * 100
    if not busy:
        raise NothingUsableError(
            file=str(folder),
            what="no address space (SMF 30) and no sampled process has CPU time in these minutes, so a row would say "
            "that requests cost nothing",
            remedy="give SMF 30 interval records with --smf, or samples of the servers' processes",
        )
    row = {RUN: name, RATE: f"{costs.requests / costs.seconds:.4f}", RESPONSE: f"{costs.response * 1e3:.4f}"}
    row |= {head: f"{value:.4f}" for head, value in busy.items()}
    if validity is not None:
        row[CRITERIA] = _judgement(validity)
    return row


def _columns(rows: list[dict[str, str]]) -> list[str]:
    return sorted({head for row in rows for head in row if head.endswith(PERCENT)})


def _judgement(validity: Validity) -> str:
    """The name of the criteria and what they found: ``cb84: broken (Processors are busy)``."""
    broken = [answer.criterion.title for answer in validity.of(Outcome.BROKEN)]
    if broken:
        return f"{validity.criteria.name}: {BROKEN} ({'; '.join(broken)})"
    open_ones = len(validity.answers) - len(validity.of(Outcome.MET))
    return f"{validity.criteria.name}: none broken" + (f", {open_ones} not judged" if open_ones else "")


def _column(job: str, end: str) -> str:
    return f"{job or '(no name)'}{end}"


def _held(table: Path) -> list[dict[str, str]]:
    try:
        with table.open(encoding="utf-8", newline="") as stream:
            rows = [{name: value or "" for name, value in row.items() if name} for row in csv.DictReader(stream)]
        for row in rows:
            if not row.get(RUN) or float(row[RATE]) <= 0:
                raise ValueError(f"row {row.get(RUN, '')!r} has no rate")
    except (OSError, UnicodeDecodeError, csv.Error, KeyError, ValueError) as error:
        raise UnreadableInputError(
            file=str(table), what=f"it is not a table of plexlens run: {error}", remedy=_REMEDY
        ) from error
    return rows


def _ways(path: Path) -> dict[str, Way]:
    """The ways that earlier tests named."""
    if not path.is_file():
        return {}
    try:
        content: dict[str, Any] = tomli.loads(path.read_text(encoding="utf-8"))
        ways = [
            Way(str(way["id"]), int(way["payload"]), str(way["connection"]), str(way["security"]))
            for way in content["ways"]
        ]
    except (OSError, UnicodeDecodeError, tomli.TOMLDecodeError, KeyError, TypeError, ValueError, UsageError) as error:
        raise UnreadableInputError(
            file=str(path), what=f"it is not a table of ways of plexlens run: {error}", remedy=_REMEDY
        ) from error
    return {way.name: way for way in ways}


def _definition(folder: Path, run: Run, costs: Costs, tables: dict[str, list[str]]) -> str:
    quoted = json.dumps
    counted = " and ".join(["SMF 30"] * bool(costs.spaces) + ["samples of Linux servers"] * bool(costs.servers))
    lines = [
        f"{_WRITTEN}; each run of it with this folder adds or replaces a row of a table, and writes this file anew.",
        f"name = {quoted(folder.resolve().name or RUNS)}",
        'title = "Load tests and the CPU time of their requests"',
        f"source = {quoted(f'{run.test.tool} and {counted} of the same minutes')}",
    ]
    for name, columns in tables.items():
        lines += [
            "", "[[tables]]", f"id = {quoted(name)}", f"file = {quoted(f'{name}.csv')}",
            f"title = {quoted('Load tests' if name == RUNS else f'Load tests of {name}')}",
            "", "[[tables.derived]]", f"column = {quoted(TOTAL)}", 'formula = "cpu_ms_per_transaction"',
            f'arguments = {{ rate = "{RATE}", cpu_percent = {quoted(columns)} }}',
        ]  # fmt: skip
    return "\n".join([*lines, ""])


def _ways_definition(ways: dict[str, Way], tables: dict[str, list[str]]) -> str:
    quoted = json.dumps
    lines = [
        f"{_WRITTEN}; each run of it with --way writes this file anew.",
        "engines = 1",
        "specialty_engines = 0",
        'caveats = ["The number of processors is not recorded: limits are for one. Give plexlens ways-in --engines.", '
        '"CPU time includes work that no request of the tests caused."]',
    ]
    for name, columns in tables.items():
        if name not in ways:
            continue
        way = ways[name]
        lines += [
            "", "[[ways]]", f"id = {quoted(name)}", f"title = {quoted(name)}", f"table = {quoted(name)}",
            f'rate = "{RATE}"', f'response = "{RESPONSE}"', f"payload = {way.payload}",
            f"connection = {quoted(way.connection)}", f"security = {quoted(way.security)}",
            f"general = {quoted([head for head in columns if not head.endswith(SPECIALTY)])}",
            f"specialty = {quoted([head for head in columns if head.endswith(SPECIALTY)])}",
        ]  # fmt: skip
    return "\n".join([*lines, ""])
