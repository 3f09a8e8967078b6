"""RMF coupling facility activity: usage summary, structure activity, subchannel activity.

Source: IBM, z/OS RMF Report Analysis, "Coupling Facility Activity report"; Db2 Data Sharing: Planning and
Administration, "Lock monitoring with the coupling facility structure activity report"; the studies' reports.
"""

from __future__ import annotations

import re

from plexlens.ingest.printed.text.elapsed import CountAndRate
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.text.rmf_structure import StructureActivity
from plexlens.ingest.printed.text.words import is_rule
from plexlens.ingest.printed.values import NUMBER, Printed, is_value, read_value

FACILITY_NAME = re.compile(r"COUPLING FACILITY NAME\s*=\s*(\S+)")
STRUCTURE_NAME = re.compile(r"STRUCTURE NAME\s*=\s*(\S+)\s+TYPE\s*=\s*(\S+)(?:\s+STATUS\s*=\s*(\S.*?))?\s*$")
_SAMPLES = re.compile(r"TOTAL SAMPLES\s*\(AVG\)\s*=\s*(\d+)\s+\(MAX\)\s*=\s*(\d+)\s+\(MIN\)\s*=\s*(\d+)")
_USAGE = re.compile(
    r"\s*(?:(?P<type>LIST|LOCK|CACHE|UNKN)\s+)?(?P<name>[A-Z$#@][A-Z0-9$#@_]*)\s+(?P<status>[A-Z][A-Z ]*?)\s+"
    r"(?:(?P<change>X|\*)\s+)?(?P<size>\d[\d.]*[KMGT]?)\s+(?P<rest>\S.*)"
)
_TOTALS = re.compile(r"\s*STRUCTURE\s+TOTALS\s+(?P<size>\d\S*)\s+(?P<rest>\S.*)")
_MODEL = re.compile(
    r"COUPLING FACILITY\s+(?P<type>\S+)\s+MODEL\s+(?P<model>\S+)\s+CFLEVEL\s+(?P<level>\S+)"
    r"(?:\s+DYNDISP\s+(?P<dyndisp>\S+))?"
)
_FACILITY, _STRUCTURES = "text_rmf_coupling_facility", "text_rmf_coupling_structure"
_OTHER_PAIRS = re.compile(
    r"\s*(?P<name>TOTAL (?:CF|CONTROL|DATA|COUPLING)[A-Z ]*?|STRUCTURES|DUMP|AVAILABLE|SCM \w+)\s+"
    r"(?P<rest>\d\S*(?:\s+\d\S*){0,5})\s*"
)
_HEADING = re.compile(
    r"COUPLING FACILITY|STRUCTURE\s*SUMMARY|STRUCTURE\s+NAME|PROCESSOR SUMMARY|STORAGE SUMMARY|% OF|ALLOC\b|TOT/CUR|"
    r"LST/DIR|\bSTATUS\s+CHG\b|REQUESTS?\b|AVG/SEC|#\s*REQ|SERV(?:ICE)?\s+TIME|STD_D|/DEL|DUMP SPACE|"
    r"MAX % REQUESTED|CF LINKS|"
    r"\bPTH\b|BUSY\b.*\bREQ|LOGICAL PROCESSORS|ACCESS|CONTENTIONS|SYSPLEX|PATH|CHANNEL|SUBCH|PEER|SENDER|RECEIVER"
)
_KEYWORD = re.compile(r"(?<![\w/-])(?:SYNC|ASYNC|CHNGD|CHANGED|UNSUCC|SUPPR)(?![\w/-])")


class CouplingPages:
    """Reads lines of coupling facility activity pages."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._summary_columns = [column for column in output.known.tables[_FACILITY].columns if column.text]
        self._facility: dict[str, object] = {}
        self._name: str | None = None
        self._last: dict[str, object] | None = None
        self._type: str | None = None
        self._structure = StructureActivity(output)

    @property
    def facility(self) -> str | None:
        """Name of the facility whose pages are being read."""
        return self._name

    def line(self, line: Line, part: str) -> bool:
        """Process a line of a page; return whether it was understood."""
        text = line.text.upper()
        named = FACILITY_NAME.search(text)
        if named:
            if named[1] != self._name:
                self._flush()
                self._name = named[1]
            self._value(line, "COUPLING FACILITY NAME", read_value(named[1]), None)
            return True
        structure = STRUCTURE_NAME.search(text.replace("\t", "  "))
        if structure:
            self._structure.begin(line, *structure.groups(), facility=self._name)
            return True
        if part == "subchannel":
            return self._subchannel(line, text) or self._is_heading(text)
        may_be_activity = part == "structure" or _KEYWORD.search(text) or self._structure.is_open
        if may_be_activity and self._structure.line(line, text, self._name):
            return True
        return self._usage(line, text) or self._summary(line, text) or self._is_heading(text)

    def finish(self) -> None:
        """End the pages and write their twin rows."""
        self._flush()
        self._structure.finish(self._name)
        self._name = None

    def _flush(self) -> None:
        self._structure.finish(self._name)
        results, self._facility = self._facility, {}
        self._last, self._type = None, None
        if self._output.record is None or not results:
            return
        self._output.twin(_FACILITY, {"cf_name": self._name, **results})

    # --- usage summary ----------------------------------------------------------------------------------------

    def _usage(self, line: Line, text: str) -> bool:
        totals = _TOTALS.match(text)
        match = None if totals else _USAGE.fullmatch(text.rstrip())
        if match and match["name"] not in {"TOTAL", "STRUCTURE", "COUPLING"}:
            words = match["rest"].split()
            if len(words) < 3 or not all(is_value(word) for word in words):
                return False
            self._type = match["type"] or self._type
            self._structure_row(line, match["name"], match["status"], match["size"], words)
            return True
        if totals:
            words = totals["rest"].split()
            columns = _usage_columns(len(words))
            self._value(line, "ALLOC SIZE", read_value(totals["size"], size=True), "STRUCTURE TOTALS")
            values = {column: _read(column, word) for column, word in zip(columns, words, strict=False)}
            for column, value in values.items():
                self._value(line, self._shown(column), value, "STRUCTURE TOTALS")
            self._rate(line, "# REQ of STRUCTURE TOTALS", values)
            return True
        return self._usage_second(line, text)

    def _rate(self, line: Line, name: str, values: dict[str, Printed]) -> None:
        """Use requests and their rate to determine the interval length."""
        record, count, rate = self._output.record, values.get("requests"), values.get("requests_per_second")
        if record is not None and count is not None and rate is not None:
            record.rates.append(CountAndRate(name, line.number, count, rate))

    def _structure_row(self, line: Line, name: str, status: str, size: str, words: list[str]) -> None:
        columns = _usage_columns(len(words))
        values = {"size_bytes": read_value(size, size=True)} | {
            column: _read(column, word) for column, word in zip(columns, words, strict=False)
        }
        for column, value in values.items():
            self._value(line, self._shown(column), value, name)
        self._rate(line, f"# REQ of {name}", values)
        self._value(line, "STATUS", Printed(" ".join(status.split()), "text"), name)
        row: dict[str, object] = {
            "cf_name": self._name,
            "structure_name": name,
            "structure_type": self._type,
            "status": " ".join(status.split()),
        }
        row.update({column: value.number for column, value in values.items() if value.type == NUMBER})
        self._output.twin(_STRUCTURES, row)
        self._last = row

    def _usage_second(self, line: Line, text: str) -> bool:
        """Process the line below a structure's: its entries, elements and lock entries in use."""
        words = text.split()
        row = self._last
        self._last = None
        if row is None or not words or len(words) > 4 or not all(is_value(word) for word in words):
            return False
        columns = ("entries_used", "elements_used", "lock_entries_used", "directory_reclaim_invalidations")
        for column, word in zip(columns, words, strict=False):
            value = read_value(word)
            self._value(line, self._shown(column), value, str(row["structure_name"]))
            if value.type == NUMBER:
                row[column] = value.number
        return True

    # --- processor and storage summary ------------------------------------------------------------------------

    def _summary(self, line: Line, text: str) -> bool:
        samples, model = _SAMPLES.search(text), _MODEL.search(text)
        if samples:
            for column, head, word in zip(
                ("samples_average", "samples_max", "samples_min"), ("AVG", "MAX", "MIN"), samples.groups(), strict=True
            ):
                value = read_value(word, exact=True)
                self._facility[column] = value.number
                self._output.value(line, "TOTAL SAMPLES", value, block="COUPLING FACILITY", about=self._name, head=head)
            return True
        if model:
            for column, name in (
                ("cf_type", "type"),
                ("cf_model", "model"),
                ("cf_level", "level"),
                ("dynamic_dispatch", "dyndisp"),
            ):
                if model[name]:
                    self._facility[column] = model[name]
                    self._value(line, self._shown(column), Printed(model[name], "text"), None)
            return True
        understood = False
        for summed in self._summary_columns:
            at = summed.text[0]
            match = re.search(at.expression(1), text)
            if match:
                understood = True
                value = read_value(match[1], size=summed.unit == "bytes")
                self._value(line, at.printed[0][0], value, None)
                if value.number is not None:
                    self._facility[summed.name] = value.number
        other = None if understood else _OTHER_PAIRS.fullmatch(text)
        if other:
            for position, word in enumerate(other["rest"].split()):
                size = position == 0
                self._value(line, " ".join(other["name"].split()), read_value(word, size=size), None)
            return True
        return understood

    # --- subchannel activity ----------------------------------------------------------------------------------

    def _subchannel(self, line: Line, text: str) -> bool:
        """Process a line of subchannel activity: the links to the left of the request kind, the requests to the
        right.
        """
        keyword = _KEYWORD.search(text)
        if not keyword:
            return False
        left, right = text[: keyword.start()].split(), text[keyword.end() :].split()
        kind = keyword[0]
        if left and not is_value(left[0]):
            self._type = left.pop(0)
        for position, word in enumerate(left):
            head = "TOTAL" if position == 0 and kind == "SYNC" else "AVG/SEC" if position == 0 else "CF LINKS"
            self._output.value(
                line, "LINKS", read_value(word), block="SUBCHANNEL ACTIVITY", about=self._type, head=head
            )
        heads = ["# REQ", "AVG", "STD_DEV"]
        reason: str | None = None
        for word in right:
            if not is_value(word):
                reason, heads = word, ["DELAYED # REQ", "DELAYED % OF REQ", "/DEL", "STD_DEV", "/ALL"]
                continue
            next_head = heads.pop(0) if heads else None
            value = read_value(word)
            block = "SUBCHANNEL ACTIVITY"
            self._output.value(line, kind, value, block=block, about=self._type, parent=reason, head=next_head)
        return True

    @staticmethod
    def _is_heading(text: str) -> bool:
        return is_rule(text) or _HEADING.search(" ".join(text.split())) is not None

    def _shown(self, column: str) -> str:
        """The printed heading of a column."""
        table = self._output.known.tables[_STRUCTURES]
        return table[column].heading() if column in table.names() else column.upper().replace("_", " ")

    def _value(self, line: Line, name: str, value: Printed, structure: str | None) -> None:
        block = "USAGE SUMMARY" if structure else "COUPLING FACILITY"
        self._output.value(line, name, value, block=block, about=structure or self._name)


def _usage_columns(count: int) -> tuple[str, ...]:
    """Columns of a structure's line after its size; the share of CF utilisation was added at a later level."""
    tail = ("entries", "elements", "lock_entries", "directory_reclaims")
    early = ("size_percent", "requests", "requests_percent", "requests_per_second")
    late = ("size_percent", "requests", "requests_percent", "cf_busy_percent", "requests_per_second")
    columns = late if count in {5, 9} else early
    return (*columns, *tail)[:count]


def _read(column: str, word: str) -> Printed:
    value = read_value(word)
    return value._replace(unit="percent") if column.endswith("_percent") and value.number is not None else value
