"""Transactions: processor time, waits, responses and getpages of tables 4a and 4b, with the simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from plexlens.example.printed import Study, number
from plexlens.simulate.estimates import Estimate
from tools.beside_print import Line

#: Rows of tables 4a and 4b by class, which are weighted by volume. Table 4b spells some names differently.
_PROFILES = {
    "INQ1": ("Inquiry type1 simple", "Inquiry type 1 complex"),
    "INQ2": ("Inquiry type 2 simple", "Inquiry type 2 complex"),
    "UPDA": ("Simple Update UPDA",),
    "INS2": ("Secondary Insert",),
    "UPDB": ("Secondary Update UPDB",),
}
_OTHER_NAMES = {"Simple Update UPDA": "Simple Update UPD1", "Secondary Insert": "Secondary Insert INS1"}

#: Columns of table 4a, the name of the number with its unit, and that of the simulation.
_COLUMNS = (
    ("MEAN Response Time (sec)", "response, s", "response"),
    ("CICS CPUTM", "CPU time in CICS, s", "region_cpu"),
    ("DB2 TCB Time (sec)", "Db2 TCB time, s", "db2_cpu"),
    ("DB2 ELAPSED Time (sec)", "Db2 elapsed time, s", "db2_elapsed"),
    ("DB2 I/O TIME (sec)", "Db2 I/O time, s", "wait_sync_read"),
)


def _weighted(rows: Sequence[Mapping[str, str]], column: str) -> float:
    volume = sum(number(row["Volume"]) for row in rows)
    return sum(number(row["Volume"]) * number(row[column]) for row in rows) / volume


def printed_mean(study: Study, name: str, column: str) -> float:
    """A column of table 4a for a class: simple and complex transactions weighted by volume."""
    return _weighted([study.row("table_04a", Transaction=profile) for profile in _PROFILES[name]], column)


def transaction_lines(study: Study, found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Tables 4a and 4b, which name no run; simple and complex transactions are weighted by volume."""
    for name, profiles in _PROFILES.items():
        rows = [study.row("table_04a", Transaction=profile) for profile in profiles]
        for column, unit, key in _COLUMNS:
            yield Line(name, unit, _weighted(rows, column), found[f"{key} {name}"])
        rows = [study.row("table_04b", Transaction=_OTHER_NAMES.get(profile, profile)) for profile in profiles]
        yield Line(name, "getpages", _weighted(rows, "GET PAGES"), found[f"getpages {name}"])
        yield Line(name, "synchronous reads", _weighted(rows, "SYNCH I/O"), found[f"sync_reads {name}"])


def response_lines(found: Mapping[str, Estimate]) -> Iterator[Line]:
    """Responses of A1, for which the study prints none."""
    yield Line("both systems", "processor busy, %", None, found["busy"], points=True)
    for name in ("INQ1", "INQ2", "INQ3", "UPDA", "INS2", "UPDB"):
        yield Line(name, "response, s", None, found[f"response {name}"])
