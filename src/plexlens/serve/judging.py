"""Evaluation of the rules by day in a separate process, so that no page waits for it.

The server (`judged_days`) writes the days to its standard input and reads a line for each from its standard output. The
process runs with low priority, on one thread, within the memory of the server's engine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import date
from pathlib import Path

from plexlens.errors import NothingUsableError, PlexlensError
from plexlens.findings import Finding, check
from plexlens.metrics.inputs import Inputs
from plexlens.metrics.selection import resolve, selected
from plexlens.pdb import Pdb
from plexlens.pdb.engine import Connection, session_of
from plexlens.serve.child import environment
from plexlens.serve.judged import Judged, Seen, judged_of, plain


def judged_days(
    database: Path, days: Sequence[date], memory_limit: str, running: Callable[[subprocess.Popen[bytes]], None]
) -> Iterator[tuple[date, Judged]]:
    """The findings of days, one after the other.

    Parameters
    ----------
    database
        The performance database.
    days
        Days of local time.
    memory_limit
        What the engine may use.
    running
        Told the process, which the caller may end.
    """
    names = {"database": str(database), "days": [day.isoformat() for day in days], "memory": memory_limit}
    with subprocess.Popen(
        [sys.executable, "-m", "plexlens.serve.judging"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(),
    ) as process:
        running(process)
        assert process.stdin is not None
        assert process.stdout is not None
        with suppress(BrokenPipeError):
            process.stdin.write(json.dumps(names).encode())
            process.stdin.close()
        for line in process.stdout:
            said = json.loads(line)
            yield date.fromisoformat(said["day"]), judged_of(said)


def judge(connection: Connection, day: date, database: str) -> Judged:
    """The findings of a day of local time.

    Parameters
    ----------
    connection
        To the raw tables; temporary tables must be allowed.
    day
        The day.
    database
        What the user called the database, for errors.
    """
    try:
        selection = resolve(selected(since=day.isoformat(), until=day.isoformat()), connection, database)
        findings = check(Inputs(connection, selection))
    except NothingUsableError:
        return Judged((), frozenset())
    except PlexlensError as error:
        return Judged((), frozenset(), problem=error.what)
    seen = [_seen(entry, leads=entry is finding) for finding in findings.fired for entry in finding.all]
    ran = frozenset((*(entry.rule for entry in seen), *(entry.rule.id for entry in findings.passed)))
    return Judged(tuple(seen), ran, sum(findings.left_out.values()))


def _seen(finding: Finding, *, leads: bool) -> Seen:
    entity = tuple((part.column, part.title, part.value) for part in finding.entity)
    rule, metric = finding.rule, finding.evidence[0].column
    return Seen(
        rule.id, rule.title, str(finding.severity), rule.grain, entity, metric, finding.sentence, finding.cost, leads
    )


def main() -> None:
    """Judge the days on standard input."""
    text = json.loads(sys.stdin.buffer.read())
    if hasattr(os, "nice"):
        os.nice(10)
    connection = Pdb.open(Path(text["database"])).connect(memory_limit=text["memory"], threads=1)
    for day in text["days"]:
        session = session_of(connection)
        try:
            result = judge(session, date.fromisoformat(day), text["database"])
        finally:
            session.close()
        sys.stdout.write(json.dumps({"day": day} | plain(result)) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
