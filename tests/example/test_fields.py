"""Every field that the example writes has a stated source, and none is stated that is not written."""

from __future__ import annotations

import csv

from plexlens.example.dump import example_records
from plexlens.example.plan import read_plan
from tests.example.paths import LAYOUTS, STUDIES

SOURCES = {"printed", "derived", "assumed"}


def _stated() -> dict[tuple[str, str, str], str]:
    stated: dict[tuple[str, str, str], str] = {}
    with (STUDIES / "example" / "fields.csv").open(encoding="utf-8", newline="") as file:
        for line in csv.DictReader(file):
            assert line["source"] in SOURCES, line
            assert line["how"], line
            studies = ("sysplex-1996", "zxml-2008") if line["study"] == "both" else (line["study"],)
            for study in studies:
                key = (study, line["section"], line["field"])
                assert key not in stated, f"{key} is stated twice"
                stated[key] = line["source"]
    return stated


def _written() -> set[tuple[str, str, str]]:
    written = set()
    for one in example_records(read_plan(STUDIES)):
        for section, rows in one.record.sections.items():
            written |= {(one.study, section, field) for row in rows for field in row}
    return written


def test_every_field_written_has_a_source_and_the_other_way_round() -> None:
    assert _written() == set(_stated())


def test_every_field_is_one_of_its_layout_and_within_the_length_written() -> None:
    wrong = []
    for one in example_records(read_plan(STUDIES)):
        for section, rows in one.record.sections.items():
            with (LAYOUTS / f"{section}.csv").open(encoding="utf-8", newline="") as file:
                fields = list(csv.DictReader(file))
            if not fields[0]["offset"]:
                # The dictionary places them; a clock is a time and a count.
                clocks = {f["field"].lower() for f in fields if f["unit"] == "clock"}
                known = {f["field"].lower() for f in fields} - clocks
                known |= {f"{clock}_{part}" for clock in clocks for part in ("seconds", "count")}
                wrong += [(section, name) for row in rows for name in row if name not in known]
                continue
            ends = {f["field"].lower(): int(f["offset"]) + int(f["length"]) for f in fields}
            length = one.record.lengths.get(section, max(ends.values()))
            wrong += [(section, name) for row in rows for name in row if ends.get(name, length + 1) > length]
    assert wrong == []


def test_sources_of_structures_and_classes_are_stated() -> None:
    for name, columns in (("structures", ("size_source", "service_source")), ("classes", ("response_source",))):
        with (STUDIES / "example" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            for line in csv.DictReader(file):
                for column in columns:
                    assert line[column].partition(":")[0] in SOURCES, (name, line)
