"""Raw tables with random values, for every table that a source of the catalogue names.

What a value means does not matter to two engines that have to agree on it. So a row of numbers, texts and times drawn
at random fills grains of which no dump is at hand; it also has zeros, nulls, the largest counters, equal keys
and records without some of their sections.
"""

from __future__ import annotations

import random
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from plexlens import _core
from plexlens.ingest.printed.catalogue import catalogue
from plexlens.layouts_path import layout_folders
from plexlens.metrics.raw_tables import IDENTITY, declared

CATALOGUE = Path(__file__).parents[2] / "catalogue"
START = datetime(2026, 3, 2, 8, tzinfo=UTC)

_RECORDS = 60
_ARROW = {
    "varchar": pa.string(),
    "double": pa.float64(),
    "timestamptz": pa.timestamp("us", "UTC"),
    "timestamp": pa.timestamp("us"),
    "bigint": pa.int64(),
    "integer": pa.uint32(),
    "uinteger": pa.uint32(),
    "boolean": pa.bool_(),
}


def named_tables() -> dict[str, pa.Schema]:
    """Schema of each raw table that the catalogue names."""
    texts = [path.read_text("utf-8").lower() for path in sorted(CATALOGUE.rglob("*")) if path.is_file()]
    words = {word for text in texts for word in re.findall(r"[a-z][a-z0-9_]+", text)}
    layouts = _core.Catalogue(layout_folders())
    # Layouts of z/VM have no record map of SMF.
    monitor = [name for name in layouts.sections() if name.startswith("vm_")]
    schemas = {name: layouts.schema(name) for name in [*layouts.tables(), *monitor] if name in words}
    for spec in catalogue().tables.values():
        if spec.name in words:
            types = dict(IDENTITY) | dict(declared(spec.name))
            schemas[spec.name] = pa.schema([pa.field(column, _ARROW[kind]) for column, kind in types.items()])
    return schemas


class Literals(NamedTuple):
    """What statements of the catalogue compare columns with."""

    texts: list[str]
    numbers: list[int]


def _literals() -> Literals:
    texts: set[str] = set()
    numbers: set[int] = set()
    for path in sorted(CATALOGUE.rglob("*.sql")):
        statement = path.read_text("utf-8")
        texts.update(re.findall(r"'([^'%\n]{1,12})'", statement))
        numbers.update(int(number) for number in re.findall(r"= (\d{1,3})\b", statement))
    return Literals(sorted(texts), sorted(numbers))


def random_tables(seed: int) -> dict[str, pa.Table]:
    """Rows of `named_tables`: records of two systems, intervals of five minutes, mostly a section of each in a record.

    Counters of Db2 and z/VM run on from record to record; everything else is drawn for each row.
    """
    literals = _literals()
    return {
        name: _rows(random.Random(f"{seed} {name}"), name, schema, literals) for name, schema in named_tables().items()
    }


def _rows(chance: random.Random, name: str, schema: pa.Schema, literals: Literals) -> pa.Table:
    rows = []
    for record in range(_RECORDS):
        start = START + timedelta(seconds=300 * (record // 4))
        whose = {
            "system": f"SYS{record % 2}",
            "sysplex": "PLEX",
            # A subsystem of one name is on one system.
            "subsystem": f"SUB{record % 4}",
            "interval_start": start,
            "interval_end": start + timedelta(seconds=300),
            "utc_offset": 0.0,
            "source_id": "dump",
            "record_no": record,
        }
        for section in range(_sections(chance, name)):
            row = {field.name: _value(chance, field, start, literals) for field in schema}
            if name.startswith(("smf100_", "vm_")):
                for field in schema:
                    if field.type in (pa.uint32(), pa.uint64()) and not field.name.endswith("id"):
                        row[field.name] = record * 10_000 + chance.randint(0, 9_999)
            if name == "smf_record" and record % 3:
                row["record_type"] = 30
            if "smf30typ" in row:
                row["smf30typ"] = record % 6 + 1
            if "qbglgn" in row:
                # A member's counters of a group buffer pool, which is told by number.
                row["qbglgn"] = record % 4
            if name == "smf72_3_period" and chance.random() < 0.7:
                # All kinds of data are recorded. A class that ends transactions and uses no CPU time is one of CICS.
                row["r723cadf"] = 0xE0
                if record // 2 % 2:
                    row |= {"r723ccpu": 0, "r723csrb": 0, "r723csup": 0, "r723crcp": 7}
            row |= {key: value for key, value in whose.items() if key in schema.names}
            if "section_no" in schema.names:
                row["section_no"] = section + 1
            rows.append(row)
    return pa.Table.from_pylist(rows, schema=schema)


def _sections(chance: random.Random, name: str) -> int:
    """How many sections of a table a record has: those that a record has once it has once, or not at all."""
    if name == "smf_record":
        return 1
    # Of a buffer pool there is one section; drawn at random, two would be of the same pool. A record of z/VM has one
    # row: no order says which of two at the same moment is the first.
    if name.startswith(("smf100_", "vm_")):
        return chance.choice([0, 1, 1, 1, 1, 1])
    return chance.choice([0, 1, 1, 1, 1, 2, 3])


def _value(chance: random.Random, field: pa.Field, start: datetime, literals: Literals) -> Any:
    if chance.random() < 0.03:
        return None
    kind = field.type
    if pa.types.is_timestamp(kind):
        moment = start + timedelta(seconds=chance.randint(0, 299), microseconds=chance.randint(0, 999_999))
        value: Any = moment if kind.tz else moment.replace(tzinfo=None)
    elif pa.types.is_string(kind):
        value = chance.choice(["A", "B", ""]) if chance.random() < 0.7 else chance.choice(literals.texts)
    elif pa.types.is_boolean(kind):
        value = chance.random() < 0.5
    elif pa.types.is_binary(kind):
        value = chance.randbytes(chance.choice([4, 8]))
    elif pa.types.is_date(kind):
        value = start.date()
    elif pa.types.is_floating(kind):
        value = chance.choice([0.0, 1.0, chance.uniform(0, 100), chance.uniform(0, 1e9)])
    else:
        value = _integer(chance, kind, literals)
    return value


def _integer(chance: random.Random, kind: pa.DataType, literals: Literals) -> int:
    most = 2 ** min(62, kind.bit_width - (0 if pa.types.is_unsigned_integer(kind) else 1)) - 1
    small = [0, 1, chance.randint(0, 9), chance.randint(0, 9), chance.choice(literals.numbers)]
    large = [chance.randint(0, 10_000), chance.randint(0, 2**52), most]
    return min(chance.choice(small if chance.random() < 0.8 else large), most)
