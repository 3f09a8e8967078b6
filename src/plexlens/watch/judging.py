"""New findings of new data: rules are evaluated over the time of what came in, and each finding is given once."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from plexlens.errors import NothingUsableError
from plexlens.findings import Decision, Rule, check
from plexlens.json_text import json_text, json_value
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import Selection, Window, resolve
from plexlens.metrics.selection.raw import timed_tables
from plexlens.pdb import Pdb
from plexlens.pdb.engine import Connection
from plexlens.pdb.opening import MEMORY_LIMIT
from plexlens.whole_file import write

#: File in the database: which sources were judged, and which findings were passed on.
STATE = "watch.json"

#: Findings that are remembered; older ones are of times that no longer come in.
_REMEMBERED = 20_000


class Judge:
    """The findings of a database that grows.

    Sources that were in the database before it was watched for the first time are taken as judged.

    Parameters
    ----------
    pdb
        The database.
    rules
        The rules to evaluate.
    decisions
        Decisions of the site about findings; what it suppresses or acknowledges is not passed on.
    """

    def __init__(self, pdb: Pdb, rules: Sequence[Rule], decisions: Sequence[Decision] = ()) -> None:
        self.pdb = pdb
        self.rules = rules
        self.decisions = decisions
        self._path = pdb.path / STATE
        state = _read(self._path)
        there = {ingest.id for ingest in pdb.ingests}
        self._judged: set[str] = there if state is None else set(state.get("judged", ())) & there
        self._passed_on: dict[str, None] = dict.fromkeys(() if state is None else state.get("findings", ()))
        if state is None:
            self.keep(())

    @property
    def is_behind(self) -> bool:
        """Whether sources are in the database that have not been judged."""
        return any(ingest.id not in self._judged for ingest in self.pdb.ingests)

    def new(self) -> list[dict[str, Any]]:
        """New findings of the sources that have not been judged, as plain values; `keep` ends them."""
        sources = [ingest.id for ingest in self.pdb.ingests if ingest.id not in self._judged]
        if not sources:
            return []
        connection = self.pdb.connect(memory_limit=MEMORY_LIMIT)
        window = window_of(connection, sources)
        if window is None:
            return []
        try:
            selection = resolve(Selection(windows=(window,)), connection, str(self.pdb.path))
        except NothingUsableError:
            return []
        findings = check(Inputs(connection, selection), rules=self.rules, decisions=self.decisions)
        every = json_value(findings.to_json()["fired"])
        return [entry for entry in every if not entry["acknowledged"] and _identity(entry) not in self._passed_on]

    def keep(self, findings: Iterable[dict[str, Any]]) -> None:
        """Remember that all sources are judged, and that these findings were passed on."""
        self._judged = {ingest.id for ingest in self.pdb.ingests}
        self._passed_on.update(dict.fromkeys(_identity(finding) for finding in findings))
        kept = list(self._passed_on)[-_REMEMBERED:]
        self._passed_on = dict.fromkeys(kept)
        write(self._path, json_text({"judged": sorted(self._judged), "findings": kept}))


def window_of(connection: Connection, sources: Sequence[str]) -> Window | None:
    """The time of the intervals and records that came with these sources; None if they have no time."""
    listed = ", ".join(f"'{source}'" for source in sources)
    selects = [
        f"select epoch(min(coalesce({start}, {end}))) as first, epoch(max(coalesce({start}, {end}))) as last"
        f" from {table} where source_id in ({listed})"
        for table, start, end in timed_tables(connection)
        if _has_source(connection, table)
    ]
    if not selects:
        return None
    row = connection.execute(f"select min(first), max(last) from ({' union all '.join(selects)})").fetchone()
    if row is None or row[0] is None:
        return None
    # Intervals are named by the nearest minute of their start.
    first, last = (datetime.fromtimestamp(moment, UTC) for moment in row)
    return Window(first - timedelta(minutes=1), last + timedelta(minutes=1))


def _has_source(connection: Connection, table: str) -> bool:
    columns = connection.execute(f"describe {table}").fetchall()
    return any(column[0] == "source_id" for column in columns)


def _identity(finding: dict[str, Any]) -> str:
    """The identity of a finding: rule, object, and the start of the time in which it holds."""
    return json.dumps([finding["rule"], finding["entity"], finding["span"][0]], sort_keys=True)


def _read(path: Path) -> dict[str, Any] | None:
    """The state; None if there is none, or none that can be read."""
    try:
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return state if isinstance(state, dict) else None
