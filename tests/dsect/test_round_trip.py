"""Layouts that are known, written as DSECTs and imported again; and dumps read by the imported ones."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from plexlens import _core
from plexlens.dsect import Wishes, import_layouts
from plexlens.layouts_path import layouts_path
from tests.draws import SOAK
from tests.example_file import write_example

#: Assembler types of formats; lengths are explicit, so that nothing is aligned.
TYPES = {
    **{"u8": "FL1", "u16": "HL2", "u32": "FL4", "u64": "FDL8", "i16": "HL2", "i32": "FL4", "i64": "FDL8"},
    **{"f32_hex": "EL4", "f64_hex": "DHL8", "f64_bfp": "DBL8", "stck": "XL8", "cpu_stck": "XL8"},
    **{"tod_hundredths": "FL4", "smf_date": "PL4"},
}


def rows(name: str) -> list[dict[str, str]]:
    with (layouts_path() / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


PLACED = sorted(path.stem for path in layouts_path().glob("*.csv") if rows(path.stem)[0]["offset"])


def as_dsect(name: str) -> tuple[str, int]:
    """A DSECT of a layout, and how many bytes stand before it."""
    start = int(rows(name)[0]["offset"])
    lines = ["MAP      DSECT"]
    at = start
    for row in rows(name):
        if int(row["offset"]) > at:
            lines.append(f"         DS    XL{int(row['offset']) - at}            RESERVED")
        letter = {"ebcdic": "C", "bits": "B", "packed": "P"}.get(row["format"], "X")
        declared = TYPES.get(row["format"], f"{letter}L{row['length']}")
        lines.append(f"{row['field']:<8} DS    {declared}")
        at = int(row["offset"]) + int(row["length"])
    return "\n".join(lines), start


@pytest.mark.drawn
@pytest.mark.parametrize("name", PLACED)
def test_a_known_layout_comes_back(tmp_path: Path, name: str) -> None:
    text, start = as_dsect(name)
    (tmp_path / "map.asm").write_text(text)
    expected = [(row["field"].upper(), int(row["offset"]), int(row["length"])) for row in rows(name)]
    # A name that stands for several (SMF7xIST) is another once it is written out.
    has_names = not any("x" in row["field"] for row in rows(name))
    # An import reads all layouts twice: outside of a soak, one for each layout, and under a new name for every fifth.
    if SOAK or not has_names or PLACED.index(name) % 5 == 0:
        result = import_layouts(tmp_path / "map.asm", tmp_path / "site", Wishes(sections=["copy_of_it"], start=start))
        assert [(one.name, one.offset, one.length) for one in result.sections[0].layout.fields] == expected
    # Under its own name the known layout says what the types leave open, and nothing has changed.
    if has_names:
        same = import_layouts(tmp_path / "map.asm", tmp_path / "same", Wishes(sections=[name], start=start)).sections[0]
        assert [(one.name, one.offset, one.length) for one in same.layout.fields] == expected
        assert same.changes is not None
        assert same.changes.unchanged == len(expected), same.changes.to_lines()
        assert not (same.changes.added or same.changes.removed)


def tables(dump: Path, folders: list[Path]) -> dict[str, dict[str, list[object]]]:
    """Every table that a dump gives with these layouts, as columns."""
    catalogue = _core.Catalogue([str(folder) for folder in folders])
    made: dict[str, dict[str, list[object]]] = {}
    for batch in _core.SmfReader(str(dump), catalogue, source_id="s", threads=1):
        for name, table in batch.tables.items():
            columns = made.setdefault(name, {})
            for column, values in table.to_pydict().items():
                columns.setdefault(column, []).extend(values)
    return made


@pytest.fixture(scope="module")
def dump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dump") / "example.smf"
    write_example(path)
    return path


def test_a_dump_reads_the_same_with_imported_layouts(tmp_path: Path, dump: Path) -> None:
    before = tables(dump, [layouts_path()])
    site = tmp_path / "site"
    imported = [name for name in PLACED if name in before and not any("x" in row["field"] for row in rows(name))]
    assert len(imported) > 5
    for name in imported:
        text, start = as_dsect(name)
        (tmp_path / "map.asm").write_text(text)
        import_layouts(tmp_path / "map.asm", site, Wishes(sections=[name], start=start))
    assert tables(dump, [layouts_path(), site]) == before


def test_redefined_bytes_are_read_both_ways(tmp_path: Path, dump: Path) -> None:
    """A field cut in two by ORG: the halves put together are the whole, in every row."""
    name = "smf74_4_structure"
    text, _ = as_dsect(name)
    whole = next(row for row in rows(name) if row["format"] == "u32")["field"]
    (tmp_path / "map.asm").write_text(
        f"{text}\n         ORG   {whole}\nHIGHHALF DS    H\nLOWHALF  DS    H\n         ORG   ,\n"
    )
    result = import_layouts(tmp_path / "map.asm", tmp_path / "site", Wishes(sections=[name]))
    assert result.sections[0].layout.fields[-1].description == f"DS H; redefines {whole}"
    catalogue_unit = next(row for row in rows(name) if row["field"] == whole)["unit"]
    scale = {"": 1, "4KiB": 4096}[catalogue_unit]
    columns = tables(dump, [layouts_path(), tmp_path / "site"])[name]
    halves = zip(columns["highhalf"], columns["lowhalf"], strict=True)
    joined = [(high * 65536 + low) * scale for high, low in halves if isinstance(high, int) and isinstance(low, int)]
    assert joined == columns[whole.lower()]
    assert any(joined)
