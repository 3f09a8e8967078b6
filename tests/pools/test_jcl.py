"""Jobs of a change: what runs where, in which order, within the columns that are read."""

from __future__ import annotations

import re

import pytest

from plexlens.errors import UsageError
from plexlens.pools.alter import Script
from plexlens.pools.jcl import jobs

CHANGE = (
    "-- A move takes effect when the data sets are next opened.",
    "-ALTER BUFFERPOOL(BP7) VPSIZE(5000) VPSEQT(80) DWQT(30) VDWQT(5,0) PGSTEAL(LRU) PGFIX(NO) FRAMESIZE(4K)",
    "ALTER TABLESPACE PAY.TSEMP BUFFERPOOL BP7;",
    "ALTER INDEX PAYOWNER.XEMP1 BUFFERPOOL BP7;",
    "-ALTER BUFFERPOOL(BP2) VPSIZE(3000)",
)
REVERSE = (
    "-ALTER BUFFERPOOL(BP2) VPSIZE(8000)",
    "ALTER INDEX PAYOWNER.XEMP1 BUFFERPOOL BP2;",
    "ALTER TABLESPACE PAY.TSEMP BUFFERPOOL BP2;",
    "-ALTER BUFFERPOOL(BP7) VPSIZE(0)",
)


def statements(text: str) -> list[str]:
    """What the steps of jobs run, read as TSO and DSNTEP2 read it."""
    found: list[str] = []
    for inside in re.findall(r"DD \*\n(.*?)/\*\n", text, flags=re.DOTALL):
        joined = re.sub(r" -\n\s*", " ", inside)
        for line in joined.splitlines():
            if re.match(r"\s*(-ALTER|ALTER)", line):
                found.append(line.strip())
    return found


def test_every_statement_runs_in_its_order_and_the_reverse_after_it() -> None:
    change, reverse = jobs(Script(CHANGE, REVERSE), "DB1A")
    text = change + reverse
    assert (change.count(" JOB ("), reverse.count(" JOB (")) == (1, 1), "submitted together, they would undo each other"
    assert statements(text) == [line for line in CHANGE + REVERSE if not line.startswith("--")]
    assert text.count(" JOB (ACCT)") == 2
    # New pool, then the moves, then the smaller pool: three steps each, and none after one that failed.
    assert re.findall(r"^//(\w+) +EXEC", text, flags=re.MULTILINE) == ["ALTER1", "SQL2", "ALTER3"] * 2
    assert text.count(",COND=(4,LT)") == 4
    assert text.count("PROGRAM(DSNTEP2)") == 2
    assert text.count("DSN SYSTEM(DB1A)") == 6
    assert "//* A move takes effect when the data sets are next opened.\n" in text


def test_no_line_is_longer_than_what_is_read() -> None:
    text = "".join(jobs(Script(CHANGE, REVERSE), "DB1A"))
    assert max(map(len, text.splitlines())) <= 71


def test_names_and_changes_that_cannot_be_a_job() -> None:
    with pytest.raises(UsageError, match="not the name of a Db2"):
        jobs(Script(CHANGE, REVERSE), "")
    with pytest.raises(UsageError, match="nothing changes"):
        jobs(Script((), ()), "DB1A")
    with pytest.raises(UsageError, match="neither SQL nor a command"):
        jobs(Script(("SETXCF START,REBUILD",), ()), "DB1A")
