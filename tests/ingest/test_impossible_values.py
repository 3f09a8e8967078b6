"""Every bound of a dump's fields, end to end: a value above it is named under What was read, and no rule fires on it.

For each field that a file of `layouts/plausible` is about, a record of a system of its own holds the greatest number
that the field has room for, and everything that the bound is made of is one. A second dump has one in place of it too.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from plexlens import _core
from plexlens.findings import check
from plexlens.metrics.inputs import Inputs
from plexlens.pdb import Pdb, ingest
from plexlens.report.blocks.readings import readings_of

LAYOUTS = Path(__file__).parents[2] / "layouts"
START = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
END = START + timedelta(seconds=60)

#: What a field has room for, in units as recorded. Of eight bytes the high half: the lower one is not needed.
ROOM = {
    "u8": 2.0**8 - 1,
    "u16": 2.0**16 - 1,
    "u32": 2.0**32 - 1,
    "i32": 2.0**31 - 1,
    "u64": 2.0**40,
    "f32_hex": 1e15,
    "f64_hex": 1e15,
    "cpu_stck": 2.0**50 / 1e6,
}
#: Base units in one unit as recorded.
SCALE = {
    "s": 1.0,
    "0.1s": 0.1,
    "0.01s": 0.01,
    "ms": 1e-3,
    "1024us": 1.024e-3,
    "128us": 128e-6,
    "16us": 16e-6,
    "us": 1e-6,
}
SCALE |= {"0.5us": 0.5e-6, "stck_units": 1 / 4096e6, "KiB": 2.0**10, "MiB": 2.0**20, "4KiB": 2.0**12, "0.01": 0.01}

#: Sections without which there is no row: data sets hang on the job, TCB modes stand within the dispatcher's entry.
_DATA_SET = {"smf42_6_job": {"s42jdjnm": "JOB1"}, "smf42_6_data_set": {"s42dsn": "A.B"}}
NEEDED: dict[str, dict[str, dict[str, Any]]] = {
    "smf42_6_io": _DATA_SET,
    "smf42_6_sync_1": _DATA_SET,
    "smf110_2_dispatcher_tcb_mode": {"smf110_2_dispatcher": {"dsgasize": 18}},
    "smf73_1_group1": {"smf73_1_channel": {"smf73cmg": 1}},
    "smf30_processor_accounting": {"smf30_identification": {"smf30iss": START, "smf30iet": END}},
}


@cache
def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


@dataclass(frozen=True)
class Field:
    """A field as its layout has it."""

    name: str
    format: str
    unit: str

    @property
    def greatest(self) -> float:
        return 2.0**50 / 4096e6 if self.unit == "clock" else ROOM[self.format] * SCALE.get(self.unit, 1.0)

    @property
    def one(self) -> float:
        """One, or the unit as recorded where that is more."""
        return max(1.0, SCALE.get(self.unit, 1.0))


def fields_of(table: str) -> dict[str, Field]:
    fields = {}
    for row in rows_of(LAYOUTS / f"{table}.csv"):
        name = row["field"].upper() + ("_SECONDS" if row["unit"] == "clock" else "")
        fields[name] = Field(name, row["format"], row["unit"])
    return fields


@cache
def _maps() -> dict[str, str]:
    """The first record map that holds each section."""
    maps: dict[str, str] = {}
    for path in sorted((LAYOUTS / "records").glob("*.csv")):
        for row in rows_of(path):
            maps.setdefault(row["layout"], path.stem)
    return maps


def record_of(table: str) -> str:
    """The record map that holds the section."""
    return _maps()[table]


@dataclass(frozen=True)
class Case:
    """A field with a bound, and the fields that the bound is made of, by table."""

    table: str
    field: Field
    beside: tuple[tuple[str, Field], ...]
    moments: tuple[tuple[str, datetime], ...]

    def and_of(self, other: Case) -> Case:
        """With what another bound of the field is made of."""
        return Case(self.table, self.field, self.beside + other.beside, self.moments + other.moments)

    def sections(self, value: float) -> dict[str, pa.RecordBatch]:
        tables: dict[str, dict[str, Any]] = {self.table: {}}
        for table, field in self.beside:
            tables.setdefault(table, {})[field.name.lower()] = field.one
        tables = {name: dict(row) for name, row in NEEDED.get(self.table, {}).items()} | tables
        tables[self.table].update({name.lower(): moment for name, moment in self.moments})
        tables[self.table][self.field.name.lower()] = value
        return {table: pa.record_batch({name: [one] for name, one in row.items()}) for table, row in tables.items()}


def cases() -> list[Case]:
    found: dict[tuple[str, str], Case] = {}
    for path in sorted((LAYOUTS / "plausible").glob("smf*.csv")):
        for row in rows_of(path):
            table = row["table"]
            fields = fields_of(table)
            for pattern in row["field"].split():
                shape = re.compile(re.escape(pattern.upper()).replace(r"\#", r"(\w+)"))
                for name, field in fields.items():
                    match = shape.fullmatch(name)
                    if match is None:
                        continue
                    bound = f"{row['at_most']} {row['when']}".upper().replace("#", match[1] if match.groups() else "")
                    case = made(table, field, fields, bound)
                    if case is not None:
                        found[table, name] = case if (table, name) not in found else found[table, name].and_of(case)
    return list(found.values())


def made(table: str, field: Field, fields: dict[str, Field], bound: str) -> Case | None:
    beside, moments = [], []
    for first, second in re.findall(r"SECONDS\((\w+), (\w+)\)", bound):
        moments += [(first, START), (second, END)]
    for other, name in re.findall(r"\b([A-Z]\w*)\.(\w+)", bound):
        beside.append((other.lower(), fields_of(other.lower())[name]))
    for name in re.findall(r"\b[A-Z]\w*\b(?![(.*])", re.sub(r"\w+\.\w+", "", bound)):
        if name in fields and fields[name].format != "stck" and name != field.name:
            beside.append((table, fields[name]))
        elif name not in fields and name.rstrip("_") not in ("INTERVAL_SECONDS", "AND", "OR", "IS", "NULL"):
            # A pattern (READYQ of TCB_READYQ) can meet a field without its neighbour: there the bound says nothing.
            return None
    return Case(table, field, tuple(beside), tuple(moments))


CASES = cases()


def dump_of(path: Path, cases: list[Case], *, impossible: bool) -> Path:
    catalogue = _core.Catalogue([LAYOUTS])
    with _core.DumpWriter(path) as dump:
        for number, case in enumerate(cases):
            identity = {
                "system": f"S{number:03}",
                "subsystem": "DB2A",
                "interval_start": START,
                "interval_end": END,
                "utc_offset": 0.0,
            }
            record = record_of(case.table)
            if record == "smf110_1_class3":
                dictionary = {"smf110_1_dictionary": _core.standard_dictionary(catalogue)}
                dump.write(_core.encode_record(catalogue, "smf110_1_class1", identity, dictionary))
            value = case.field.greatest if impossible else case.field.one
            dump.write(_core.encode_record(catalogue, record, identity, case.sections(value)))
    return path


RECORDS = sorted({record_of(case.table) for case in CASES})


def test_every_type_of_record_that_is_measured_by_has_bounds() -> None:
    assert {re.match(r"smf\d+", record)[0] for record in RECORDS} >= {  # type: ignore[index]
        *("smf30", "smf42", "smf70", "smf71", "smf72", "smf73", "smf74", "smf75"),
        *("smf100", "smf101", "smf102", "smf110", "smf115", "smf116"),
    }
    assert {"smf74_2", "smf74_4"} <= set(RECORDS)
    assert len(CASES) > 400


#: Record types of which one database is made: evaluating all rules takes longer than reading the records, and each case
#: has a system of its own.
TOGETHER = {
    "jobs, data sets": ("smf30", "smf42"),
    "RMF": ("smf7",),
    "Db2": ("smf100", "smf101", "smf102"),
    "CICS, MQ": ("smf110", "smf115", "smf116"),
}


def test_every_type_of_record_is_in_one_database() -> None:
    begins = [begin for group in TOGETHER.values() for begin in group]
    assert [record for record in RECORDS if sum(map(record.startswith, begins)) != 1] == []


@pytest.mark.parametrize("group", TOGETHER)
def test_a_value_that_cannot_be_is_named_and_fires_no_rule(group: str, tmp_path: Path) -> None:
    chosen = [case for case in CASES if record_of(case.table).startswith(TOGETHER[group])]
    assert 0 < len(chosen) < 1000
    fired = {}
    for impossible in (False, True):
        pdb = Pdb.create(tmp_path / f"p{impossible:d}")
        ingest(dump_of(tmp_path / f"{impossible:d}.smf", chosen, impossible=impossible), pdb)
        connection = pdb.connect()
        found = check(Inputs(connection))
        fired[impossible] = {
            (one.rule.id, part.value)
            for lead in found.fired
            for one in lead.all
            for part in one.entity
            if part.column == "system"
        }
        if impossible:
            marked = connection.table("implausible").to_arrow_table().to_pylist()
            named = {(m["system"], m["table_name"], m["field"]) for m in marked}
            expected = {(f"S{n:03}", case.table, case.field.name) for n, case in enumerate(chosen)}
            assert expected <= named, sorted(expected - named)
            assert readings_of(connection).implausible_count == len(marked)
    assert fired[True] <= fired[False], sorted(fired[True] - fired[False])
