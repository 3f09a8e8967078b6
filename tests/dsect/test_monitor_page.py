"""Pages of z/VM monitor records: rows with the offsets of IBM's pages MRMTRSUS and MRMTRPAG, with texts of our own."""

from __future__ import annotations

import csv
import itertools
import json
import struct
from pathlib import Path

import pytest

from plexlens.dsect.monitor_page import statements_of_page
from tests.cli.command import run

HEADING = "Dec  Hex  Type        Len  Name (Dim)             Description\n\n"
HEADER = """\
   0   0  Character     0  {name}_MRHDR           Header
   0   0  Character    20  MRHDR
   0   0  Unsigned      2  MRHDRLEN
   2   2  Unsigned      2  MRHDRZER
   4   4  Unsigned      1  MRHDRDM
   5   5  Unsigned      1  *
   6   6  Unsigned      2  MRHDRRC
   8   8  Character     8  MRHDRTOD
  16  10  Character     4  *
  20  14  Character     0  MRHDR_END
"""
SUSPENSION = (
    "<html><body><h2>MRMTRSUS Control Block Contents</h2>\n<pre>\nOffsets\n"
    + HEADING
    + '   0   0  Structure    24  <a name="MTRSUS">MTRSUS</a>                 Start\n'
    + HEADER.format(name="MTRSUS")
    + """\
  20  14  Unsigned      4  <b>MTRSUS_LOSTRCCT</b>        Event records &amp; their
                                                  number while monitoring was suspended
  24  18  Character     0  MTRSUS_END
</pre><h2>MRMTRSUS Cross Reference</h2>
  20  14  Unsigned      4  MTRSUS_NOT_HERE
</body></html>
"""
)
PAGING = (
    HEADING
    + "   0   0  Structure    64  MTRPAG                 Start\n"
    + HEADER.format(name="MTRPAG")
    + """\
  20  14  Character     6  MTRPAG_CPVOLSER        Volume
  26  1A  Unsigned      1  MTRPAG_RDCPCYL         Pages of a cylinder, which is a number that devices with
                                                  blocks of fixed length do not have
  27  1B  Bitstring     1  MTRPAG_CALFLAGS        Flags
          1... ....        MTRPAG_FBA             Blocks of fixed length
          .... ..1.        *
"""
)


def imported(folder: Path, text: str, name: str, *words: str) -> dict[str, dict[str, str]]:
    (folder / "page.html").write_text(text)
    done = run("layouts", "import", "page.html", "-o", "site", *words, cwd=folder)
    assert done.returncode == 0, done.stderr
    with (folder / "site" / f"{name}.csv").open() as opened:
        return {row["field"]: row for row in csv.DictReader(opened)}


def test_a_page_becomes_a_layout_that_reads_a_record_by_hand(tmp_path: Path) -> None:
    rows = imported(tmp_path, SUSPENSION, "mtrsus")
    places = {name: (int(row["offset"]), int(row["length"]), row["format"]) for name, row in rows.items()}
    assert places == {
        "MRHDR": (0, 20, "bytes"),
        "MRHDRLEN": (0, 2, "u16"),
        "MRHDRZER": (2, 2, "u16"),
        "MRHDRDM": (4, 1, "u8"),
        "MRHDRRC": (6, 2, "u16"),
        "MRHDRTOD": (8, 8, "stck"),
        "MTRSUS_LOSTRCCT": (20, 4, "u32"),
    }
    text = rows["MTRSUS_LOSTRCCT"]["description"]
    assert text == "Event records & their number while monitoring was suspended"
    record = struct.pack(">HHBBHQ4xI", 24, 0, 1, 0, 3, 0xD0_0000_0000_0000_00, 261)
    values = {
        name: int.from_bytes(record[offset : offset + length], "big") for name, (offset, length, _) in places.items()
    }
    assert (values["MRHDRLEN"], values["MRHDRDM"], values["MRHDRRC"], values["MTRSUS_LOSTRCCT"]) == (24, 1, 3, 261)


def test_bits_long_texts_and_the_length_of_the_structure(tmp_path: Path) -> None:
    rows = imported(tmp_path, PAGING, "mtrpag")
    assert rows["MTRPAG_CALFLAGS"]["format"] == "bits"
    assert "0 MTRPAG_FBA Blocks of fixed length" in rows["MTRPAG_CALFLAGS"]["description"]
    assert rows["MTRPAG_RDCPCYL"]["description"] == (
        "Pages of a cylinder, which is a number that devices with blocks of fixed length do not have"
    )
    assert (rows["MTRPAG_CPVOLSER"]["offset"], rows["MTRPAG_CPVOLSER"]["format"]) == ("20", "ebcdic")
    done = run("layouts", "import", "page.html", "-o", "site", "--json", cwd=tmp_path)
    section = json.loads(done.stdout)["sections"][0]
    # 64 bytes, of which the header has 20 and the three fields 6 + 1 + 1.
    assert (section["length"], section["reserved_bytes"]) == (64, 36)


def test_arrays_signed_fields_and_addresses(tmp_path: Path) -> None:
    page = HEADING + (
        "   0   0  Structure    40  BLOCK\n"
        "   0   0  Signed        4  BLOCK_AREA (3)         Entries\n"
        "  12   C  Address       4  BLOCK_PLACE\n"
        "  16  10  Unsigned      8  BLOCK_COUNT\n"
        "  24  18  Bitstring     2  BLOCK_FLAGS\n"
        "          1... ....        BLOCK_ON               On\n"
    )
    rows = imported(tmp_path, page, "block", "--signed")
    places = {name: (row["offset"], row["format"]) for name, row in rows.items()}
    assert places["BLOCK_AREA_1"] == ("0", "i32")
    assert places["BLOCK_AREA_3"] == ("8", "i32")
    assert places["BLOCK_PLACE"] == ("12", "u32")
    assert places["BLOCK_COUNT"] == ("16", "i64")
    assert places["BLOCK_FLAGS"] == ("24", "bits")
    assert rows["BLOCK_FLAGS"]["description"].split() == ["1...", "....", "BLOCK_ON", "On"]


@pytest.mark.parametrize(
    ("row", "what"),
    [
        ("  20  15  Unsigned      4  MTRSUS_X", "MTRSUS_X is at 20 and at hexadecimal 15, which differ"),
        ("  20  14  Decimal       4  MTRSUS_X", "MTRSUS_X has the type Decimal, which is not known"),
    ],
)
def test_a_wrong_row_is_refused_with_its_line(tmp_path: Path, row: str, what: str) -> None:
    (tmp_path / "page.html").write_text(HEADING + "   0   0  Structure    24  MTRSUS\n" + row + "\n")
    refused = run("layouts", "import", "page.html", "-o", "site", cwd=tmp_path)
    assert refused.returncode == 3
    assert f"page.html: line 4: {what}" in refused.stderr
    assert not (tmp_path / "site").exists()


def test_cards_end_at_column_71(tmp_path: Path) -> None:
    cards = statements_of_page("page", (SUSPENSION + PAGING).splitlines())
    assert max(map(len, cards)) == 72
    assert all(card[71:] in {"", "X"} for card in cards)
    assert all(card.startswith(" " * 15) for before, card in itertools.pairwise(cards) if before[71:])
