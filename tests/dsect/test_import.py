"""The whole way: source file to folder of layouts, the catalogue that reads them, the command."""

from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from plexlens import _core
from plexlens.dsect import Wishes, import_layouts
from plexlens.dsect.publishing import publish
from plexlens.errors import OutputError, PlexlensError, UsageError
from plexlens.layouts_path import layouts_path

# Address space times as a made-up release writes them: the I/O time is gone, a counter is new, a token is longer.
RELEASE = """\
         MACRO
         MAPWSA
QWSA     DSECT
QWSAPROC DS    CL4                NAME OF THE ADDRESS SPACE
QWSAEJST DS    XL8                TASK TIME
QWSASRBT DS    XL8                SERVICE REQUEST TIME
QWSAPSRB DS    XL8                PREEMPTABLE TIME
QWSAPSRB_ZIIP DS XL8              PREEMPTABLE TIME, OTHER ENGINE
QWSAASID DS    XL2
         DS    XL2
QWSAASCB DS    XL8
QWSANEW  DS    F                  NEW COUNTER
         MEND
"""
NAME = "smf100_ifcid1_qwsa"


def written(folder: Path, text: str = RELEASE, name: str = "mapwsa.asm") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_a_release_takes_the_place_of_the_known_layout(tmp_path: Path) -> None:
    site = tmp_path / "site"
    result = import_layouts(written(tmp_path), site, Wishes(sections=[NAME]))
    (section,) = result.sections
    assert section.changes is not None
    # The known layout, by hand: PROC 0, EJST 4, SRBT 12, IIPT 20, PSRB 28, PSRB_ZIIP 36, ASID 44 (2), ASCB 48 (4).
    assert section.changes.to_json() == {
        "section": NAME,
        "unchanged": 3,
        "added": ["QWSANEW"],
        "removed": ["QWSAIIPT"],
        "moved": [
            {"field": "QWSAPSRB", "from": "28", "to": "20"},
            {"field": "QWSAPSRB_ZIIP", "from": "36", "to": "28"},
            {"field": "QWSAASID", "from": "44", "to": "36"},
            {"field": "QWSAASCB", "from": "48", "to": "40"},
        ],
        "resized": [{"field": "QWSAASCB", "from": "4", "to": "8"}],
        "read_otherwise": [],
        "shift": 0,
    }
    catalogue = _core.Catalogue([str(layouts_path()), str(site)])
    described = {row["field"]: row for row in catalogue.describe(NAME)}
    assert list(described) == [
        *("QWSAPROC", "QWSAEJST", "QWSASRBT", "QWSAPSRB", "QWSAPSRB_ZIIP", "QWSAASID", "QWSAASCB", "QWSANEW")
    ]
    assert (described["QWSANEW"]["offset"], described["QWSANEW"]["arrow_type"]) == (48, "UInt32")
    assert described["QWSAEJST"]["format"] == "cpu_stck"  # as in the known layout: XL8 does not say
    assert described["QWSAASCB"]["format"] == "bytes"
    assert NAME in catalogue.tables()


def test_rows_name_their_source_and_no_path(tmp_path: Path) -> None:
    import_layouts(written(tmp_path), tmp_path / "site")
    for number, row in enumerate(rows(tmp_path / "site" / "qwsa.csv"), 4):
        assert row["source"].startswith(f"mapwsa.asm: DSECT QWSA, line {number + (number > 9)}")
        assert str(tmp_path) not in str(row)
        assert row["confidence"] == ("low" if row["format"] in ("stck", "cpu_stck") else "high")


def test_a_layout_of_its_own_name_points_to_the_known_ones(tmp_path: Path) -> None:
    (section,) = import_layouts(written(tmp_path), tmp_path / "site").sections
    assert section.section == "qwsa"
    assert section.changes is None
    assert section.similar == (NAME,)
    assert any(f"--section {NAME}" in line for line in section.to_lines())


def test_several_dsects(tmp_path: Path) -> None:
    text = "ONE      DSECT\nA        DS    F\nTWO      DSECT\nB        DS    F\nTHREE    DSECT\nC        DS    F\n"
    file = written(tmp_path, text)
    result = import_layouts(file, tmp_path / "all")
    assert [one.section for one in result.sections] == ["one", "two", "three"]
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["one.csv", "three.csv", "two.csv"]
    named = import_layouts(file, tmp_path / "named", Wishes(sections=["two=site_b", "ONE=site_a"]))
    assert [one.section for one in named.sections] == ["site_a", "site_b", "three"]
    one = import_layouts(file, tmp_path / "one", Wishes(sections=["only"], dsect="two"))
    assert [(made.section, made.dsect) for made in one.sections] == [("only", "TWO")]


@pytest.mark.parametrize(
    ("wishes", "what"),
    [
        (Wishes(sections=["x"]), "--section x with several DSECTs: ONE, TWO"),
        (Wishes(sections=["FOUR=x"]), "there is no DSECT FOUR"),
        (Wishes(sections=["ONE=Big"]), "cannot be the name"),
        (Wishes(sections=["ONE=smf_record"]), "cannot be the name"),
        (Wishes(sections=["ONE=two"]), "another DSECT has this name"),
        (Wishes(dsect="four"), "no section 'FOUR'"),
        (Wishes(start=28), "--start with several DSECTs"),
        (Wishes(start=-1), "--start -1"),
        (Wishes(codepage="500"), "code page '500' is not supported"),
        (Wishes(sections=["ONE=smf101_ifcid3_self_defining"]), "conflict with the others"),
    ],
)
def test_wishes_that_make_no_sense(tmp_path: Path, wishes: Wishes, what: str) -> None:
    file = written(tmp_path, "ONE      DSECT\nA        DS    F\nTWO      DSECT\nB        DS    F\n")
    with pytest.raises(UsageError, match=what) as caught:
        import_layouts(file, tmp_path / "site", wishes)
    assert caught.value.remedy
    assert not (tmp_path / "site").exists()


def test_a_header_section_counts_from_the_records_start(tmp_path: Path) -> None:
    # A self-defining section as DSECT begins at 0; in the record it stands behind 28 bytes of header.
    known = rows(layouts_path() / "smf101_ifcid3_self_defining.csv")
    lines = ["QWA0     DSECT"]
    lines += [f"{row['field']:<8} DS    {'FL4' if row['length'] == '4' else 'HL2'}" for row in known]
    file = written(tmp_path, "\n".join(lines))
    name = "smf101_ifcid3_self_defining"
    shifted = import_layouts(file, tmp_path / "shifted", Wishes(sections=[name])).sections[0]
    assert shifted.changes is not None
    assert shifted.changes.shift == -28
    assert any("--start 28" in line for line in shifted.to_lines())
    right = import_layouts(file, tmp_path / "right", Wishes(sections=[name], start=28)).sections[0]
    assert right.changes is not None
    assert right.changes.unchanged == len(known)
    assert [row["offset"] for row in rows(tmp_path / "right" / f"{name}.csv")] == [row["offset"] for row in known]


def test_hints_file(tmp_path: Path) -> None:
    hints = tmp_path / "site.csv"
    hints.write_text("field,format,unit\nqwsaejst,u64,us\nNOWHERE,u8,\n")
    result = import_layouts(written(tmp_path), tmp_path / "site", Wishes(hints=hints))
    row = next(row for row in rows(tmp_path / "site" / "qwsa.csv") if row["field"] == "QWSAEJST")
    assert (row["format"], row["unit"], row["confidence"]) == ("u64", "us", "high")
    assert row["source"].endswith("format by site.csv")
    assert any("NOWHERE" in note for note in result.notes)


def test_a_wrong_unit_is_said_of_the_hints_file(tmp_path: Path) -> None:
    hints = tmp_path / "site.csv"
    hints.write_text("field,format,unit\nQWSAASID,u16,\nQWSAEJST,u64,parsec\n")
    with pytest.raises(UsageError, match="unknown unit `parsec`") as caught:
        import_layouts(written(tmp_path), tmp_path / "site", Wishes(hints=hints))
    assert (caught.value.file, caught.value.line) == (str(hints), 3)
    assert not (tmp_path / "site").exists()


def test_nothing_is_half_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the last file cannot be moved, the first ones are as they were before."""
    site = tmp_path / "site"
    publish(site, {"one": "field,offset,length,format,unit,description,source,confidence\nA,0,1,u8,,a,b,low\n"})
    before = {path.name: path.read_text() for path in site.iterdir()}
    text = "NEW      DSECT\nN        DS    F\nONE      DSECT\nA        DS    F\nTWO      DSECT\nB        DS    F\n"
    file = written(tmp_path, text)
    move = Path.replace

    def refuse(self: Path, target: Path) -> Path:
        if Path(target).name == "two.csv":
            raise OSError(28, "No space left on device")
        return move(self, target)

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OutputError, match="No space left"):
        import_layouts(file, site)
    assert {path.name: path.read_text() for path in site.iterdir()} == before
    monkeypatch.undo()
    result = import_layouts(file, site)
    assert [one.replaced for one in result.sections] == [False, True, False]
    assert sorted(path.name for path in site.iterdir()) == ["new.csv", "one.csv", "two.csv"]


def test_the_layouts_of_the_installation_are_not_written_to(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the bundled layouts"):
        import_layouts(written(tmp_path), layouts_path())


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "site").write_text("a file")
    with pytest.raises(UsageError, match="cannot be written"):
        import_layouts(written(tmp_path), tmp_path / "site")


def test_a_mapping_without_dsect_statement(tmp_path: Path) -> None:
    file = written(tmp_path, "A        DS    F\nB        DS    H\n")
    with pytest.raises(UsageError, match="--section NAME"):
        import_layouts(file, tmp_path / "site")
    (section,) = import_layouts(file, tmp_path / "site", Wishes(sections=["cut_out"])).sections
    assert [one.name for one in section.layout.fields] == ["A", "B"]


def test_ebcdic_source(tmp_path: Path) -> None:
    cards = "".join(line.ljust(80) for line in RELEASE.splitlines())
    file = tmp_path / "mapwsa.bin"
    file.write_bytes(cards.encode("cp037"))
    result = import_layouts(file, tmp_path / "site")
    assert "EBCDIC" in result.notes[0]
    plain = import_layouts(written(tmp_path), tmp_path / "plain")
    assert [(one.name, one.offset) for one in result.sections[0].layout.fields] == [
        (one.name, one.offset) for one in plain.sections[0].layout.fields
    ]


def test_errors_are_of_the_documented_kind(tmp_path: Path) -> None:
    with pytest.raises(PlexlensError) as caught:
        import_layouts(tmp_path / "none.asm", tmp_path / "site")
    assert caught.value.exit_code == 3


def command(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "plexlens.cli", "layouts", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=os.environ | {"COLUMNS": "300"},
    )


def test_the_command(tmp_path: Path) -> None:
    written(tmp_path)
    done = command(tmp_path, "import", "mapwsa.asm", "-o", "site", "--section", NAME)
    assert done.returncode == 0, done.stderr
    for told in (
        f"{NAME}: 8 fields, 52 bytes (DSECT QWSA)",
        "2 bytes have no name",
        "added    QWSANEW",
        "removed  QWSAIIPT",
        "moved    QWSAPSRB: 28 -> 20",
        "resized  QWSAASCB: 4 -> 8",
        "--layouts site",
    ):
        assert told in done.stdout
    shown = command(tmp_path, "show", NAME, "--layouts", "site", "--json")
    fields: list[dict[str, Any]] = json.loads(shown.stdout)["fields"]
    assert fields[-1]["field"] == "QWSANEW"


def test_the_command_as_json_and_its_errors(tmp_path: Path) -> None:
    written(tmp_path)
    done = command(tmp_path, "import", "mapwsa.asm", "-o", "site", "--json")
    told = json.loads(done.stdout)
    assert told["sections"][0]["fields"] == 8
    assert told["sections"][0]["reserved_bytes"] == 2
    written(tmp_path, "REC      DSECT\nA        DS    W\n", "wrong.asm")
    failed = command(tmp_path, "import", "wrong.asm", "-o", "other")
    assert failed.returncode == 3
    assert failed.stderr.replace("\n", "").startswith("plexlens: wrong.asm: line 2: `A        DS    W`:")
    assert "Traceback" not in failed.stderr
    assert not (tmp_path / "other").exists()
