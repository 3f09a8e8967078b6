"""The catalogue of printed columns: what stands in ``layouts/printed``, and what of a site's own is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from plexlens.errors import UnreadableInputError
from plexlens.ingest.printed.address import addresses
from plexlens.ingest.printed.catalogue import catalogue

FOLDER = Path(__file__).parents[2] / "layouts" / "printed"
TABLE = "table,columns,report,from,needs,row\nrmf_xml_shop,rmf_shop,SHOP,table row,name,one thing\n"


def test_every_file_is_used() -> None:
    lines = (FOLDER / "tables.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert {line.split(",")[1] for line in lines} | {"tables", "blocks", "names"} == {
        path.stem for path in FOLDER.glob("*.csv")
    }


def test_reports_of_both_kinds_have_the_same_columns() -> None:
    tables = catalogue().tables
    both = [name.removeprefix("rmf_xml_") for name in tables if f"text_rmf_{name.removeprefix('rmf_xml_')}" in tables]
    assert len(both) == 7
    for name in both:
        xml, text = tables[f"rmf_xml_{name}"], tables[f"text_rmf_{name}"]
        assert (xml.columns, xml.grain) == (text.columns, text.grain)


def test_no_place_of_a_text_report_leads_to_two_columns() -> None:
    for table in catalogue().tables.values():
        seen: dict[tuple[str, tuple[str, ...]], str] = {}
        for column in table.columns:
            places = [(place.block, words) for place in column.text for words in place.folded()]
            places += [("message", words) for place in column.message for words in place.folded()]
            for place in places:
                assert seen.setdefault(place, column.name) == column.name, (table.name, place)


def test_blocks_name_tables_and_places_name_blocks() -> None:
    known = catalogue()
    blocks = {block.block for block in known.blocks}
    elsewhere = {"package_times", "package_value", "identifier", "short", "panel", "usage", "activity", "external"}
    elsewhere |= {f"{kind}_activity" for kind in ("subsystem", "pool", "locking")}
    assert {block.table for block in known.blocks} <= known.tables.keys()
    used = {place.block for table in known.tables.values() for column in table.columns for place in column.text}
    assert used - {""} <= blocks | elsewhere


def test_a_place_is_read_as_the_page_says() -> None:
    one, other = addresses("Transactions > Average Enclaves; Avg Enc || kind: /% ?fit/")
    assert (one.block, other.block) == ("", "kind")
    assert list(one.levels[1].within(["MPL", "Avg  Enc", "average enclaves"])) == [2, 1]
    assert list(other.levels[0].within(["Fit", "% Fit of all"])) == [1]
    assert list(one.folded()) == [("TRANSACTIONS", "AVERAGEENCLAVES"), ("TRANSACTIONS", "AVGENC")]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("name,text,,thing,Name,\nname,text,,thing,Name,\n", "line 3: column name is defined twice"),
        ("name,words,,thing,Name,\n", "line 2: 'words' is not a type; write one of text, number, index, flag, term"),
        ("name,text,,thing\n", "line 2: the number of cells differs from the heading"),
        ("# a remark\nname,text,,thing,/(/,\n", "line 3: name: missing )"),
        ("name,number,,thing,Name,other * 2\n", "a formula names other, which is not a column"),
        ("name,number,,thing,Name,1 +\n", "line 2: name: "),
        ("a,number,,thing,,b * 2\nb,number,,thing,,a * 2\n", "refer to each other"),
        ("title,text,,thing,Title,\n", "rmf_xml_shop needs 'name', which is not a column of rmf_shop.csv"),
        (None, "line 2: there is no column file rmf_shop.csv"),
    ],
)
def test_a_wrong_file_is_refused(tmp_path: Path, columns: str | None, said: str) -> None:
    folder = tmp_path / "printed"
    folder.mkdir()
    (folder / "tables.csv").write_text(TABLE)
    if columns is not None:
        (folder / "rmf_shop.csv").write_text(f"column,type,unit,meaning,xml,derived\n{columns}")
    with pytest.raises(UnreadableInputError) as refused:
        catalogue((tmp_path,))
    assert said in str(refused.value)


def test_a_row_is_completed_by_what_it_has() -> None:
    table = catalogue().tables["rmf_xml_cpu_processor"]
    printed = {"interval_seconds": 900.0, "online_percent": 50.0, "parked_percent": 20.0, "mvs_busy_percent": 25.0}
    row = table.complete(dict(printed))
    # 450 s online, 90 parked, 360 neither; a quarter of these busy.
    assert {name: row[name] for name in row.keys() - printed.keys()} == {
        "online_seconds": 450.0,
        "parked_seconds": 90.0,
        "mvs_busy_seconds": 90.0,
        "wait_seconds": 270.0,
    }
    parked = table.complete({"interval_seconds": 900.0, "online_percent": 100.0, "parked_percent": 100.0})
    assert (parked["mvs_busy_seconds"], parked["wait_seconds"]) == (0.0, 0.0)
