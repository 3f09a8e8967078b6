"""RMF workload activity: service and report classes, their goals and response time distributions.

The numbers of a class are handed to the reader of RMF XML (`plexlens.ingest.printed.xml.workload`) under the names it
knows, so that both sources fill the same columns, derived ones included, by one rule.

Source: IBM, z/OS RMF Report Analysis, "Workload Activity report"; the studies' reports.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.text.elapsed import CountAndRate, elapsed
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output, Record
from plexlens.ingest.printed.text.pairs import equal_pairs
from plexlens.ingest.printed.text.words import Names, Segment, is_prose, is_rule, is_tabbed, segments, split
from plexlens.ingest.printed.values import NUMBER, SECONDS, Printed, read_units, read_value
from plexlens.ingest.printed.xml import model
from plexlens.ingest.printed.xml.workload import WorkloadReport
from plexlens.ingest.source import Severity

_GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Transactions", r"-*TRANSACTIONS-+",
     ("AVG", "MPL", "ENDED", "END/S", "#SWAPS", "EXCTD", "AVG ENC", "REM ENC", "MS ENC")),
    ("Transaction Time", r"TRANS-TIME\s+(?P<form>HHH\.MM\.SS\.(?:T+|F+))|TRANS-TIME",
     ("ACTUAL", "EXECUTION", "QUEUED", "R/S AFFIN", "INELIGIBLE", "CONVERSION", "STD DEV")),
    ("Transaction APPL%", r"TRANS-APPL%\S*", ("TOTAL", "MOBILE", "CATEGORYA", "CATEGORYB")),
    ("Enclaves", r"-+ENCLAVES-+", ("AVG ENC", "REM ENC", "MS ENC")),
    ("DASD I/O", r"-+DASD\s+I/O-+", ("SSCHRT", "RESP", "CONN", "DISC", "Q+PEND", "IOSQ")),
    ("Service Times", r"-*SERVICE\s+TIMES?-*", ("CPU", "SRB", "RCT", "IIT", "HST", "AAP", "IFA", "IIP", "PROMOTED")),
    ("Service", r"-+SERVICE-+", ("IOC", "CPU", "MSO", "SRB", "TOT", "/SEC", "ABSRPTN", "TRX SERV")),
    ("APPL %", r"(?<![A-Z]-)(?<![A-Z])-*APPL\s*%-*", ("CP", "AAPCP", "IIPCP", "AAP", "IIP", "IFA", "IFACP")),
    ("Promoted", r"-+PROMOTED-+", ("BLK", "ENQ", "CRM", "LCK", "SUP")),
    ("Storage", r"-+STORAGE-+", ("AVG", "TOTAL", "SHARED")),
    ("Page-in Rates", r"-+PAGE-IN\s+RATES-+", ("SINGLE", "BLOCK", "SHARED", "HSP")),
)  # fmt: skip
"""Groups of values: name, heading, names in them."""

_LEADING = frozenset({"Transactions", "Service Times"})

_HEADINGS = re.compile("|".join(f"(?P<g{number}>{pattern})" for number, (_, pattern, _) in enumerate(_GROUPS)))
_ALL_NAMES = Names(tuple({name for _, _, names in _GROUPS for name in names}))
_SECONDS_GROUPS = frozenset({"Service Times", "Promoted"})
_REPORT_BY = re.compile(r"\bREPORT BY\s*:")
_KEYS = frozenset({"POLICY", "WORKLOAD", "SERVICE CLASS", "REPORT CLASS", "RESOURCE GROUP", "PERIOD", "IMPORTANCE",
                   "CRITICAL", "DESCRIPTION", "HONOR PRIORITY", "I/O PRIORITY GROUP", "TENANT REPORT CLASS",
                   "TENANT GROUP"})  # fmt: skip
_GOAL = re.compile(r"\bGOAL:?\s+(?P<goal>RESPONSE TIME\s+\S.*|EXECUTION VELOCITY\s+\S+|DISCRETIONARY|SYSTEM)")
_VELOCITY = re.compile(r"EXECUTION VELOCITY\s+([\d.]+)")
_GOAL_HEADING = re.compile(r"RESPONSE TIME\s+EX\b|\bVEL%\s+INDX\b|PERF\s+(?:AVG|INDX)")
_SYSTEM_ROW = re.compile(
    r"\s*(?P<system>\*ALL|[A-Z0-9#$@]{2,8})\s+(?P<actual>-*N/A-*|\d[\d.]*%?)\s+(?P<velocity>N/A|-*N/A-*|\d[\d.]*%?)\s+"
    r"(?P<index>N/A|\*+|\d[\d.]*)(?P<rest>(?:\s+\S+)*)"
)
_ACHIEVED = (
    "AVG ADRSP",
    "EXEC USING% CPU",
    "EXEC USING% AAP",
    "EXEC USING% IIP",
    "EXEC USING% I/O",
    "EXEC DELAYS% TOT",
)
_BUCKET = re.compile(
    r"\s*(?P<mark><=|<|>=|>)\s*(?P<bound>\d[\d.]*)\s+(?P<rest>\d\S*(?:\s+\d\S*){1,3})(?:\s+[|>+=]*)?\s*"
)
_KNOWN_TEXT = re.compile(
    r"DISTRIBUTION|NUMBER OF TRANSACTIONS|CUM TOTAL|HH\.MM\.SS|\bALL DATA ZERO\b|VELOCITY MIGRATION|EXEC USING|"
    r"\bSYSTEM\b\s+.*VEL|SUBSYSTEM|EXEC DELAYS|PERFORMANCE INDEX|SERVICE POLICY|WORKLOAD ACTIVITY|-{3,}"
)
_UNNAMED = "(unnamed)"


@dataclass(slots=True)
class _Group:
    name: str
    names: tuple[str, ...]
    start: int
    decimals: int | None = None


@dataclass(slots=True)
class _Class:
    """Facts about the class whose values are being read."""

    names: dict[str, str] = field(default_factory=dict)
    parts: dict[str, dict[str, Printed]] = field(default_factory=dict)
    categories: list[list[Printed]] = field(default_factory=list)
    goal: dict[str, str] = field(default_factory=dict)
    buckets: list[list[str]] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    line: int = 0

    @property
    def about(self) -> str | None:
        name = self.names.get("SERVICE CLASS") or self.names.get("REPORT CLASS") or self.names.get("WORKLOAD")
        period = self.names.get("PERIOD")
        return f"{name}.{period}" if name and period else name

    def __bool__(self) -> bool:
        return bool(self.parts or self.categories or self.goal or self.buckets or self.messages)


class WorkloadPages:
    """Reads lines of workload activity pages."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._class = _Class()
        self._groups: list[_Group] = []

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""
        text = line.text.upper()
        if is_prose(line.text) and not self._class.names:
            # Sentences part excerpts, whose classes nothing else distinguishes.
            self.finish()
        return (
            self._report_by(line, text)
            or self._group_headings(line, text)
            or self._goals(line, text)
            or self._buckets(line, text)
            or self._group_values(line, text)
            or self._class_pairs(line, text)
            or self._known_text(text)
        )

    def finish(self) -> None:
        """End the class and write its twin rows."""
        result, self._class, self._groups = self._class, _Class(), []
        record = self._output.record
        if record is None or not result:
            return
        interval = record.interval_seconds or self._worked_out(record, result)
        report = model.Report(record.number, 0, "postprocessor", interval_seconds=interval)
        specs = self._output.known.of_report("rmf_xml_", "WLMGL")
        for table, row in WorkloadReport(report, specs).segment(_segment(result)):
            if row.get("class_name") == _UNNAMED:
                row["class_name"] = row["class_kind"] = None
            self._output.twin(table.replace("rmf_xml_", "text_rmf_"), row)

    def _worked_out(self, record: Record, result: _Class) -> float | None:
        """Length of an interval that no heading prints, derived from the class's values."""
        length = elapsed(_rates(result))
        if length is None or length.seconds is None:
            return None
        self._output.note(
            "interval computed",
            Severity.INFO,
            f"report {record.number} (rmf_workload) prints no interval; the values of {result.about or 'a class'} from "
            f"line {result.line} on allow {length.low:.2f} to {length.high:.2f} s; {length.seconds:.2f} s is used",
            "no action; include the page heading of the report to have the exact interval",
            record_no=record.number,
        )
        return length.seconds

    # --- lines ------------------------------------------------------------------------------------------------

    def _report_by(self, line: Line, text: str) -> bool:
        match = _REPORT_BY.search(text)
        if not match:
            return False
        names = {pair.name: pair.value for pair in equal_pairs(text[match.end() :])}
        if self._class and names != {name: self._class.names.get(name) for name in names}:
            self.finish()
        self._class.names.update(names)
        for name, value in names.items():
            self._output.value(line, name, read_value(value), block="REPORT BY", about=self._class.about)
        return True

    def _class_pairs(self, line: Line, text: str) -> bool:
        if "=" not in text:
            return False
        results = [pair for pair in equal_pairs(text) if pair.name in _KEYS]
        for pair in results:
            self._class.names[pair.name] = pair.value
            self._output.value(line, pair.name, read_value(pair.value), block="REPORT BY", about=self._class.about)
        return bool(results)

    def _group_headings(self, line: Line, text: str) -> bool:
        matches = list(_HEADINGS.finditer(text))
        if not matches or (len(matches) == 1 and not self._alone(matches[0], text)):
            return False
        groups = [self._group(match) for match in matches]
        if {group.name for group in groups} & _LEADING and self._class.parts and not self._class.names:
            # Excerpts of classes without their names: whether two are of one class is not known.
            self.finish()
        self._groups = groups
        return True

    @staticmethod
    def _alone(match: re.Match[str], text: str) -> bool:
        return match[0].strip() == text.strip()

    @staticmethod
    def _group(match: re.Match[str]) -> _Group:
        number = next(number for number in range(len(_GROUPS)) if match[f"g{number}"] is not None)
        name, _, names = _GROUPS[number]
        form = match.groupdict().get("form")
        return _Group(name, names, match.start(), len(form.rsplit(".", 1)[1]) if form else None)

    def _group_values(self, line: Line, text: str) -> bool:
        if not self._groups:
            return False
        inside = _HEADINGS.search(text)
        if inside:
            # A further group begins within the rows of others, below one that ended.
            self._replace(self._group(inside))
            text = text[: inside.start()] + " " * (inside.end() - inside.start()) + text[inside.end() :]
        results = segments(split(text), _ALL_NAMES, tabbed=is_tabbed(text))
        at, understood = -1, inside is not None
        for segment in results:
            at = self._position(segment, at)
            if at < 0 or not segment.values:
                continue
            understood = True
            self._group_value(line, self._groups[at], segment)
        return understood

    def _replace(self, group: _Group) -> None:
        """Add a group: it replaces a last group of storage or page-in rates, or follows the last group."""
        last = self._groups[-1]
        if last.name in {"Storage", "Page-in Rates"}:
            self._groups[-1] = group
        else:
            self._groups.append(group)

    def _position(self, segment: Segment, before: int) -> int:
        """The group that a name belongs to: the next group to the right that knows it; among columns, the group
        above.
        """
        folded = fold(segment.label)
        candidates = [
            position
            for position, group in enumerate(self._groups)
            if position > before and any(fold(name) == folded for name in group.names)
        ]
        if not candidates:
            return -1 if before < 0 else before if self._knows(before, folded) else -1
        if not segment.tabbed and len(candidates) > 1:
            starts = {position: abs(self._groups[position].start - segment.start) for position in candidates}
            nearest = min(candidates, key=lambda position: starts[position])
            if starts[nearest] <= 6:
                return nearest
        return candidates[0]

    def _knows(self, position: int, folded: str) -> bool:
        return any(fold(name) == folded for name in self._groups[position].names)

    def _group_value(self, line: Line, group: _Group, segment: Segment) -> None:
        words = [word.text for word in segment.values]
        about = self._class.about
        if group.name == "Transaction APPL%":
            values = [read_value(word, unit="percent") for word in words]
            for head, value in zip(("CP", "IIPCP/AAPCP", "IIP/AAP"), values, strict=False):
                self._output.value(line, segment.label, value, block=group.name, about=about, head=head)
            self._class.categories.append([Printed(segment.label, "text"), *values])
            return
        value = self._read(group, words[0])
        plain = read_value(words[0]) if group.name == "DASD I/O" else value
        part = "Transactions" if group.name == "Enclaves" else group.name
        contents = self._class.parts.get(part, {}).get(segment.label)
        if contents is not None and contents != plain:
            groups, names = self._groups, self._class.names
            self.finish()
            self._groups, self._class.names = groups, dict(names)
        self._output.value(line, segment.label, value, block=group.name, about=about)
        self._class.line = self._class.line or line.number
        self._class.parts.setdefault(part, {}).setdefault(segment.label, plain)

    @staticmethod
    def _read(group: _Group, word: str) -> Printed:
        if group.name == "Transaction Time":
            return read_units(word, group.decimals or 3) or read_value(word)
        if group.name == "DASD I/O":
            return read_value(word)
        unit = SECONDS if group.name in _SECONDS_GROUPS else "percent" if group.name == "APPL %" else None
        return read_value(word, unit=unit)

    def _goals(self, line: Line, text: str) -> bool:
        goal = _GOAL.search(text)
        if goal:
            self._class.goal["goal"] = goal["goal"].strip()
            self._output.value(
                line, "GOAL", Printed(goal["goal"].strip(), "text"), block="GOAL", about=self._class.about
            )
            return True
        row = _SYSTEM_ROW.fullmatch(text)
        if row is None or not self._class.goal or self._groups_named(text):
            return False
        values = {"RESPONSE TIME": row["actual"], "EX VEL%": row["velocity"], "PERF INDX": row["index"]}
        values |= dict(zip(_ACHIEVED, row["rest"].split(), strict=False))
        for name, word in values.items():
            value = read_value(word.strip("-"), unit="percent" if "%" in name else None)
            self._output.value(line, name, value, block="GOAL", about=self._class.about, head=row["system"])
        if row["system"] == "*ALL" or "index" not in self._class.goal:
            self._class.goal |= {"actual": row["actual"], "velocity": row["velocity"], "index": row["index"]}
        return True

    def _groups_named(self, text: str) -> bool:
        return any(segment.values and self._position(segment, -1) >= 0 for segment in
                   segments(split(text), _ALL_NAMES, tabbed=is_tabbed(text))) if self._groups else False  # fmt: skip

    def _buckets(self, line: Line, text: str) -> bool:
        match = _BUCKET.fullmatch(text)
        if not match:
            return False
        words = match["rest"].split()
        bound = f"{match['mark']} {match['bound']}"
        heads = ("# TRANSACTIONS CUM TOTAL", "# TRANSACTIONS IN BUCKET", "PERCENT CUM TOTAL", "PERCENT IN BUCKET")
        for head, word in zip(heads, words, strict=False):
            value = read_value(word, unit="percent" if head.startswith("PERCENT") else None)
            self._output.value(
                line, bound, value, block="RESPONSE TIME DISTRIBUTION", about=self._class.about, head=head
            )
        self._class.buckets.append([bound, *words])
        return True

    def _known_text(self, text: str) -> bool:
        if "ALL DATA ZERO" in text:
            self._class.messages.append(text.strip())
        return is_rule(text) or _KNOWN_TEXT.search(text) is not None or _GOAL_HEADING.search(text) is not None


def _rates(result: _Class) -> list[CountAndRate]:
    """Counts and rates of a class; for a class without ended transactions, processor times and their share of the
    interval.

    The latter hold only where specialty engines run at the speed of general processors, so they are a last resort.
    """
    transactions, service, times, shares = (
        result.parts.get(part, {}) for part in ("Transactions", "Service", "Service Times", "APPL %")
    )
    nothing = Printed("", "no value")
    pairs = [
        CountAndRate(f"{count} and {rate}", result.line, values.get(count, nothing), values.get(rate, nothing))
        for values, count, rate in ((transactions, "ENDED", "END/S"), (service, "TOT", "/SEC"))
    ]
    if any(pair.bounds() for pair in pairs):
        return pairs
    special = [times[name] for name in ("IIP", "AAP", "IFA") if name in times]
    general = [times[name] for name in ("CPU", "SRB", "RCT", "IIT", "HST") if name in times]
    pairs = [CountAndRate("CPU time and APPL% CP", result.line, _less(general, special), _share(shares.get("CP")))]
    for name in ("IIP", "AAP"):
        if name in times:
            pairs.append(CountAndRate(f"{name} and APPL% {name}", result.line, times[name], _share(shares.get(name))))
    return pairs


def _less(values: list[Printed], taken: list[Printed]) -> Printed:
    """A sum minus another; a missing value counts as zero."""

    def difference(kept: str, lost: str) -> float:
        return math.fsum(getattr(value, kept) or 0.0 for value in values) - math.fsum(
            getattr(value, lost) or 0.0 for value in taken
        )

    low, high = difference("low", "high"), difference("high", "low")
    return Printed("", NUMBER, difference("number", "number"), low=low, high=high)


def _share(percent: Printed | None) -> Printed:
    """A percentage as a share."""
    if percent is None or percent.number is None or percent.low is None or percent.high is None:
        return Printed("", "no value")
    return percent._replace(number=percent.number / 100, low=percent.low / 100, high=percent.high / 100)


def _segment(result: _Class) -> model.Segment:
    """A class in the form that RMF XML would give it."""
    kind, name = next(
        (
            (kind.lower(), result.names[kind])
            for kind in ("REPORT CLASS", "SERVICE CLASS", "WORKLOAD")
            if kind in result.names
        ),
        ("service class", _UNNAMED),
    )
    segment = model.Segment(f"{kind} {name}", messages=result.messages)
    about = model.Part(None)
    for printed, variable in (
        ("POLICY", "Policy"), ("WORKLOAD", "Workload"), ("SERVICE CLASS", "Service Class"),
        ("REPORT CLASS", "Report Class"), ("PERIOD", "Period"), ("RESOURCE GROUP", "Resource Group"),
        ("CRITICAL", "Critical"), ("DESCRIPTION", "Description"), ("HONOR PRIORITY", "Honor Priority"),
    ):  # fmt: skip
        if printed in result.names:
            about.variables.append((variable, read_value(result.names[printed])))
    segment.parts.append(about)
    for part, values in result.parts.items():
        segment.parts.append(model.Part(part, list(values.items())))
    if result.categories:
        rows = [model.Row(0, {}, row) for row in result.categories]
        table = model.Table(["Category", "CP", "IIP ON CP", "IIP"], rows)
        segment.parts.append(model.Part("Transaction APPL%", [], [table]))
    if result.goal:
        segment.parts.append(model.Part("Goal", [], [_goal_table(result)]))
    if result.buckets:
        heads = [
            "Time",
            "# Transactions Cum Total",
            "# Transactions In Bucket",
            "Percent Cum Total",
            "Percent In Bucket",
        ]
        rows = [model.Row(0, {}, [_bucket_cell(word) for word in row]) for row in result.buckets]
        segment.parts.append(model.Part("Response Time Distribution", [], [model.Table(heads, rows)]))
    return segment


def _bucket_cell(word: str) -> Printed:
    return read_value(word) if word[:1].isdigit() else Printed(word, "text")


def _goal_table(result: _Class) -> model.Table:
    goal = result.goal.get("goal", "")
    velocity = _VELOCITY.search(goal)
    cells = {
        "Period": result.names.get("PERIOD", ""),
        "Importance": result.names.get("IMPORTANCE", ""),
        "Performance Index": result.goal.get("index", ""),
        "Response Time Goal": "" if velocity else goal.removeprefix("RESPONSE TIME").strip(),
        "Response Time Actual": result.goal.get("actual", "").strip("-"),
        "Execution Velocity % Goal": velocity[1] if velocity else "",
        "Execution Velocity % Actual": result.goal.get("velocity", "").strip("-"),
    }
    row = [read_value(text) for text in cells.values()]
    return model.Table(list(cells), [model.Row(0, {}, row)])
