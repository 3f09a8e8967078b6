"""Output of ``-DISPLAY BUFFERPOOL`` and ``-DISPLAY GROUPBUFFERPOOL`` with their details.

Each message is a heading, at times a heading within it, and names with values after equal signs:

    DSNB412I -DB2A SEQUENTIAL PREFETCH -
                     REQUESTS        =    41800   PREFETCH I/O    =    14473

So a value's place is message, heading, name; indentation, which mail programs take away, is not needed.

``LSTATS`` adds data sets, each of which begins with a message of its own; they are counted since the last display:

    DSNB467I -DB2A STATISTICS FOR TABLE SPACE DSN8D13A.DSN8S13E INSTANCE 1 -
                     DATA SET #: 1 USE COUNT: 5
    DSNB453I -DB2A VP CACHED PAGES -
                     CURRENT         =      120   MAX             =     2400

Source: IBM, Db2 for z/OS Messages, DSNB401I and DSNB750I with the messages that are parts of them. The form of DSNB456I
was not found in public: it is taken to be that of DSNB455I with TOTAL I/O COUNT.
"""

from __future__ import annotations

import re
from datetime import datetime

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.catalogue import PRINTED_UNITS, Column
from plexlens.ingest.printed.text.lines import Line, without_log_prefix
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.text.pairs import Pair, equal_pairs
from plexlens.ingest.printed.text.words import has_numbers, is_prose, is_rule
from plexlens.ingest.printed.values import NUMBER, TIMESTAMP, Printed, point_of, read_point, read_value

_MESSAGE = re.compile(r"(?P<id>DSN[B9]\d{3,4}[IE])\s*(?P<rest>.*)")
_PREFIX = re.compile(r"(?P<prefix>[-\u2013\u2014+@#$?!%&*./<|;:]\S{0,8})(?=\s|$)\s*")
_POOL = re.compile(r"BUFFERPOOL NAME\s+(\w+)(?:,\s*BUFFERPOOL ID\s+(\d+))?(?:,\s*USE COUNT\s+(\d+))?")
_GROUP_POOL = re.compile(r"GROUP BUFFER POOL\s+(\w+)\s+FOLLOWS|GROUP BUFFER POOL\s+(\w+)")
_SINCE = re.compile(
    r"(INCREMENTAL|CUMULATIVE)\s+(?:MEMBER DETAIL |GROUP DETAIL )?STATISTICS SINCE\s+"
    r"(?P<time>\d{1,2}:\d\d:\d\d)\s+(?P<month>[A-Z]{3})\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{4})",
    re.IGNORECASE,
)
_TIME_LINE = re.compile(
    r"\s*(?P<time>\d{1,2}:\d\d:\d\d)\s+(?P<month>[A-Z]{3})\s+(?P<day>\d{1,2}),?\s+(?P<year>\d{4})\s*", re.IGNORECASE
)
_STRUCTURE = re.compile(r"MVS CFRM POLICY STATUS FOR\s+(\S+)")
_FRAMES = re.compile(r"([\d,]+)\s+BUFFERS USING\s+(\w+)\s+FRAME SIZE ALLOCATED")
_SENTENCE = re.compile(r"(?P<name>LAST GROUP BUFFER POOL CHECKPOINT|PREFERRED FRAME SIZE)\s+(?P<value>[^=\s].*)")
_OF_DATA_SET = re.compile(
    r"STATISTICS FOR (?P<kind>TABLE ?SPACE|INDEX ?SPACE)\s+(?P<database>[^\s.]+)\.(?P<page_set>\S+)"
    r"(?:\s+INSTANCE\s+(?P<instance>\d+))?"
)
_NUMBERED = re.compile(r"(?P<name>DATA SET #|USE COUNT)\s*:\s*(?P<number>[\d,]+)")
_COMMAND = re.compile(
    r"[-+@#$?!%&*./]?\w*\s*-?\s*DIS(?:PLAY)?\s+(?:BUFFERPOOL|BPOOL|GROUPBUFFERPOOL|GBPOOL)", re.IGNORECASE
)
_QUANTITY = re.compile(
    r"(?P<number>[\d,]+(?:\.\d+)?)\s*(?P<unit>%|KB|MB|MINUTES?|MILLISECONDS?|MICROSECONDS?|BUFFERS)?"
)
_UNIT_BEFORE = re.compile(r"(?:BUFFERS|KB|MB|MINUTES?) +(?=[A-Z])")
_MONTHS = {name: number for number, name in enumerate(
    ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"], start=1)}  # fmt: skip
_UNITS = {"KB": "kilobytes", "MB": "megabytes", "%": "percent"}

_FIRST_OF = {"DSNB401I": "db2_display_bufferpool", "DSNB750I": "db2_display_groupbufferpool",
             "DSNB751I": "db2_display_groupbufferpool"}  # fmt: skip


_TABLE_OF = {
    "db2_display_bufferpool": "text_db2_pool",
    "db2_display_groupbufferpool": "text_db2_group_buffer_pool",
}
_DATA_SETS = "text_db2_data_set"

#: The message that begins a data set, and those that are of it.
_DATA_SET = "DSNB467I"
_ABOUT_DATA_SETS = frozenset({_DATA_SET, "DSNB453I", "DSNB455I", "DSNB456I"})


def starts(line: Line) -> bool:
    """Whether a line can begin the output of a display command."""
    text, _ = without_log_prefix(line.text)
    match = _MESSAGE.search(text)
    return match is not None and (match["id"] in _FIRST_OF or match["id"].startswith("DSNB4"))


class DisplayReport:
    """Reads lines of the output of display commands: a report for each pool."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._columns = {
            table: {
                words: column
                for column in output.known.tables[table].columns
                for address in column.message
                for words in address.folded()
            }
            for table in (*_TABLE_OF.values(), _DATA_SETS)
        }
        self._system: str | None = None
        self._prefix: str | None = None
        self._message = ""
        self._heading = ""
        self._pool: str | None = None
        self._row: dict[str, object] = {}
        self._statistics: str | None = None
        self._since: datetime | None = None
        self._data_set: dict[str, object] | None = None
        self._last_display: datetime | None = None

    foreign: str | None = None
    """There is no display that is passed over."""

    def line(self, line: Line) -> bool:
        """Process a line; return whether it was understood."""
        text, system = without_log_prefix(line.text)
        self._system = system or self._system
        message = _MESSAGE.search(text)
        if message:
            self._message, self._heading = message["id"], ""
            text = self._after_prefix(message["rest"])
            if self._message in _FIRST_OF:
                self._begin(line, _FIRST_OF[self._message], text)
                return True
            if self._message.startswith("DSN9"):
                return True
        if self._output.record is None:
            if not message:
                return _COMMAND.search(text) is not None
            self._open("db2_display_bufferpool", None)
        if not text.strip() or is_rule(text):
            return True
        if self._message == _DATA_SET and self._data_set_of(line, text):
            return True
        return self._texts(line, text) or self._pairs(line, text) or self._headings(text)

    def finish(self) -> None:
        """End the report and write its twin rows."""
        self._end_data_set()
        record = self._output.record
        if record is not None and self._row:
            self._output.twin(
                _TABLE_OF[record.kind], {"pool_name": self._pool, "statistics": self._statistics, **self._row}
            )
        self._row = {}  # fmt: skip

    def _end_data_set(self) -> None:
        """Write the row of the open data set, which counts since the last display whatever the pool's counts do."""
        if self._data_set is not None:
            times = {"interval_start": self._last_display, "interval_end": None}
            self._output.twin(_DATA_SETS, {"pool_name": self._pool, **times, **self._data_set})
        self._data_set = None

    def _after_prefix(self, rest: str) -> str:
        """The message without the command prefix, which names the subsystem if it is long enough."""
        match = _PREFIX.match(rest)
        if not match:
            return rest
        name = match["prefix"].lstrip("-\u2013\u2014+@#$?!%&*./<|;:")
        if name.isalnum():
            self._prefix = name
        return rest[match.end() :]

    def _open(self, kind: str, pool: str | None) -> None:
        self.finish()
        record = self._output.begin(kind, f"-DISPLAY {kind.rsplit('_', 1)[1].upper()}")
        record.system, record.subsystem = self._system, self._prefix
        self._pool, self._row, self._statistics, self._since = pool, {}, None, None

    def _begin(self, line: Line, kind: str, text: str) -> None:
        if kind == "db2_display_bufferpool":
            match = _POOL.search(text)
            self._open(kind, match[1] if match else None)
            self._last_display = None
            for name, value in zip(("BUFFERPOOL ID", "USE COUNT"), match.groups()[1:] if match else (), strict=False):
                if value is not None:
                    self._value(line, name, read_value(value, exact=True))
            self._value(line, "BUFFERPOOL NAME", read_value(self._pool or ""))
            return
        pool = _GROUP_POOL.search(text)
        self._open(kind, (pool[1] or pool[2]) if pool else None)
        self._value(line, "GROUP BUFFER POOL", read_value(self._pool or ""))

    def _texts(self, line: Line, text: str) -> bool:
        """Process messages whose values are part of a sentence; return whether the line is one."""
        since = _SINCE.search(text)
        if since:
            self._counts_since(since[1].lower(), _moment(since))
            self._value(line, "STATISTICS SINCE", _value_of(_shown(since), since))
            return True
        frames = _FRAMES.search(text)
        if frames:
            self._value(line, f"BUFFERS USING {frames[2]} FRAME SIZE", read_value(frames[1], exact=True))
            return True
        time_line = _TIME_LINE.fullmatch(text)
        if time_line and self._message == "DSNB798I":
            # The message's own words stand on the line before.
            self._value(line, "LAST GROUP BUFFER POOL CHECKPOINT", _value_of(_shown(time_line), time_line))
            return True
        sentence = _SENTENCE.search(text)
        if sentence:
            said = sentence["value"].strip()
            moment = _TIME_LINE.fullmatch(said)
            self._value(line, sentence["name"], _value_of(said, moment) if moment else read_value(said))
            return True
        structure = _STRUCTURE.search(text)
        if structure:
            self._row["structure_name"] = structure[1]
            self._value(line, "STRUCTURE", read_value(structure[1]))
            return bool(self._pairs(line, text[: structure.start()] + "STATUS " + text[structure.end() :])) or True
        return False

    def _data_set_of(self, line: Line, text: str) -> bool:
        """Process a line that says whose statistics follow; return whether it does."""
        named = _OF_DATA_SET.search(text)
        if named:
            self._end_data_set()
            kind = "table space" if named["kind"].startswith("TABLE") else "index space"
            self._data_set = {"object_type": kind, "database_name": named["database"], "page_set": named["page_set"]}
            self._value(line, "STATISTICS FOR", read_value(f"{named['kind']} {named['database']}.{named['page_set']}"))
            if named["instance"]:
                self._data_set["instance"] = float(named["instance"])
                self._value(line, "INSTANCE", read_value(named["instance"], exact=True))
        numbered = list(_NUMBERED.finditer(text))
        for match in numbered:
            self._number(line, match["name"], read_value(match["number"], exact=True))
        return bool(named or numbered)

    def _counts_since(self, kind: str, moment: datetime | None) -> None:
        """Set the start of the following counts; a display may hold counts since two times: a report for each."""
        record = self._output.record
        if record is None:
            return
        if self._statistics is not None and (self._statistics, self._since) != (kind, moment):
            pool = self._pool
            self._open(record.kind, pool)
            record = self._output.record
        self._statistics, self._since = kind, moment
        if kind == "incremental":
            self._last_display = moment
        if record is not None:
            record.start = moment

    def _headings(self, text: str) -> bool:
        if text != text.upper():
            return False
        heading = " ".join(text.split()).strip("- ")
        if not heading or is_prose(text) or has_numbers(text):
            return False
        self._heading = heading
        return True

    def _pairs(self, line: Line, text: str) -> bool:
        results = equal_pairs(text)
        if not results:
            return False
        before = text.split("=", 1)[0]
        heading = re.match(r"\s*([A-Z][A-Z /()-]*?)\s+-\s+(?=\S)", before)
        if heading:
            # A heading and its first value in one line: ``SEQUENTIAL PREFETCH - REQUESTS = 1``.
            self._heading = heading[1].strip()
        counted = ""
        for pair in results:
            name = pair.name.removeprefix(self._heading) if heading else pair.name
            if name == "MAX" and counted:
                # ``CURRENT = 120  MAX = 2400``: of which number it is the largest, the name before says.
                name = f"{counted} MAX"
            else:
                counted = name
            self._pair(line, pair._replace(name=name))
        return True

    def _pair(self, line: Line, pair: Pair) -> None:
        # Where columns have drifted together, the unit of the value before begins the name.
        name = _UNIT_BEFORE.sub("", pair.name.lstrip("- ").strip())
        if self._output.record is None or not name:
            return
        name = self._whole_name(name, pair.before)
        values = [self._quantity(part.strip()) for part in pair.value.split(",")] or [Printed("", "text")]
        self._number(line, name, values[0])
        for position, value in enumerate(values[1:], start=2):
            self._value(line, f"{name} ({position})", value)
        for word in self._known(name):
            if word.kind == "text" and pair.value:
                self._row.setdefault(word.name, pair.value)

    def _number(self, line: Line, name: str, value: Printed) -> None:
        """Add a value, and put its number into its column."""
        self._value(line, name, value)
        if value.number is None:
            return
        column = self._column(name)
        if column is None:
            self._output.unplaced(f"{self._message} {name}")
            return
        row = self._data_set if self._is_of_data_set and self._data_set is not None else self._row
        row.setdefault(column.name, value.number / PRINTED_UNITS.get(column.printed, 1.0))

    @property
    def _is_of_data_set(self) -> bool:
        return self._message in _ABOUT_DATA_SETS

    def _whole_name(self, name: str, before: str) -> str:
        """A name that contains blanks: ``SEQ.   GETPAGE``, joined with as many preceding words as a known name has."""
        if self._column(name) is not None:
            return name
        words = before.split()
        for count in range(1, len(words) + 1):
            whole = " ".join([*words[-count:], name])
            if self._column(whole) is not None:
                return whole
        return name

    def _column(self, name: str) -> Column | None:
        return next((column for column in self._known(name) if column.kind == "number"), None)

    def _known(self, name: str) -> list[Column]:
        """Columns of a name in the message: below its heading if known there, else anywhere in the message."""
        record = self._output.record
        if record is None or (self._is_of_data_set and self._data_set is None):
            # An excerpt without the name of its data set has no row.
            return []
        columns = self._columns[_DATA_SETS if self._is_of_data_set else _TABLE_OF[record.kind]]
        places = (self._message, fold(self._heading), fold(name)), (self._message, fold(name))
        return [columns[words] for words in places if words in columns]

    @staticmethod
    def _quantity(text: str) -> Printed:
        match = _QUANTITY.fullmatch(text)
        if not match:
            return read_value(text)
        value = read_value(match["number"], unit=_UNITS.get(match["unit"] or ""), exact=True)
        return value._replace(text=text) if value.type == NUMBER else value

    def _value(self, line: Line, name: str, value: Printed) -> None:
        self._output.value(
            line, name, value, block=self._message or None, about=self._pool, parent=self._heading or None
        )


def _moment(match: re.Match[str]) -> datetime | None:
    month = _MONTHS.get(match["month"].upper(), 0)
    return read_point(f"{match['year']}-{month:02d}-{int(match['day']):02d}", match["time"])


def _shown(match: re.Match[str]) -> str:
    return f"{match['month']} {match['day']}, {match['year']} {match['time']}"


def _value_of(text: str, match: re.Match[str]) -> Printed:
    """``17:23:21 OCT 4, 2002`` as a point in time."""
    moment = _moment(match)
    return Printed(text, "text") if moment is None else point_of(text, TIMESTAMP, moment)
