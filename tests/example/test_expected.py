"""The table of expected numbers quotes the studies, and leaves out nothing that the records determine."""

from __future__ import annotations

import csv

import pytest

from plexlens.example.printed import number
from tests.example.paths import EXPECTED, STUDIES

#: Tables of which every printed number is expected back, with the columns that name a row.
WHOLE_TABLES = {
    ("sysplex-1996", "figure_1a"): ("TYPE", "STRUCTURE NAME"),
    ("sysplex-1996", "figure_1b"): ("TYPE", "STRUCTURE NAME"),
    ("sysplex-1996", "table_11"): ("Tranid",),
    ("sysplex-1996", "table_12"): ("system", "pool"),
    ("sysplex-1996", "table_13"): ("Tranid",),
    ("sysplex-1996", "table_14"): ("system", "pool"),
    ("sysplex-1996", "figure_2"): ("group", "item"),
    ("zxml-2008", "values"): ("Values",),
    ("zxml-2008", "workload_activity"): ("block", "field"),
    ("zxml-2008", "accounting"): ("block", "AVERAGE"),
    ("cics-2012", "table_01"): ("ETR",),
    ("cics-2012", "table_03"): ("MVS Waits",),
    ("cics-2012", "table_16"): ("ETR",),
    ("cics-2012", "example_1"): ("block", "field"),
    ("cics-2012", "example_2"): ("block", "field"),
    ("cics-2012", "example_3"): ("block", "field"),
    ("pools-2014", "pools_before"): ("Pool",),
    ("pools-2014", "pools_after"): ("Pool (A)",),
    ("pools-2014", "pools_threshold"): ("Pool",),
    ("pools-2014", "statistics_bp1_paging"): ("block", "item"),
    ("pools-2014", "statistics_bp1_engines"): ("block", "item"),
    ("pools-2014", "statistics_bp20"): ("block", "item"),
    ("pools-2014", "statistics_log"): ("block", "item"),
}

#: Numbers in them for which the metrics have no column; all are printed as zero or as a setting.
NOT_EXPECTED = {
    "REPORT BY PERIOD",
    "TRANSACTIONS #SWAPS",
    "TRANSACTIONS AVG ENC",
    "TRANSACTIONS REM ENC",
    "TRANSACTIONS MS ENC",
    "TRANS-TIME HHH.MM.SS.TTT R/S AFFIN",
    "TRANS-TIME HHH.MM.SS.TTT INELIGIBLE",
    "TRANS-TIME HHH.MM.SS.TTT CONVERSION",
    "SERVICE TIMES PROMOTED",
    "STORAGE TOTAL",
    "STORAGE SHARED",
    "PAGE-IN RATES SINGLE",
    "PAGE-IN RATES BLOCK",
    "PAGE-IN RATES SHARED",
    "PAGE-IN RATES HSP",
}

#: Rows of one study: active transactions of a class of which the record has response times only.
ROWS_NOT_EXPECTED = {("cics-2012", "TRANSACTIONS AVG"), ("cics-2012", "TRANSACTIONS MPL")}

#: Columns of the Db2 reports that the records do not determine: threads and commits of the reports' time are printed
#: for one of them only, and a statistics record has no times of single pages.
COLUMNS_NOT_EXPECTED = {"/THREAD", "/COMMIT", "Avg Pg Res Sec"}

#: Cells of them: a mean in a field of whole buffers; 1270 page-ins in 2998.94 s, which are not 0.40 but 0.42 a second;
#: counters without a metric; one counter for data not returned with and without interest of other members; BP9's I/O,
#: which is off by 2000 from the rates beside it and the total below; a rate that the report beside it contradicts;
#: parts of a thread's times, of which metrics have the sum.
CELLS_NOT_EXPECTED = {
    ("GENERAL CURRENT ACTIVE BUFFERS", "QUANTITY"),
    ("READ OPERATIONS PAGE-INS REQUIRED FOR READ", "/SECOND"),
    ("SUBSYSTEM SERVICES UNITS OF RECOVERY INDOUBT", "QUANTITY"),
    ("SUBSYSTEM SERVICES UNITS OF REC.INDBT RESOLVED", "QUANTITY"),
    ("SUBSYSTEM SERVICES SUBSYSTEM ALLIED MEMORY EOT", "QUANTITY"),
    ("SUBSYSTEM SERVICES SUBSYSTEM ALLIED MEMORY EOM", "QUANTITY"),
    ("BP9", "I/O"),
    ("Transactions per second", "Case1-2"),
    *(
        (f"{time} {part}", column)
        for time in ("ELAPSED TIME", "CP CPU TIME", "SE CPU TIME")
        for part in ("AGENT", "NONNESTED", "STORED PROC", "UDF", "TRIGGER", "PAR.TASKS")
        for column in ("APPL (CL.1)", "DB2 (CL.2)")
    ),
    *(
        (f"Read Operations{kind} {item} =", "value")
        for kind, item in (
            (" - cross invalidation", "Data Not Returned - R/W Interest"),
            (" - cross invalidation", "Data Not Returned - No R/W Interest"),
            (" - page not found", "Data Not Returned - R/W Interest"),
            (" - page not found", "Data Not Returned - No R/W Interest"),
            (" - prefetch", "Data Returned"),
            (" - prefetch", "Data Not Returned - R/W Interest"),
            (" - prefetch", "Data Not Returned - No R/W Interest"),
            ("", "Reads Done by Prefetch"),
            ("", "Percent Not Returned - R/W Interest"),
            ("", "Percent Not Returned - No R/W Interest"),
            ("", "Other Requests"),
            ("", "Reads Failed - No Storage"),
        )
    ),
}


def _rows(study: str, table: str) -> list[dict[str, str]]:
    with (STUDIES / study / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _expected() -> list[dict[str, str]]:
    with EXPECTED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _is_number(cell: str) -> bool:
    try:
        number(cell)
    except ValueError:
        return False
    return True


def _leading(row: dict[str, str]) -> set[str]:
    """Names that a row can be called by: its first cells that are not empty, one, two or more of them."""
    cells = [cell for cell in row.values() if cell]
    return {" ".join(cells[:count]) for count in range(1, len(cells))}


def test_every_expected_number_is_the_cell_of_the_study() -> None:
    wrong = []
    for line in _expected():
        rows = _rows(line["study"], line["table"])
        found = [row[line["column"]] for row in rows if line["row"] in _leading(row)]
        if found != [line["printed"]]:
            wrong.append((line["table"], line["row"], line["column"], line["printed"], found))
    assert wrong == []


@pytest.mark.parametrize(("study", "table"), WHOLE_TABLES, ids=lambda name: name)
def test_every_number_of_a_determined_table_is_expected(study: str, table: str) -> None:
    names = WHOLE_TABLES[study, table]
    expected = {(e["row"], e["column"]) for e in _expected() if (e["study"], e["table"]) == (study, table)}
    missing = [
        (row_name, column)
        for row in _rows(study, table)
        for row_name in [" ".join(row[name] for name in names)]
        for column, cell in row.items()
        if column not in names and _is_number(cell.replace(",", "")) and row_name not in NOT_EXPECTED
        if (study, row_name) not in ROWS_NOT_EXPECTED
        if column not in COLUMNS_NOT_EXPECTED and (row_name, column) not in CELLS_NOT_EXPECTED
        # A pool that writes nothing has no pages a write; the screen prints zero.
        if (column, cell) != ("Pages/Write", "0.00")
        if (row_name, column) not in expected
    ]
    assert missing == []


def test_decimals_are_those_printed_save_for_zeros_added_or_dropped() -> None:
    # Percentages of RMF have one decimal, printed with a zero behind it; others lost the zeros of their column.
    other = {
        (line["table"], line["printed"])
        for line in _expected()
        if not line["printed"].startswith("<")
        and len(line["printed"].rstrip("%KM").partition(".")[2]) != int(line["decimals"])
        and not (line["printed"].endswith("0%") and line["decimals"] == "1")
    }
    assert other == {
        ("values", "0.75"),
        ("table_12", "5"),
        ("table_12", "87"),
        ("table_12", "291"),
        ("table_14", "77"),
        ("table_14", "175"),
        ("table_14", "160"),
        ("table_14", "206"),
        ("figure_1b", "0.4"),
        ("figure_1a", "0.1"),
    }
