"""Coupling facility activity report: the grain of SMF 74-4's local facility, processor and request sections.

The usage summary is read as public XML reports show it. Structure tables are read by their heads, whose words follow
the printed report (``# REQ``, ``SYNC``, ``SERV TIME AVG``, ``STD_DEV``, ``NO SCH``, ``FALSE CONT``): no public XML
report holds one, so a head worded otherwise leaves its column null, and its value is in ``rmf_xml_value``.

The printed report gives structure service times in microseconds.
Source: IBM, z/OS RMF Report Analysis, Coupling Facility Activity report; RMF overview conditions for SMF 74-4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from plexlens.ingest.rmf_xml.columns import INTERVAL, Column, TableSpec, derived, number, text
from plexlens.ingest.rmf_xml.model import Part, Report, Row, Segment, Table, as_number, as_text, cell, key
from plexlens.ingest.rmf_xml.printed import Printed

FACILITY = TableSpec(
    "rmf_xml_coupling_facility",
    "one coupling facility in one interval",
    (
        INTERVAL,
        text("cf_name", "coupling facility", "R744FNAM"),
        number("samples_average", "", "samples of the reporting systems, average"),
        number("samples_max", "", "samples of the reporting systems, maximum"),
        number("samples_min", "", "samples of the reporting systems, minimum"),
        text("cf_type", "machine type", "R744FMOD"),
        text("cf_model", "machine model", "R744FVER"),
        text("cf_level", "CF level", "R744FLVL"),
        text("dynamic_dispatch", "dynamic dispatching: ON, OFF or THIN"),
        number("busy_percent", "percent", "busy time of the processors' time", "R744PBSY / (R744PBSY + R744PWAI)"),
        number("processors_defined", "", "logical processors defined", "R744PNUM"),
        number("processors_effective", "", "logical processors effectively available"),
        number("processors_shared", "", "shared logical processors", "R744FPSN"),
        number("average_weight", "", "average weight of the shared processors", "R744PWGT"),
        number("storage_bytes", "bytes", "storage of the facility", "R744GTSD"),
        number("storage_free_bytes", "bytes", "free storage", "R744GTSF"),
        derived("processor_seconds", "seconds", "effective processors * interval", "R744PBSY + R744PWAI"),
        derived("busy_seconds", "seconds", "busy percent of it", "R744PBSY"),
    ),
)

_REASONS = (
    ("no_subchannel", "no subchannel", r"no sch|subchannel", "R744SQRC", "R744SQTM"),
    ("peer_wait", "peer subchannel", r"pr wt|peer wait", "R744SPTC", "R744SPST"),
    ("peer_completion", "peer completion", r"pr cmp|peer compl", "R744SCTC", "R744SCST"),
    ("dump", "dump serialization", r"dump", "R744SDRC", "R744SDTM"),
    ("monopolized", "monopolization avoidance", r"monop", "R744SMRC", "R744SMTM"),
)
_KINDS = (
    ("sync", "synchronous", r"^sync|\bsync\b", "R744SSRC", "R744SSTM", "R744SSSQ"),
    ("async", "asynchronous", r"^async|\basync\b", "R744SARC", "R744SATM", "R744SASQ"),
)


def _service() -> Iterator[Column]:
    for name, words, _, count, time, square in _KINDS:
        yield number(f"{name}_requests", "", f"{words} requests", count)
        yield number(f"{name}_percent", "percent", f"{words} requests of all")
        yield number(f"{name}_service_seconds", "seconds", f"average service time of {words} requests")
        yield number(f"{name}_deviation_seconds", "seconds", f"standard deviation of it, {words}")
        yield derived(f"{name}_total_seconds", "seconds", f"service time of all {words} requests", time)
        yield derived(f"{name}_square_seconds", "seconds^2", f"sum of squared service times, {words}", square)


def _delays() -> Iterator[Column]:
    for name, words, _, count, time in _REASONS:
        yield number(f"delayed_{name}_requests", "", f"requests delayed: {words}", count)
        yield number(f"delayed_{name}_percent", "percent", f"requests delayed of all: {words}")
        yield number(f"delayed_{name}_seconds", "seconds", f"average delay of a delayed request: {words}")
        yield derived(f"delayed_{name}_total_seconds", "seconds", f"delay of all requests: {words}", time)


STRUCTURE = TableSpec(
    "rmf_xml_coupling_structure",
    "one structure of one coupling facility as one system saw it in one interval; in a row without a system, as the "
    "sysplex did",
    (
        INTERVAL,
        text("cf_name", "coupling facility", "R744FNAM"),
        text("structure_name", "structure", "R744SNAM"),
        text("structure_type", "LIST, LOCK, CACHE or UNKN", "R744STYP"),
        text("status", "status as printed", "R744QFLG"),
        number("size_bytes", "bytes", "allocated size", "R744SSIZ"),
        number("size_percent", "percent", "allocated size of the facility's storage"),
        number("requests", "", "requests", "R744SSRC + R744SARC"),
        number("requests_percent", "percent", "requests of all to the facility"),
        number("requests_per_second", "per second", "requests"),
        number("cf_busy_percent", "percent", "the structure's part of the facility's busy time", "R744SETM"),
        number("entries", "", "list or directory entries", "R744SLEL, R744SDEC"),
        number("entries_used", "", "list or directory entries in use", "R744SLEM, R744CDEC"),
        number("elements", "", "data elements", "R744SDEL, R744SMAE"),
        number("elements_used", "", "data elements in use", "R744CDAC, R744SCUE"),
        number("lock_entries", "", "lock table entries", "R744SLTL"),
        number("lock_entries_used", "", "lock table entries in use", "R744SLTM"),
        number("directory_reclaims", "", "directory entries reclaimed", "R744CDER"),
        number("directory_reclaim_invalidations", "", "cross-invalidations by directory reclaim", "R744CXDR"),
        *_service(),
        number("changed_requests", "", "synchronous requests changed to asynchronous", "R744SSTA"),
        number("changed_percent", "percent", "changed requests of all"),
        number("suppressed_requests", "", "duplexed requests suppressed", "R744SPES"),
        *_delays(),
        number("lock_requests", "", "requests to a lock or serialized list structure", "R744STRC"),
        number("deferred_requests", "", "requests not satisfied at once", "R744STAC"),
        number("contended_requests", "", "requests that met contention", "R744SCN"),
        number("false_contended_requests", "", "requests that met false contention", "R744SFCN"),
        number("cache_reads", "", "data read", "R744CRHC"),
        number("cache_writes", "", "data written", "R744CWH0 + R744CWH1"),
        number("castouts", "", "castouts", "R744CCOC"),
        number("cross_invalidations", "", "cross-invalidations"),
    ),
)

TABLES = (FACILITY, STRUCTURE)

_FACILITY = re.compile(r"(?:for |of )?coupling facility[ :=]+(\S+)", re.IGNORECASE)
_STRUCTURE = re.compile(
    r"structure(?: name)?(?: ?[:=] ?| )(?!(?:name|activity|summary|for)\b)([A-Z0-9$#@_]+)(?=$|[ ,])", re.IGNORECASE
)

#: Column of a structure -> pattern of its head, first match wins.
_HEADS = {
    "structure_type": r"^(?:structure )?type$",
    "status": r"^(?:structure )?status",
    "size_bytes": r"alloc.* size|structure size|^size$",
    "size_percent": r"% of cf stor",
    "requests_percent": r"% of all req",
    "requests_per_second": r"(?:avg )?req(?:uests)? ?/ ?sec|^avg/sec|request rate",
    "cf_busy_percent": r"% of cf util",
    "entries": r"(?:list|lst|dir).*entr.*(?:tot|max)",
    "entries_used": r"(?:list|lst|dir).*entr.*cur",
    "elements": r"(?:data )?elem.*(?:tot|max)",
    "elements_used": r"(?:data )?elem.*cur",
    "lock_entries": r"lock entr.*(?:tot|max)",
    "lock_entries_used": r"lock entr.*cur",
    "directory_reclaim_invalidations": r"dir(?:ectory)? rec.*xi",
    "directory_reclaims": r"dir(?:ectory)? rec(?!.*xi)",
    "suppressed_requests": r"suppr",
    "deferred_requests": r"(?:req )?deferred|req delayed",
    "false_contended_requests": r"false cont",
    "contended_requests": r"(?<!false )-?cont(?:ention|ended)?s?$",
    "lock_requests": r"(?:external|lock).*req.*total|^req total|external requests?$",
    "cache_reads": r"^(?:data access )?reads?$",
    "cache_writes": r"^(?:data access )?writes?$",
    "castouts": r"castouts?",
    "cross_invalidations": r"^xi'?s$|cross[- ]invalidat",
}


class CouplingReport:
    """Rows of one coupling facility activity report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._facility: str | None = None

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows of one complete segment."""
        named = _FACILITY.search(" ".join((segment.name or "").split()))
        if named:
            self._facility = named[1]
        row = self._facility_row(segment)
        if row is not None:
            yield FACILITY.name, row
        for part in segment.parts:
            for table in part.tables:
                yield from self._structures(segment, part, table)

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Nothing: every row belongs to a segment."""
        return iter(())

    def _facility_row(self, segment: Segment) -> dict[str, object] | None:
        busy = as_number(
            segment.variable("Avg CF Utilization %Busy", "Avg CF Utilization (% Busy)", "CF Utilization %")
        )
        defined = as_number(_variable(segment, r"logical processors", "Defined"))
        if busy is None and defined is None:
            return None
        interval = self._report.interval_seconds
        effective = as_number(_variable(segment, r"logical processors", "Effective"))
        seconds = None if effective is None or interval is None else effective * interval
        return {
            "interval_seconds": interval,
            "cf_name": self._facility,
            "samples_average": as_number(_variable(segment, r"total samples", "Average", "Avg")),
            "samples_max": as_number(_variable(segment, r"total samples", "Maximum", "Max")),
            "samples_min": as_number(_variable(segment, r"total samples", "Minimum", "Min")),
            "cf_type": as_text(_variable(segment, r"coupling facility$", "Type")),
            "cf_model": as_text(_variable(segment, r"coupling facility$", "Model")),
            "cf_level": as_text(_variable(segment, r"coupling facility$", "Level")),
            "dynamic_dispatch": as_text(segment.variable("Dynamic Dispatch Status", "Dynamic Dispatch")),
            "busy_percent": busy,
            "processors_defined": defined,
            "processors_effective": effective,
            "processors_shared": as_number(_variable(segment, r"logical processors", "Shared")),
            "average_weight": as_number(_variable(segment, r"logical processors", "Avg Weight", "Average Weight")),
            "storage_bytes": as_number(
                segment.variable("Total CF Storage Size", "Total CF Storage", "CF Storage Size")
            ),
            "storage_free_bytes": as_number(segment.variable("Free CF Storage", "CF Storage Free")),
            "processor_seconds": seconds,
            "busy_seconds": None if seconds is None or busy is None else seconds * busy / 100.0,
        }

    def _structures(self, segment: Segment, part: Part, table: Table) -> Iterator[tuple[str, dict[str, object]]]:
        column = table.column("Structure Name", "Structure")
        named = next(
            filter(None, (_STRUCTURE.search(" ".join((name or "").split())) for name in (part.name, segment.name))),
            None,
        )
        printed = part.variable("Structure Name") or segment.variable("Structure Name")
        fixed = as_text(printed) or (named[1] if named else None)
        if column is None and (fixed is None or table.find(r"\breq") is None):
            return
        rows: dict[tuple[str | None, str | None], dict[str, object]] = {}
        structure, system = fixed, None
        for row in table.rows:
            structure = as_text(cell(row, column)) or structure
            shown = as_text(cell(row, table.column("System Name", "System")))
            system = shown or system
            if key(system) == "total" or row.is_total:
                continue
            values = rows.setdefault(
                (structure, system),
                {
                    "interval_seconds": self._report.interval_seconds,
                    "cf_name": self._facility,
                    "structure_name": structure,
                    "system": system or self._report.system,
                },
            )
            kind = as_text(part.variable("Type", "Structure Type"))
            if kind is not None:
                values["structure_type"] = kind
            _read_row(table, row, values)
        for values in rows.values():
            _complete(values)
            yield STRUCTURE.name, values


def _variable(segment: Segment, part: str, *names: str) -> Printed | None:
    for found in segment.named(part):
        value = found.variable(*names)
        if value is not None:
            return value
    return None


def _read_row(table: Table, row: Row, values: dict[str, object]) -> None:
    """Add one printed row to a structure's values: a whole row, or its SYNC, ASYNC or CHNGD line."""
    for column, pattern in _HEADS.items():
        found = cell(row, table.find(pattern))
        value = as_text(found) if column in {"structure_type", "status"} else as_number(found)
        if value is not None:
            values.setdefault(column, value)
    requests = as_number(cell(row, table.find(r"^# ?req(?:uests)?(?: total)?$|^requests?(?: total)?$|^# req$")))
    kind = key(as_text(cell(row, table.find(r"^(?:request|req|service) type$"))))
    if kind:
        _read_kind(table, row, kind, values, requests)
    else:
        if requests is not None:
            values.setdefault("requests", requests)
        for name, _, pattern, *_ in _KINDS:
            _read_columns(table, row, name, pattern, values)
        for name, pattern in (
            ("changed_requests", r"ch(?:n|an)ge?d.*(?:#|req)"),
            ("changed_percent", r"ch(?:n|an)ge?d.*%"),
        ):
            value = as_number(cell(row, table.find(pattern)))
            if value is not None:
                values.setdefault(name, value)
    _read_delays(table, row, values)


def _read_kind(table: Table, row: Row, kind: str, values: dict[str, object], requests: float | None) -> None:
    if kind in {"sync", "async"}:
        _set(values, f"{kind}_requests", requests)
        _set(values, f"{kind}_percent", as_number(cell(row, table.find(r"^% (?:of )?all|% of req"))))
        _set(values, f"{kind}_service_seconds", _micro(as_number(cell(row, table.find(r"serv.*avg")))))
        _set(values, f"{kind}_deviation_seconds", _micro(as_number(cell(row, table.find(r"serv.*std")))))
    elif kind in {"chngd", "changed"}:
        _set(values, "changed_requests", requests)
        _set(values, "changed_percent", as_number(cell(row, table.find(r"^% (?:of )?all|% of req"))))
    elif kind in {"suppr", "suppressed"}:
        _set(values, "suppressed_requests", requests)


def _read_columns(table: Table, row: Row, name: str, pattern: str, values: dict[str, object]) -> None:
    for column, words, scale in (
        ("requests", r"(?:#|req(?!.*%))(?!.*(?:avg|std))", 1.0),
        ("percent", r"%", 1.0),
        ("service_seconds", r"avg", 1e-6),
        ("deviation_seconds", r"std", 1e-6),
    ):
        value = as_number(cell(row, table.find(rf"(?=.*(?:{pattern}))(?=.*{words})")))
        _set(values, f"{name}_{column}", None if value is None else value * scale)


def _read_delays(table: Table, row: Row, values: dict[str, object]) -> None:
    reason = key(as_text(cell(row, table.find(r"\breason$"))))
    for name, _, pattern, *_ in _REASONS:
        by_row = bool(reason) and re.search(pattern, reason) is not None
        for column, words, scale in (
            ("requests", r"(?:#|req(?!.*%))(?!.*(?:avg|std))", 1.0),
            ("percent", r"%", 1.0),
            ("seconds", r"(?:avg.*/del|/del|avg)", 1e-6),
        ):
            prefix = r"del" if by_row else pattern
            if reason and not by_row:
                continue
            value = as_number(cell(row, table.find(rf"(?=.*(?:{prefix}))(?=.*{words})")))
            _set(values, f"delayed_{name}_{column}", None if value is None else value * scale)


def _complete(values: dict[str, object]) -> None:
    """Additive values from the averages printed."""

    def printed(column: str) -> float | None:
        value = values.get(column)
        return value if isinstance(value, float) else None

    counts = [printed(f"{name}_requests") for name, *_ in _KINDS]
    if printed("requests") is None and any(count is not None for count in counts):
        values["requests"] = sum(count or 0.0 for count in counts)
    for name, *_ in _KINDS:
        count, average = printed(f"{name}_requests"), printed(f"{name}_service_seconds")
        deviation = printed(f"{name}_deviation_seconds")
        if count is not None and average is not None:
            values[f"{name}_total_seconds"] = count * average
            if deviation is not None:
                values[f"{name}_square_seconds"] = count * (average**2 + deviation**2)
    for name, *_ in _REASONS:
        count, average = printed(f"delayed_{name}_requests"), printed(f"delayed_{name}_seconds")
        if count is not None and average is not None:
            values[f"delayed_{name}_total_seconds"] = count * average


def _set(values: dict[str, object], column: str, value: float | None) -> None:
    if value is not None:
        values.setdefault(column, value)


def _micro(value: float | None) -> float | None:
    return None if value is None else value * 1e-6
