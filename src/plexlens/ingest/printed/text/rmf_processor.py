"""RMF CPU activity and partition data: logical processors, partitions, address spaces and work units.

Source: IBM, z/OS RMF Report Analysis, "CPU Activity report" and "Partition Data report section".
"""

from __future__ import annotations

import re

from plexlens.ingest.printed.address import fold
from plexlens.ingest.printed.text.lines import Line
from plexlens.ingest.printed.text.output import Output
from plexlens.ingest.printed.text.words import is_rule
from plexlens.ingest.printed.values import DURATION, NUMBER, Printed, read_value

_TYPES = frozenset({"CP", "AAP", "IIP", "IFA", "ICF", "IFL", "CBP", "ZIIP", "ZAAP"})
_CONTROL, _PROCESSORS, _PARTITIONS = "text_rmf_cpu_control", "text_rmf_cpu_processor", "text_rmf_cpu_partition"
_HEAD_LINE = re.compile(r"\bTYPE\s+ONLINE\b")
_PROCESSOR = re.compile(r"\s*(?P<number>[0-9A-F]{1,4})\s+(?:(?P<thread>\d)\s+)?(?P<type>[A-Z]{2,4})\s+(?P<rest>\S.*)")
_TOTAL = re.compile(r"\s*TOTAL\s*/\s*AVERAGE:?\s+(?P<rest>\S.*)", re.IGNORECASE)
_PRIORITY = frozenset({"HIGH", "MED", "LOW"})
_COUNTS = re.compile(r"\s*(?P<name>[A-Z][A-Z @/]*?)\s+(?P<low>\d+)\s+(?P<high>\d+)\s+(?P<average>\d[\d.,]*)(?=\s|$)")
_QUEUE = re.compile(r"(?P<mark><=|=|>|<)\s*N(?P<plus>\s*\+\s*\d+)?\s+(?P<percent>\d[\d.]*)(?=\s|$)")
_SYSTEM_PAIRS = re.compile(
    r"(?P<name>CPC CAPACITY|SEQUENCE CODE|CHANGE REASON|HIPERDISPATCH|H/W MODEL|MODEL|BOOST TYPE|BOOST CLASS|"
    r"CPU(?=\s+\d{4}\b)|"
    r"BLWLTRPCT \(%\)|BLWLINTHD|DEFINED|USED \(%\)|AVG(?=\s+[\d.]+\s*$)|PEAK|"
    r"MVS PARTITION NAME|IMAGE CAPACITY|NUMBER OF CONFIGURED PARTITIONS|WAIT COMPLETION|DISPATCH INTERVAL|"
    r"PHYS PROC NUM|"
    r"PHYSICAL PROCESSORS|NUMBER OF PHYSICAL PROCESSORS|GROUP NAME|LIMIT|AVAILABLE|INITIAL CAP|LPAR HW CAP|"
    r"HW GROUP CAP|ABS MSU CAP|"
    r"(?<=\s)(?:CP|AAP|IIP|ICF|IFL)(?=\s+\d+(?:\s|$)))(?:\s*=\s*|\s*:\s*|\s+)(?P<value>\S+)",
    re.IGNORECASE,
)  # fmt: skip
_HEADING_WORDS = re.compile(
    r"-{2,}|\bNUM\s+TYPE\b|QUEUE TYPES|ADDRESS SPACE|WORK UNIT|CPU TYPES|N = NUMBER|BLOCKED WORKLOAD|OPT PARAMETERS|"
    r"\bNAME\s+S\b|!\.{2,}|TIME %|LOG PROC|PROCESSORS ONLINE|\bMT ?%|AVERAGE PROCESSOR|DISPATCH TIME|PARTITION DATA",
    re.IGNORECASE,
)
_TIME = re.compile(r"\d{2,3}\.\d{2}\.\d{2}\.\d{3}")
_CAP = re.compile(r"[YN]|[YN]{3}|NO|YES")


class ProcessorPages:
    """Reads lines of CPU activity and partition data pages."""

    def __init__(self, output: Output) -> None:
        self._output = output
        heads = ((column.name, column.text) for column in output.known.tables[_PROCESSORS].columns if column.text)
        self._heads = re.compile("|".join(f"(?P<{name}>{at[0].expression(0)})" for name, at in heads))
        self._control_columns = output.known.tables[_CONTROL].places()
        self._columns: tuple[str, ...] = ()
        self._type: str | None = None
        self._control: dict[str, object] = {}
        self._any_row = False

    def line(self, line: Line, part: str) -> bool:
        """Process a line of a page; return whether it was understood."""
        text = line.text.upper()
        if is_rule(text):
            return True
        if part == "partition":
            if self._partition(line, text) or self._pairs(line, text, "PARTITION DATA"):
                return True
        elif self._processor(line, text) or self._counts(line, text) or self._pairs(line, text, "CPU ACTIVITY"):
            return True
        return _HEADING_WORDS.search(text) is not None

    def finish(self) -> None:
        """End the pages and write the facts about the machine."""
        row, self._control = self._control, {}
        if (row or self._any_row) and self._output.record is not None:
            self._output.twin(_CONTROL, row)
        self._any_row = False
        self._columns, self._type = (), None

    # --- logical processors ------------------------------------------------------------------------------------

    def _processor(self, line: Line, text: str) -> bool:
        if _HEAD_LINE.search(text):
            self._columns = tuple(match.lastgroup or "" for match in self._heads.finditer(text))
            return True
        total = _TOTAL.match(text)
        match = None if total else _PROCESSOR.match(text)
        if not self._columns or (not total and (match is None or match["type"] not in _TYPES)):
            return False
        words = (total or match)["rest"].split()  # type: ignore[index]
        priority = next((word for word in words if word in _PRIORITY), None)
        words = [word for word in words if word not in _PRIORITY]
        values = [read_value(word) for word in words]
        about = "TOTAL" if match is None else match["number"]
        columns = self._columns if match is not None else _without_online(self._columns, len(values))
        for column, value in zip(columns, values, strict=False):
            unit = "percent" if column.endswith("percent") else None
            self._output.value(line, _name_of(column), value._replace(unit=unit) if value.number is not None else value,
                               block="CPU", about=about)  # fmt: skip
        if match is not None:
            numbers = {column: value.number for column, value in zip(columns, values, strict=False)}
            self._row(match, numbers, priority)
        return len(values) <= len(columns)

    def _row(self, match: re.Match[str], numbers: dict[str, float | None], priority: str | None) -> None:
        kind = {"IFA": "AAP", "ZAAP": "AAP", "ZIIP": "IIP"}.get(match["type"], match["type"])
        self._any_row = True
        self._output.twin(
            _PROCESSORS,
            {
                "cpu_number": int(match["number"], 16),
                "thread": int(match["thread"]) if match["thread"] else None,
                "cpu_type": kind,
                "priority": priority,
                **numbers,
            },
        )

    # --- address spaces and work units -------------------------------------------------------------------------

    def _counts(self, line: Line, text: str) -> bool:
        understood = False
        left = _COUNTS.match(text)
        if left:
            understood = True
            for head, name in (("MIN", "low"), ("MAX", "high"), ("AVG", "average")):
                value = read_value(left[name], exact=name != "average")
                self._output.value(line, left["name"], value, block="ADDRESS SPACE AND WORK UNIT ANALYSIS", head=head)
        for match in _QUEUE.finditer(text):
            understood = True
            name = f"{match['mark']} N{''.join((match['plus'] or '').split())}"
            value = read_value(match["percent"], unit="percent")
            self._output.value(line, name, value, block="DISTRIBUTION OF IN-READY WORK UNIT QUEUE")
        return understood

    def _pairs(self, line: Line, text: str, block: str) -> bool:
        results = [(match["name"], match["value"]) for match in _SYSTEM_PAIRS.finditer(text)]
        for name, word in results:
            value = read_value(word, exact=True)
            self._output.value(line, name, value, block=block)
            column = self._control_columns.get((fold(name),))
            is_text = column is not None and self._output.known.tables[_CONTROL][column].kind == "text"
            if column is not None and (is_text or value.type == NUMBER):
                self._control.setdefault(column, word if is_text else value.number)
        return bool(results)

    # --- partitions --------------------------------------------------------------------------------------------

    def _partition(self, line: Line, text: str) -> bool:
        words = text.split()
        times = [position for position, word in enumerate(words) if _TIME.fullmatch(word)]
        if not times or words[0] == "INTERVAL":
            return False
        name, before, after = words[0], words[1 : times[0]], words[times[-1] + 1 :]
        physical = name.strip("*") == "PHYSICAL"
        values: dict[str, Printed] = {}
        for column, position in zip(
            ("dispatch_seconds",)
            if physical or len(times) == 1
            else ("effective_dispatch_seconds", "dispatch_seconds"),
            times,
            strict=False,
        ):
            values[column] = read_value(words[position])
        for column, word in zip(_utilisations(len(after)), after, strict=True):
            values[column] = read_value(word, unit="percent")
        texts = {} if physical or name == "TOTAL" else _of_partition(before, values)
        if name == "TOTAL" and before:
            values["weight"] = read_value(before[0])
        if before and before[-1] in _TYPES:
            texts["processor_type"] = before[-1]
        self._type = texts.get("processor_type", self._type)
        for column, value in values.items():
            if column:
                self._output.value(line, _name_of(column), value, block="PARTITION DATA", about=name)
        for column, shown in texts.items():
            self._output.value(line, _name_of(column), Printed(shown, "text"), block="PARTITION DATA", about=name)
        if name != "TOTAL":
            self._partition_row(name, physical, values, texts)
        return "" not in values

    def _partition_row(self, name: str, physical: bool, values: dict[str, Printed], texts: dict[str, str]) -> None:
        numbers = {column: value.number for column, value in values.items() if value.type in {NUMBER, DURATION}}
        self._any_row = True
        self._output.twin(
            _PARTITIONS,
            {
                "partition_name": "PHYSICAL" if physical else name,
                "is_physical": physical,
                "status": {"A": "Active", "D": "Deactivated"}.get(texts.get("status", "")),
                "boost_type": texts.get("boost_type"),
                "processor_type": texts.get("processor_type", self._type),
                "is_dedicated": texts.get("is_dedicated") == "DED",
                "capping_defined": texts.get("capping_defined"),
                **{column: number for column, number in numbers.items() if column},
            },
        )


def _name_of(column: str) -> str:
    return column.removesuffix("_seconds").replace("_percent", " %").replace("_", " ").strip().upper()


def _without_online(columns: tuple[str, ...], count: int) -> tuple[str, ...]:
    """Columns of the line of averages, without the online and parked times, which have no average."""
    left = [column for column in columns if column not in {"online_percent", "parked_percent"}]
    if len(left) > count:
        left = [column for column in left if column != "logical_share_percent"] if count < len(left) else left
    return tuple(left if len(left) >= count else columns)


def _utilisations(count: int) -> tuple[str, ...]:
    """Columns to the right of the dispatch times: all five, those of the totals, or those of the hypervisor itself."""
    five = (
        "logical_effective_percent", "logical_total_percent", "management_percent", "physical_effective_percent",
        "physical_total_percent",
    )  # fmt: skip
    return {
        0: (),
        1: (five[2],),
        2: (five[2], five[4]),
        3: five[2:],
        5: five,
    }.get(count, ("",) * count)


def _of_partition(before: list[str], values: dict[str, Printed]) -> dict[str, str]:
    """Text between a partition's name and its dispatch times; numbers are added to `values`."""
    texts: dict[str, str] = {}
    rest = list(before)
    if rest and rest[-1] in _TYPES:
        texts["processor_type"] = rest.pop()
        if rest:
            values["logical_processors"] = read_value(rest.pop())
    if rest and re.fullmatch("[A-Z]", rest[0]):
        texts["status"] = rest.pop(0)
    if rest and re.fullmatch("[A-Z]", rest[0]) and len(rest) > 1 and (rest[1].isdigit() or rest[1] == "DED"):
        texts["boost_type"] = rest.pop(0)
    if rest and rest[0] == "DED":
        texts["is_dedicated"] = rest.pop(0)
    elif rest and not _CAP.fullmatch(rest[0]):
        values["weight"] = read_value(rest.pop(0))
    numbers = []
    while rest and not _CAP.fullmatch(rest[0]):
        numbers.append(rest.pop(0))
    for column, word in zip(("defined_msu", "actual_msu"), numbers, strict=False):
        values[column] = read_value(word)
    letters = []
    while rest and _CAP.fullmatch(rest[0]):
        letters.append(rest.pop(0))
    if letters:
        texts["capping_defined"] = " ".join(letters)
    if rest:
        values["wlm_capping_percent"] = read_value(rest.pop(0), unit="percent")
    return texts
