"""The layout files themselves: well-formed, consistent, sourced. Reads them with the csv module alone."""

from __future__ import annotations

import csv
import re
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

LAYOUTS = Path(__file__).parent.parent / "layouts"
RECORDS = LAYOUTS / "records"
HEADING = ["field", "offset", "length", "format", "unit", "description", "since", "source", "confidence"]
MAP_HEADING = ["layout", "triplet", "rule", "description", "source", "confidence"]
# Of sections that a dictionary in the data places: which dictionary entry a field is.
DICTIONARY_HEADING = [*HEADING, "dictionary"]
# Of record maps with layouts for some entries only: which entries, and whose table they fill.
VARIANT_HEADING = [*MAP_HEADING[:3], "when", "table", *MAP_HEADING[3:]]
RULE = re.compile(
    r"header|product|entries|varying|counted|connected|chain:\d+|array:\d+:\d+(:\d+)?"
    r"|fixed|placed:\d+:(?P<size>\w+):(?P<number>\w+)"
    r"|tagged:\d+(:\d+:\d+(:\d+)?)?|linked:(?P<length>\w+)(:(?P<next>\w+)|::(?P<count>\w+)(:entry)?)?"
)
CONFIDENCE = {"high", "medium", "low"}
IDENTITIES = {"rmf", "mq", "db2", "cics", "smf30", "smf42", "smf113", "standard"}

# Lengths that a format may have; None: any from 1 to the longest record.
LENGTHS: dict[str, set[int] | None] = {
    "u8": {1},
    "u16": {2},
    "u24": {3},
    "u32": {4},
    "u64": {8},
    "i16": {2},
    "i32": {4},
    "i64": {8},
    "f32_hex": {4},
    "f64_hex": {8},
    "f64_bfp": {8},
    "packed": set(range(1, 10)),
    "ebcdic": None,
    "bits": {1, 2, 4, 8},
    "stck": {8},
    "cpu_stck": {8},
    "tod_hundredths": {4},
    "smf_date": {4},
    "bytes": None,
}
NUMBERS = {name for name in LENGTHS if re.fullmatch(r"[uif]\d+(_hex|_bfp)?", name)}
TIMES = [
    "s",
    "0.1s",
    "0.01s",
    "ms",
    "1024us",
    "128us",
    "16us",
    "us",
    "0.5us",
    "stck_units",
    "us^2",
    "(1024us)^2",
    "page_1024us",
]
SIZES = ["B", "256B", "KiB", "4KiB", "MiB", "GiB"]
RATIOS = ["0.01", "0.001", "/256", "/1024", "/4096", "/10000"]
COUNTS = ["%", "samples", "frames", "slots", "pages", "blocks", "cylinders", "SU", "MSU"]
UNITS: dict[str, set[str]] = dict.fromkeys([*TIMES, *SIZES, *RATIOS, *COUNTS], NUMBERS)
UNITS |= {"0hhmmssF": {"packed"}, "mmsstttF": {"packed"}, "local": {"stck"}, "clock": {"bytes"}}
UNITS["ms"] = NUMBERS | {"packed"}
UNITS["0.01s"] = NUMBERS | {"tod_hundredths"}

SECTION_FILES = sorted(path.stem for path in LAYOUTS.glob("*.csv"))
RECORD_FILES = sorted(path.stem for path in RECORDS.glob("*.csv"))
MAPS_OF_THE_SPINE = {
    *("smf70_1", "smf71_1", "smf72_3", "smf74_1", "smf74_2", "smf74_4", "smf75_1"),
    *("smf115_1", "smf115_2", "smf115_201", "smf115_215", "smf115_231"),
    *("smf116_0", "smf116_1", "smf116_2", "smf116_10"),
}
MAPS_OF_DB2_CICS_AND_JOBS = {
    *("smf30", "smf42_6", "smf73_1", "smf100_ifcid1", "smf100_ifcid2", "smf101_ifcid3"),
    *("smf110_1_class1", "smf110_1_class3", "smf110_2"),
}


@cache
def section(name: str) -> list[dict[str, str]]:
    with (LAYOUTS / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        rows = list(reader)
        expected = HEADING if any(row["offset"] for row in rows) else DICTIONARY_HEADING
        assert reader.fieldnames == expected, f"{name}: heading"
        return rows


@cache
def record_map(name: str) -> tuple[str, list[dict[str, str]]]:
    text = (RECORDS / f"{name}.csv").read_text(encoding="utf-8")
    first, rest = text.split("\n", 1)
    identity = re.fullmatch(r"# identity: (\w+)", first)
    assert identity, f"{name}: first line is {first!r}"
    reader = csv.DictReader(rest.splitlines(), strict=True)
    assert reader.fieldnames in (MAP_HEADING, VARIANT_HEADING), f"{name}: heading"
    return identity[1], list(reader)


def is_placed(name: str) -> bool:
    """Whether the section's fields have offsets; those of CICS performance records come from a dictionary."""
    return any(row["offset"] for row in section(name))


def headers(name: str) -> dict[str, dict[str, str]]:
    """Fields of a map's header sections by name."""
    _, rows = record_map(name)
    return {field["field"]: field for row in rows if row["rule"] == "header" for field in section(row["layout"])}


def fields_of(name: str, *rules: str) -> dict[str, dict[str, str]]:
    """Fields of the sections of a map that have one of these rules; of all but the headers where none is given."""
    _, rows = record_map(name)
    wanted = [row["layout"] for row in rows if (row["rule"] in rules if rules else row["rule"] != "header")]
    return {field["field"]: field for layout in reversed(wanted) for field in section(layout)}


def test_every_record_type_has_its_maps() -> None:
    assert set(RECORD_FILES) >= MAPS_OF_THE_SPINE | MAPS_OF_DB2_CICS_AND_JOBS


@pytest.mark.parametrize("name", SECTION_FILES)
def test_every_row_of_a_section_is_complete(name: str) -> None:
    rows = section(name)
    assert rows
    names = [row["field"].lower() for row in rows]
    assert len(set(names)) == len(names), "two columns of one name"
    for row in rows:
        where = f"{name}.{row['field']}"
        assert None not in row and None not in row.values(), f"{where}: columns"
        assert re.fullmatch(r"[A-Zx0-9_]+", row["field"]), f"{where}: name"
        assert row["description"] and row["source"], f"{where}: description and source"
        assert row["confidence"] in CONFIDENCE, f"{where}: confidence {row['confidence']!r}"
        assert row["format"] in LENGTHS, f"{where}: format {row['format']!r}"
        lengths = LENGTHS[row["format"]] or range(1, 32_757)
        assert int(row["length"]) in lengths, f"{where}: {row['format']} of {row['length']} bytes"
        unit = row["unit"]
        assert not unit or unit in UNITS, f"{where}: unit {unit!r}"
        assert not unit or row["format"] in UNITS[unit], f"{where}: unit {unit!r} with {row['format']}"


@pytest.mark.parametrize("name", SECTION_FILES)
def test_fields_ascend_without_overlap(name: str) -> None:
    offsets = [row["offset"] for row in section(name)]
    if not is_placed(name):
        assert set(offsets) == {""}, "offsets for all fields, or for none"
        return
    end = 0
    for row in section(name):
        assert int(row["offset"]) >= end, f"{name}.{row['field']} begins at {row['offset']}, before {end}"
        end = int(row["offset"]) + int(row["length"])
    assert end <= 32_756


@pytest.mark.parametrize("name", RECORD_FILES)
def test_a_record_map_names_what_exists(name: str) -> None:
    identity, rows = record_map(name)
    assert identity in IDENTITIES
    fields = headers(name)
    for row in rows:
        where = f"{name}: {row['layout']}"
        assert row["layout"] in SECTION_FILES, f"{where}: no such layout"
        assert row["description"] and row["source"] and row["confidence"] in CONFIDENCE, where
        rule = RULE.fullmatch(row["rule"])
        assert rule, f"{where}: rule {row['rule']!r}"
        placed = is_placed(row["layout"])
        assert placed != (row["rule"] == "connected"), f"{where}: offsets, or a dictionary that gives them"
        if row["rule"] in ("header", "fixed"):
            assert not row["triplet"], f"{where}: a header has no triplet"
            continue
        if rule["number"]:
            start = fields | fields_of(name, "fixed")
            for field in {row["triplet"], rule["size"], rule["number"]} - {"1", "2"}:
                assert start[field]["format"] in ("u8", "u16", "u32"), f"{where}: {field} is not a number"
            continue
        if rule["length"]:
            inner = fields_of(name)
            assert inner[row["triplet"]]["format"] == "u32", f"{where}: {row['triplet']} is not an offset"
            assert inner[rule["length"]]["format"] == "u16", f"{where}: {rule['length']} is not a length"
            assert not rule["next"] or inner[rule["next"]]["format"] == "u32", (
                f"{where}: {rule['next']} is not an offset"
            )
            assert not rule["count"] or inner[rule["count"]]["format"] == "u16", (
                f"{where}: {rule['count']} is not a count"
            )
            continue
        holder = fields if row["triplet"] in fields else fields_of(name, "product")
        triplet = holder[row["triplet"]]
        assert triplet["format"] == "u32", f"{where}: {row['triplet']} is not an offset"
        at = int(triplet["offset"])
        followers = {int(field["offset"]): field["format"] for field in holder.values()}
        assert (followers.get(at + 4), followers.get(at + 6)) == ("u16", "u16"), f"{where}: no length and count"


def place(row: dict[str, str]) -> tuple[str, str]:
    """Where the entries of a record map's row are: behind which triplet, and for statistics with which identifier."""
    tag = re.match(r"tagged:\d+", row["rule"])
    return row["triplet"], tag[0] if tag else ""


@pytest.mark.parametrize("name", RECORD_FILES)
def test_a_variant_has_names_and_units_of_its_table(name: str) -> None:
    _, rows = record_map(name)
    for row in rows:
        where = f"{name}: {row['layout']}"
        if row.get("when"):
            condition = re.fullmatch(r"(\w+)(?:<|>=|=)\d+", row["when"])
            assert condition, f"{where}: condition {row['when']!r}"
            first = next(other["layout"] for other in rows if place(other) == place(row))
            fields = {field["field"] for field in section(first)} | set(fields_of(name, "product"))
            assert condition[1] == "length" or condition[1] in fields, f"{where}: condition {row['when']!r}"
        if row.get("table"):
            main = {field["field"]: field for field in section(row["table"])}
            assert any(o["layout"] == row["table"] and o["triplet"] == row["triplet"] for o in rows), where
            for field in section(row["layout"]):
                assert field["unit"] == main[field["field"]]["unit"], f"{where}.{field['field']}"


@pytest.mark.parametrize("name", [name for name in SECTION_FILES if not is_placed(name)])
def test_a_field_that_a_dictionary_places_says_which_entry_it_is(name: str) -> None:
    """Owner, kind and number of the entry; where no number is published, the field's name decides."""
    entries = [row["dictionary"] for row in section(name)]
    for entry in entries:
        assert re.fullmatch(r"[A-Z0-9]{1,8}:[SCAPTN](\d{3}|\?{3})(:[A-Z0-9]{1,8})?", entry), entry
    numbered = [entry for entry in entries if "?" not in entry]
    assert len(set(numbered)) == len(numbered)


@pytest.mark.parametrize("name", RECORD_FILES)
def test_header_sections_of_a_map_do_not_overlap(name: str) -> None:
    _, rows = record_map(name)
    taken = sorted(
        (int(field["offset"]), int(field["offset"]) + int(field["length"]), field["field"])
        for row in rows
        if row["rule"] == "header"
        for field in section(row["layout"])
    )
    for (_, end, one), (start, _, other) in pairwise(taken):
        assert start >= end, f"{name}: {one} and {other}"


@pytest.mark.parametrize("name", RECORD_FILES)
def test_every_triplet_of_a_header_is_used_or_known_to_hold_nothing(name: str) -> None:
    _, rows = record_map(name)
    used = {row["triplet"] for row in rows}
    offsets = {f["field"]: f["description"] for f in headers(name).values() if f["format"] == "u32"}
    unused = {field: text for field, text in offsets.items() if field not in used and text.startswith("offset")}
    assert set(unused) <= UNUSED.get(name, set()), unused


# Triplets without a layout, by record map; layouts/README.md says why for each.
UNUSED: dict[str, set[str]] = {
    "smf100_ifcid1": {f"QWS00R{number}O" for number in "2358A"},
    "smf100_ifcid2": {f"QWS10R{number}O" for number in "9AB"},
    "smf101_ifcid3": {f"QWA01R{number}O" for number in "78BD"},
    "smf23": {"SMF23POF", "SMF23SOF"},
    "smf71_1": {"SMF71SWS"},
    "smf110_1_class1": {"SMFASS"},
    "smf110_1_class3": {"SMFASS"},
    "smf74_2": {"SMF742CO"},
    "smf74_5": {"SMF745XO"},
    "smf78_2": {"SMF78QDS"},
    "smf89_1": {"SMF89PRO", "SMF89CNO"},
    "smf115_1": {f"QWS00R{number}O" for number in "123678A"},
    "smf116_0": {f"QWA01R{number}O" for number in "3456"},
    "smf116_1": {f"QWA01R{number}O" for number in "456"},
    "smf116_2": {f"QWA01R{number}O" for number in "3456"},
    "smf116_10": {f"QWA01R{number}O" for number in "23456"},
    "smf120_11": {"SM120BAI"},
    "smf120_12": {f"SM120C_{name}_OFFSET" for name in ("ACCOUNTING", "USS", "USER")},
    "smf120_9": {f"SM1209_{name}_OFFSET" for name in ("STAMP", "SECURITY", "USER", "ASYNC")},
}


@pytest.mark.parametrize("name", RECORD_FILES)
def test_the_elements_of_an_array_fit_their_layout(name: str) -> None:
    _, rows = record_map(name)
    for row in rows:
        array = re.search(r"(?:array|tagged:\d+):\d+:(\d+)", row["rule"])
        if array:
            size = int(array[1])
            last = section(row["layout"])[-1]
            assert int(last["offset"]) + int(last["length"]) <= size, f"{name}: {row['layout']}"
