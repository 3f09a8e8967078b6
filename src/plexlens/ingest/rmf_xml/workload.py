"""Workload activity report: the grain of SMF 72-3's class periods and response time distributions.

A report of whole classes (WLMGL(WGPER), WLMGL(SCLASS)) gives a class's transactions, service and times once, and its
goals period by period: here one row for the class (`period` null) with the former, one for each period with the
latter. A report of periods (WLMGL(SCPER)) gives both for each period: one row holds them.

Several names were printed for the same thing over the releases (``zIIP`` and ``IIP``); all are known here. What a
report prints under a name not known here is in ``rmf_xml_value`` all the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator

from plexlens.ingest.rmf_xml.model import (
    Part,
    Report,
    Row,
    Segment,
    Table,
    as_index,
    as_number,
    as_text,
    cell,
    key,
)
from plexlens.ingest.rmf_xml.printed import DURATION, Printed, read_value
from plexlens.ingest.rmf_xml.workload_columns import ADDITIVE, BUCKET, PERIOD

_TITLE = re.compile(
    r"(?P<kind>service class|report class|workload|policy|tenant report class)(?: period)?s?[ :=]+"
    r"(?P<name>[^\s,]+)(?:[ ,]+period[ :=]*(?P<period>\d+))?",
    re.IGNORECASE,
)
_ALL_ZERO = re.compile(r"all data zero", re.IGNORECASE)
_PERCENT_IN_GOAL = re.compile(r"(\d+(?:\.\d+)?) ?%")
_WORD = re.compile(r"[^\s,;]+")

#: Part of a segment, as a regular expression -> variable names -> column.
_VARIABLES: dict[str, dict[str, tuple[str, ...]]] = {
    r"transactions$": {
        "transactions_average": ("Average", "Avg"),
        "multiprogramming_level": ("MPL",),
        "ended_transactions": ("Ended",),
        "ended_per_second": ("Ended/sec", "End/s"),
        "swaps": ("# of Swaps", "#Swaps", "Number of Swaps"),
        "executed_transactions": ("Executed", "Exctd"),
        "average_enclaves": ("Average Enclaves", "Avg Enc"),
        "remote_enclaves": ("Remote Enclaves", "Rem Enc"),
        "multisystem_enclaves": ("Multi-System Enclaves", "Ms Enc"),
    },
    r"enclaves$": {
        "average_enclaves": ("Average Enclaves", "Average"),
        "remote_enclaves": ("Remote Enclaves", "Remote"),
        "multisystem_enclaves": ("Multi-System Enclaves", "Multi-System"),
    },
    r"transaction time\b": {
        "response_seconds": ("Actual",),
        "execution_seconds": ("Execution",),
        "queued_seconds": ("Queued",),
        "affinity_seconds": ("Resource/System Affinity", "R/S Affin"),
        "ineligible_seconds": ("Ineligible",),
        "conversion_seconds": ("Conversion",),
        "response_deviation_seconds": ("Standard Deviation", "Std Dev"),
    },
    r"service$": {
        "io_service": ("IOC",),
        "cpu_service": ("CPU",),
        "storage_service": ("MSO",),
        "srb_service": ("SRB",),
        "total_service": ("Total", "Tot"),
        "service_per_second": ("Per Second", "/sec"),
        "absorption_rate": ("Absorption Rate", "Absrptn"),
        "transaction_service_rate": ("Transaction Service Rate", "Trx Serv"),
    },
    r"service times?$": {
        "cpu_seconds": ("CPU",),
        "srb_seconds": ("SRB",),
        "rct_seconds": ("RCT",),
        "io_interrupt_seconds": ("I/O Interrupt", "IIT"),
        "hiperspace_seconds": ("Hiperspace", "HST"),
        "iip_seconds": ("zIIP", "IIP"),
        "aap_seconds": ("zAAP", "AAP", "IFA"),
    },
    r"(?:application time ?%|appl ?%)$": {
        "cp_appl_percent": ("CP",),
        "iip_on_cp_appl_percent": ("zIIP on CP", "IIPCP"),
        "iip_appl_percent": ("zIIP", "IIP"),
        "aap_on_cp_appl_percent": ("zAAP on CP", "AAPCP"),
        "aap_appl_percent": ("zAAP", "AAP"),
    },
    r"promoted\b": {
        "promoted_blocked_seconds": ("Blocked", "Blk"),
        "promoted_enqueue_seconds": ("Enqueue", "Enq"),
        "promoted_contention_seconds": ("CRM", "Chronic Contention"),
        "promoted_lock_seconds": ("Lock", "Lck"),
        "promoted_supervisor_seconds": ("SUP", "Supervisor"),
    },
    r"dasd i/o$": {
        "io_per_second": ("SSCH/sec", "SSCH Rate", "SSCHRT"),
        "io_response_seconds": ("Response Time", "Resp"),
        "io_connect_seconds": ("Connect Time", "Conn"),
        "io_disconnect_seconds": ("Disconnect Time", "Disc"),
        "io_queue_pending_seconds": ("Queue+Pending Time", "Q+Pend"),
        "io_ios_queue_seconds": ("IOS Queue Time", "IOSQ"),
    },
    r"storage(?: frames)?$": {
        "storage_average_frames": ("Average", "Avg"),
        "storage_total_frames": ("Total",),
        "storage_shared_frames": ("Shared",),
    },
    r"page-?in rates$": {
        "pagein_single_per_second": ("Single",),
        "pagein_blocked_per_second": ("Blocked", "Block"),
        "pagein_shared_per_second": ("Shared",),
        "pagein_hiperspace_per_second": ("Hiperspace", "HSP"),
    },
}
_MILLISECONDS = frozenset(
    {
        "io_response_seconds",
        "io_connect_seconds",
        "io_disconnect_seconds",
        "io_queue_pending_seconds",
        "io_ios_queue_seconds",
    }
)
"""Printed in milliseconds."""

_CATEGORIES = {
    "total": "transaction",
    "mobile": "mobile",
    "categorya": "category_a",
    "categoryb": "category_b",
    "category a": "category_a",
    "category b": "category_b",
}


class WorkloadReport:
    """Rows of one workload activity report."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._policy: str | None = None

    def segment(self, segment: Segment) -> Iterator[tuple[str, dict[str, object]]]:
        """Rows of one complete segment; none for segments that are not about a class."""
        names = _names(segment)
        if names is None or (names["class_kind"] == "policy" and not self._numbers(segment)):
            # "Policy Activation" names a date, not a class of work.
            return
        common: dict[str, object] = {"interval_seconds": self._report.interval_seconds, **names}
        values = {**common, **_heading(segment), **self._numbers(segment)}
        goals = [
            goal
            for part in segment.parts
            for table in part.tables
            if _is_goal_table(table)
            for goal in self._goals(table)
        ]
        if names["period"] is not None:
            for goal in goals[:1]:
                values.update({column: value for column, value in goal.items() if column != "period"})
            for column, value in _stated_goal(segment).items():
                values.setdefault(column, value)
            goals = []
        yield PERIOD.name, values
        for goal in goals:
            yield PERIOD.name, {**common, **_heading(segment), **goal}
        yield from self._buckets(segment, common)

    def finish(self) -> Iterator[tuple[str, dict[str, object]]]:
        """Nothing: every row belongs to a segment."""
        return iter(())

    def _numbers(self, segment: Segment) -> dict[str, object]:
        values: dict[str, object] = {}
        for pattern, columns in _VARIABLES.items():
            for part in segment.named(pattern):
                for column, names in columns.items():
                    number = as_number(part.variable(*names))
                    if number is not None:
                        values.setdefault(column, number / 1000.0 if column in _MILLISECONDS else number)
        for part in segment.named(r"transaction appl"):
            for table in part.tables:
                values.update(_category_percentages(table))
        if any(_ALL_ZERO.search(message) for message in segment.messages):
            values["all_zero"] = True
            values.update(dict.fromkeys(ADDITIVE, 0.0))
        values.update(_totals(values, self._report.interval_seconds))
        return values

    def _goals(self, table: Table) -> Iterator[dict[str, object]]:
        where = {
            "period": table.column("Period"),
            "importance": table.column("Importance", "Imp"),
            "performance_index": table.column("Performance Index", "Perf Indx", "PI"),
            "goal_transactions": table.column("# of Transactions", "Number of Transactions"),
            "goal_transactions_percent": table.column("% of Transactions"),
            "goal": table.column("Response Time Goal", "Goal"),
            "actual": table.column("Response Time Actual"),
            "goal_velocity": table.column("Execution Velocity % Goal", "Velocity Goal"),
            "actual_velocity": table.column("Execution Velocity % Actual", "Execution Velocity %", "Ex Vel%"),
            "using_percent": table.column("Total Using %"),
            "delay_percent": table.column("Execution Delay %", "Execution Delays % Total"),
        }
        for row in table.rows:
            if not row.is_total:
                yield _goal(row, where)

    def _buckets(self, segment: Segment, common: dict[str, object]) -> Iterator[tuple[str, dict[str, object]]]:
        for part in segment.parts:
            for table in part.tables:
                where = _bucket_columns(part, table)
                if where is None:
                    continue
                for number, row in enumerate((row for row in table.rows if not row.is_total), start=1):
                    yield BUCKET.name, {**common, "bucket_no": number, **_bucket(row, where)}


def _names(segment: Segment) -> dict[str, object] | None:
    """Policy, kind, class and period of a segment; None when it is about no class."""
    title = _TITLE.match(" ".join((segment.name or "").split()))
    kinds = (("report class", "Report Class"), ("service class", "Service Class"), ("workload", "Workload"))
    if title is not None:
        kind, name = key(title["kind"]), title["name"]
        for known, variable in kinds:
            if known == kind:
                name = as_text(segment.variable(variable)) or name
    elif segment.variable("Workload", "Service Class", "Report Class") is not None:
        kind, name = next(
            ((known, shown) for known, variable in kinds if (shown := as_text(segment.variable(variable))) is not None),
            ("", ""),
        )
    else:
        return None
    period = as_index(segment.variable("Period"))
    if period is None and title is not None and title["period"]:
        period = int(title["period"])
    return {
        "policy": as_text(segment.variable("Policy")),
        "class_kind": kind,
        "class_name": name,
        "period": period,
    }


def _heading(segment: Segment) -> dict[str, object]:
    return {
        "workload": as_text(segment.variable("Workload")),
        "description": as_text(segment.variable("Description")),
        "resource_group": as_text(segment.variable("Resource Group")),
        "critical": as_text(segment.variable("Critical")),
        "honor_priority": as_text(segment.variable("Honor Priority")),
        "all_zero": False,
    }


def _category_percentages(table: Table) -> Iterator[tuple[str, float]]:
    columns = {
        "cp_appl_percent": table.column("CP"),
        "specialty_on_cp_appl_percent": table.column("zIIP/zAAP on CP", "zIIP on CP", "AAP/IIP ON CP", "IIP ON CP"),
        "specialty_appl_percent": table.column("zIIP/zAAP", "zIIP", "AAP/IIP", "IIP"),
    }
    for row in table.rows:
        category = _CATEGORIES.get(key(row.cells[0].text)) if row.cells else None
        if category is None:
            continue
        for column, position in columns.items():
            number = as_number(cell(row, position))
            if number is not None:
                yield f"{category}_{column}", number


def _totals(values: dict[str, object], interval: float | None) -> dict[str, float]:
    """Additive values from the averages, rates and percentages printed."""

    def printed(column: str) -> float | None:
        value = values.get(column)
        return value if isinstance(value, float) else None

    def product(left: float | None, right: float | None) -> float | None:
        return None if left is None or right is None else left * right

    ended = printed("ended_transactions")
    totals: dict[str, float | None] = {}
    for name in ("response", "execution", "queued", "affinity", "ineligible", "conversion"):
        totals[f"{name}_total_seconds"] = product(printed(f"{name}_seconds"), ended)
    average, deviation = printed("response_seconds"), printed("response_deviation_seconds")
    if average is not None and deviation is not None and ended is not None:
        totals["response_square_seconds"] = ended * (average**2 + deviation**2)
    for column, percent, times in (
        ("cp_seconds", "cp_appl_percent", _on_cps(values)),
        ("iip_engine_seconds", "iip_appl_percent", printed("iip_seconds")),
        ("aap_engine_seconds", "aap_appl_percent", printed("aap_seconds")),
        ("iip_on_cp_seconds", "iip_on_cp_appl_percent", None),
        ("aap_on_cp_seconds", "aap_on_cp_appl_percent", None),
    ):
        totals[column] = _finer(times, printed(percent), interval)
    totals["active_seconds"] = product(printed("transactions_average"), interval)
    totals["resident_seconds"] = product(printed("multiprogramming_level"), interval)
    totals["storage_frame_seconds"] = product(printed("storage_total_frames"), interval)
    operations = product(printed("io_per_second"), interval)
    totals["io_operations"] = operations
    for name in ("connect", "disconnect", "queue_pending", "ios_queue"):
        totals[f"io_{name}_total_seconds"] = product(printed(f"io_{name}_seconds"), operations)
    return {column: value for column, value in totals.items() if value is not None}


def _on_cps(values: dict[str, object]) -> float | None:
    """Service times less those on specialty processors, as printed; None when the report prints no CPU time."""
    if "cpu_seconds" not in values:
        return None
    taken = ("cpu_seconds", "srb_seconds", "rct_seconds", "io_interrupt_seconds", "hiperspace_seconds")
    whole, special = (
        math.fsum(value for column in columns if isinstance(value := values.get(column), float))
        for columns in (taken, ("iip_seconds", "aap_seconds"))
    )
    return whole - special


def _finer(times: float | None, percent: float | None, interval: float | None) -> float | None:
    """A processor time from service times, where the percentage confirms them; else from the percentage.

    Service times are printed to 1 ms, percentages to 0.01. Service times count specialty processors at the speed of
    a CP or at their own; where that makes a difference the two disagree, and the percentage is what is sought.
    """
    if percent is None or interval is None:
        return None
    seconds = percent * interval / 100.0
    if times is not None and abs(times - seconds) <= 0.00005 * interval + 0.004:
        return times
    return seconds


def _is_goal_table(table: Table) -> bool:
    return table.column("Performance Index", "Perf Indx", "PI") is not None


def _goal(row: Row, where: dict[str, int | None]) -> dict[str, object]:
    importance = cell(row, where["importance"])
    goal: dict[str, object] = {"period": as_index(cell(row, where["period"])), "importance": as_index(importance)}
    for column in (
        "performance_index",
        "goal_transactions",
        "goal_transactions_percent",
        "goal_velocity",
        "actual_velocity",
        "using_percent",
        "delay_percent",
    ):
        goal[column] = as_number(cell(row, where[column]))
    words = " ".join(as_text(found) or "" for found in (importance, cell(row, where["goal"])))
    goal.update(_goal_of(words, goal["goal_velocity"] is not None))
    actual = cell(row, where["actual"])
    if actual is not None and actual.type == DURATION:
        goal["actual_response_seconds"] = actual.number
    elif actual is not None and actual.number is not None:
        goal["actual_response_percent"] = actual.number
    return goal


def _goal_of(words: str, is_velocity: bool) -> dict[str, object]:
    """Kind of goal and its values from the words printed: ``000.00.00.500 90%``, ``SYSTEM``, ``DISCRETIONARY``."""
    folded = words.casefold()
    if "discretionary" in folded:
        return {"goal_type": "discretionary"}
    if "system" in folded:
        return {"goal_type": "system"}
    if is_velocity:
        return {"goal_type": "velocity"}
    found: dict[str, object] = {}
    for word in _WORD.findall(words):
        value = read_value(word, 0)
        if value.type == DURATION:
            found["goal_response_seconds"] = value.number
    percent = _PERCENT_IN_GOAL.search(words)
    if percent:
        found["goal_percentile"] = float(percent[1])
    if "goal_response_seconds" not in found:
        return {}
    return {"goal_type": "percentile" if percent else "average", **found}


def _stated_goal(segment: Segment) -> dict[str, object]:
    """A period's goal where it stands in variables: ``Importance``, ``Goal``, ``Execution Velocity``."""
    found: dict[str, object] = {}
    importance = segment.variable("Importance", "Imp")
    if as_index(importance) is not None:
        found["importance"] = as_index(importance)
    velocity = segment.variable("Execution Velocity Goal", "Velocity Goal", "Execution Velocity")
    if as_number(velocity) is not None:
        found["goal_velocity"] = as_number(velocity)
    goal = segment.variable("Response Time Goal", "Goal", "Response Time")
    words = " ".join(as_text(value) or "" for value in (importance, goal))
    found.update(_goal_of(words, "goal_velocity" in found))
    return found


def _bucket_columns(part: Part, table: Table) -> dict[str, int | None] | None:
    """Columns of a response time distribution; None when the table is none."""
    if "distribution" not in key(part.name) and table.find(r"in bucket") is None:
        return None
    where = {
        "bound": table.find(r"^(?:response )?time\b(?!.*%)"),
        "bound_percent": table.find(r"% of goal|goal ?%"),
        "transactions": table.find(r"(?:number|#|transactions).*in bucket"),
        "transactions_cumulative": table.find(r"(?:number|#|transactions).*cum"),
        "transactions_percent": table.find(r"(?:percent|%).*in bucket"),
        "transactions_cumulative_percent": table.find(r"(?:percent|%).*cum"),
    }
    return None if where["bound"] is None or where["transactions"] is None else where


def _bucket(row: Row, where: dict[str, int | None]) -> dict[str, object]:
    bound = cell(row, where["bound"])
    relation, seconds = _bound(bound)
    if relation is None and where["bound"]:
        before = as_text(cell(row, where["bound"] - 1))
        relation = before if before and set(before) <= set("<>=") else None
    values: dict[str, object] = {"relation": relation, "bound_seconds": seconds}
    for column, position in where.items():
        if column != "bound":
            values[column] = as_number(cell(row, position))
    return values


def _bound(printed: Printed | None) -> tuple[str | None, float | None]:
    """``<= 00.00.00.500000`` as relation and seconds."""
    words = (printed.text if printed is not None else "").strip()
    rest = words.lstrip("<>= ")
    value = read_value(rest, 0)
    relation = words[: len(words) - len(rest)].strip()
    return relation or None, value.number if value.type == DURATION else None
