"""Reading of a result file: recognition of its form, its requests or totals, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.compute as pc

from plexlens.errors import NothingUsableError, UnknownSourceError, UnreadableInputError
from plexlens.ingest.compression import Expansion, ExpansionError, open_expanded, unreadable
from plexlens.ingest.load_test import delimited, elements, gatling_log, hdr_histogram, json_lines
from plexlens.ingest.load_test.forms import Form, forms
from plexlens.ingest.load_test.request import SCHEMA, requests
from plexlens.ingest.load_test.summary import CORRECTED, CoursePoint, Total, locust_course, locust_totals, wrk_total
from plexlens.ingest.recognition import read_head

_SCANS: dict[str, ModuleType] = {
    "delimited": delimited,
    "elements": elements,
    "json lines": json_lines,
    "gatling log": gatling_log,
}
#: Bytes of the longest file of totals: they have a line per transaction and second.
_SUMMARY = 64 << 20
#: Bytes of memory per request at most, from reading to the page (`tests/load/test_many_requests.py`).
REQUEST_BYTES = 200
#: Bytes of memory for the requests of a file by default.
USUAL_MEMORY = 2 << 30
#: What JMeter writes for a transaction controller, whose requests have rows of their own.
_CONTROLLER = "Number of samples in transaction"


@dataclass(frozen=True)
class LoadTest:
    """A load test as its tool recorded it.

    Attributes
    ----------
    file, tool
        The file, and the tool as pages call it.
    requests
        A row per request, of `SCHEMA`, in the order of `started`; None for a tool that keeps totals only.
    totals, course
        What a tool without requests prints; empty otherwise.
    scheduled
        Whether the file says when the test plan wanted a request to begin. If not, the wait of a request that the
        tool sent late is in no response time (coordinated omission).
    left_out
        Reason, number, and place of the first, of what the file holds and this does not.
    """

    file: str
    tool: str
    requests: pa.Table | None
    totals: tuple[Total, ...] = ()
    course: tuple[CoursePoint, ...] = ()
    scheduled: bool = False
    left_out: tuple[tuple[str, int, str], ...] = ()


@dataclass
class _LeftOut:
    rows: dict[str, tuple[int, str]] = field(default_factory=dict)

    def note(self, reason: str, number: int, place: str) -> None:
        before, first = self.rows.get(reason, (0, place))
        self.rows[reason] = (before + number, first)

    def listed(self) -> tuple[tuple[str, int, str], ...]:
        return tuple((reason, number, place) for reason, (number, place) in self.rows.items())


def read(
    path: Path, site: tuple[Path, ...] = (), expansion: Expansion | None = None, memory: int = USUAL_MEMORY
) -> LoadTest:
    """Read a result file, plain or compressed with gzip or Zstandard.

    Parameters
    ----------
    path
        The file.
    site
        Folders with layouts of the site.
    expansion
        The limits to which a compressed file may expand, where the user can set them.
    memory
        Bytes that the requests may take, at `REQUEST_BYTES` each.

    Raises
    ------
    UnreadableInputError
        It cannot be read, or holds more requests than ``memory`` is enough for.
    UnknownSourceError
        It is of no known form; the message lists the forms.
    NothingUsableError
        It holds no request.
    """
    raw = read_head(path)
    text = raw.decode("utf-8-sig", "replace")
    known = forms(site)
    for form in known.values():
        if _SCANS[form.scan].starts(form, text):
            return _read(path, form, expansion, memory)
    summarised = _read_summary(path, raw, expansion)
    if summarised is not None:
        return summarised
    tools = [
        *(form.tool for form in known.values()),
        "Locust (_stats.csv, _stats_history.csv)",
        "wrk (its output)",
        "HdrHistogram (logs, percentiles)",
    ]
    raise UnknownSourceError(
        file=str(path),
        what="no load-test tool is known that writes such a file",
        remedy=f"check the file; known are {', '.join(tools)}. Others: see layouts/load_test/README.md",
    )


def read_repeats(
    paths: Sequence[Path], site: tuple[Path, ...], expansion: Expansion | None, memory: int
) -> list[LoadTest]:
    """Read the result files of repeats, whose requests together may take ``memory`` bytes.

    Parameters and errors are those of `read`.
    """
    tests = []
    for path in paths:
        tests.append(read(path, site, expansion, memory))
        requests = tests[-1].requests
        memory -= 0 if requests is None else requests.num_rows * REQUEST_BYTES
    return tests


def _read(path: Path, form: Form, expansion: Expansion | None, memory: int) -> LoadTest:
    left_out = _LeftOut()
    tables: list[pa.Table] = []
    count = 0
    try:
        stream, raw = open_expanded(path, expansion)
        with raw, stream:
            for texts, lines in _SCANS[form.scan].scan(form, stream, left_out.note):
                places = pc.binary_join_element_wise(_SCANS[form.scan].PLACE, lines.cast(pa.string()), " ")
                tables.append(_without_nulls(requests(form, texts, places, left_out.note)))
                count += tables[-1].num_rows
                if count * REQUEST_BYTES > memory:
                    raise UnreadableInputError(
                        file=str(path),
                        what=f"its requests take more memory than --memory has for them, {memory:,} bytes",
                        remedy=f"raise --memory ({REQUEST_BYTES} bytes per request), or give a shorter part of the "
                        "test",
                    )
    except OSError as error:
        if not tables:
            raise unreadable(path, error) from error
        left_out.note(f"end of the file, which cannot be read ({error})", 1, "")
    whole = _joined(tables)
    controllers = pc.fill_null(pc.starts_with(whole["message"].cast(pa.string()), _CONTROLLER), fill_value=False)
    number = pc.sum(controllers.cast(pa.int64())).as_py() or 0
    if number:
        left_out.note("total of a transaction controller, whose requests are counted", number, "")
        whole = whole.filter(pc.invert(controllers))
    if not whole.num_rows:
        reasons = "; ".join(f"{reason} ({number:,}, first at {place})" for reason, number, place in left_out.listed())
        raise NothingUsableError(
            file=str(path),
            what=f"{form.tool}: no request can be used{': ' + reasons if reasons else ''}",
            remedy="check that the file is complete and that the tool writes a line per request",
        )
    has_schedule = form.scheduled and whole["scheduled"].null_count == 0
    return LoadTest(str(path), form.tool, whole, scheduled=has_schedule, left_out=left_out.listed())


def _without_nulls(table: pa.Table) -> pa.Table:
    return table.select([name for name in table.column_names if table[name].null_count < table.num_rows])


def _joined(tables: list[pa.Table]) -> pa.Table:
    """The requests of all batches, as `SCHEMA` and in the order of their begin; the batches are gone afterwards.

    A column at a time, so that one column at most is there twice; columns that no batch has share their nulls.
    """
    parts = [{name: table[name] for name in table.column_names} for table in tables if table.num_rows]
    counts = [table.num_rows for table in tables if table.num_rows]
    tables.clear()
    if not parts:
        return SCHEMA.empty_table()
    order = pc.sort_indices(_column([part["started"] for part in parts]))
    empty: dict[pa.DataType, pa.Array] = {}
    columns = []
    for name, kind in zip(SCHEMA.names, SCHEMA.types, strict=True):
        if any(name in part for part in parts):
            chunks = [
                part.pop(name) if name in part else pa.chunked_array([pa.nulls(count, kind)])
                for part, count in zip(parts, counts, strict=True)
            ]
            columns.append(_column(chunks).take(order))
        else:
            columns.append(empty.setdefault(kind, pa.nulls(sum(counts), kind)))
    return pa.table(columns, schema=SCHEMA)


def _column(parts: list[pa.ChunkedArray]) -> pa.Array:
    return pa.chunked_array([chunk for part in parts for chunk in part.chunks]).combine_chunks()


def _read_summary(path: Path, head: bytes, expansion: Expansion | None) -> LoadTest | None:
    try:
        stream, raw = open_expanded(path, expansion)
        with raw, stream:
            data = stream.read(_SUMMARY + 1)
    except ExpansionError as error:
        raise unreadable(path, error) from error
    except OSError:
        return None
    if len(data) > _SUMMARY or not head:
        return None
    text = data.decode("utf-8-sig", "replace")
    left_out = _LeftOut()
    course = locust_course(text, left_out.note)
    totals: list[Total] | None
    if hdr_histogram.is_log(text):
        tool = f"{hdr_histogram.TOOL} log"
        totals, course = hdr_histogram.log_totals(text, left_out.note)
    elif hdr_histogram.is_distribution(text):
        tool, totals = f"{hdr_histogram.TOOL} percentiles", hdr_histogram.distribution_total(text, left_out.note)
    elif course is not None:
        tool, totals = "Locust", _locust_totals_next_to(path, course, left_out)
    else:
        tool, totals = "Locust", locust_totals(text, left_out.note)
        if totals is None:
            tool, totals = "wrk", wrk_total(text, left_out.note)
        if totals is None:
            return None
    if not sum(total.requests for total in totals):
        raise NothingUsableError(
            file=str(path),
            what=f"{tool}: no request in the file",
            remedy="check that the test ran and the file is whole",
        )
    scheduled = tool == "wrk" and CORRECTED in text
    tool = "wrk2" if scheduled else tool
    return LoadTest(str(path), tool, None, tuple(totals), tuple(course or ()), scheduled, left_out.listed())


def _locust_totals_next_to(path: Path, course: list[CoursePoint], left_out: _LeftOut) -> list[Total]:
    """The totals of the file that Locust writes next to its course; without it, the counts of the course."""
    neighbour = path.with_name(path.name.replace("_stats_history", "_stats"))
    if neighbour != path and neighbour.is_file():
        try:
            totals = locust_totals(neighbour.read_text(encoding="utf-8", errors="replace"), left_out.note)
        except OSError:
            totals = None
        if totals is not None:
            return totals
    counts: dict[str, tuple[int, int]] = {}
    for point in course:
        requests_before, errors_before = counts.get(point.transaction, (0, 0))
        counts[point.transaction] = (requests_before + point.requests, errors_before + point.errors)
    return [Total(name, count, failed) for name, (count, failed) in counts.items()]


__all__ = ["SCHEMA", "LoadTest", "read", "read_repeats"]
